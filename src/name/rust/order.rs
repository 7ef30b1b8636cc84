//! The orders in which rustfmt (style edition 2024) puts declarations of modules, and imports. They are not the same.

use std::cmp::Ordering;
use std::iter;

/// Compares two modules as rustfmt sorts `mod x;` items: byte by byte, without regard to `r#`.
///
/// The style guide asks for [`imports`]' order here too; rustfmt 1.9 does not do that.
pub fn modules(a: &str, b: &str) -> Ordering {
    bare(a).cmp(bare(b))
}

/// Compares two identifiers as rustfmt sorts `use` items: numbers by value, so that v2 comes before v10, underscores
/// first, and without regard to `r#`.
///
/// From the style guide, "sorting"; of numbers that differ in leading zeros only, the one with more comes first.
pub fn imports(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (chunks(bare(a)), chunks(bare(b)));
    let mut zeros = Ordering::Equal;
    loop {
        let order = match (a.next(), b.next()) {
            (None, None) => return zeros,
            (None, Some(_)) => return Ordering::Less,
            (Some(_), None) => return Ordering::Greater,
            (Some("_"), Some("_")) => Ordering::Equal,
            (Some("_"), _) => Ordering::Less,
            (_, Some("_")) => Ordering::Greater,
            (Some(a), Some(b)) if is_number(a) && is_number(b) => {
                zeros = zeros.then(leading_zeros(b).cmp(&leading_zeros(a)));
                let (a, b) = (a.trim_start_matches('0'), b.trim_start_matches('0'));
                a.len().cmp(&b.len()).then(a.cmp(b))
            }
            (Some(a), Some(b)) => a.cmp(b),
        };
        if order.is_ne() {
            return order;
        }
    }
}

/// Compares two paths as rustfmt sorts `use` items: name by name.
pub fn paths(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a.split("::"), b.split("::"));
    loop {
        let order = match (a.next(), b.next()) {
            (None, None) => return Ordering::Equal,
            (Some(a), Some(b)) => imports(a, b),
            (a, b) => a.is_some().cmp(&b.is_some()),
        };
        if order.is_ne() {
            return order;
        }
    }
}

fn bare(ident: &str) -> &str {
    ident.strip_prefix("r#").unwrap_or(ident)
}

/// Cuts an identifier into single underscores, numbers, and what is between them.
fn chunks(mut rest: &str) -> impl Iterator<Item = &str> {
    iter::from_fn(move || {
        let first = rest.chars().next()?;
        let end = match first {
            '_' => 1,
            '0'..='9' => rest
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(rest.len()),
            _ => rest
                .find(|c: char| c == '_' || c.is_ascii_digit())
                .unwrap_or(rest.len()),
        };
        let (chunk, tail) = rest.split_at(end);
        rest = tail;
        Some(chunk)
    })
}

fn is_number(chunk: &str) -> bool {
    chunk.starts_with(|c: char| c.is_ascii_digit())
}

fn leading_zeros(chunk: &str) -> usize {
    chunk.len() - chunk.trim_start_matches('0').len()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_path_is_sorted_by_its_names() {
        let sorted = [
            "a::B",
            "a::b",
            "a::v2::C",
            "a::v10::C",
            "kube::Event",
            "kube::z",
            "kube_b::A",
        ];
        assert!(sorted.is_sorted_by(|a, b| paths(a, b).is_lt()));
    }

    /// What the real rustfmt makes of these modules: the order of `mod x;`, then that of `use x::X;`.
    fn by_rustfmt(idents: &[String]) -> (Vec<String>, Vec<String>) {
        let items = |before: &str, after: &str| {
            idents
                .iter()
                .map(|i| format!("{before}{i}{after}\n"))
                .collect::<String>()
        };
        let source = items("mod ", ";") + &items("use ", "::X;");
        let mut child = Command::new("rustfmt")
            .args(["--edition", "2024", "--style-edition", "2024"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("rustfmt is a component of this repository's toolchain");
        child
            .stdin
            .take()
            .unwrap()
            .write_all(source.as_bytes())
            .unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{source}");
        let text = String::from_utf8(output.stdout).unwrap();
        let between = |before: &str, after: &str| {
            text.lines()
                .filter_map(|l| Some(l.strip_prefix(before)?.strip_suffix(after)?.to_owned()))
                .collect()
        };
        (between("mod ", ";"), between("use ", "::X;"))
    }

    #[track_caller]
    fn check(idents: impl IntoIterator<Item = impl Into<String>>) {
        let mut idents: Vec<String> = idents.into_iter().map(Into::into).collect();
        let (by_module, by_import) = by_rustfmt(&idents);
        idents.sort_by(|a, b| modules(a, b));
        assert_eq!(idents, by_module);
        idents.sort_by(|a, b| imports(a, b));
        assert_eq!(idents, by_import);
    }

    #[test]
    fn versions() {
        check([
            "v10",
            "v2",
            "v1",
            "v1beta1",
            "v1alpha10",
            "v1alpha2",
            "v2beta3",
            "v1alpha1",
        ]);
    }

    #[test]
    fn underscores_raw_names_and_zeros() {
        check([
            "a_b", "ab", "a", "a_", "_3scale", "a1", "a01", "a001b", "a1b", "a10", "a2", "a_1",
            "a1_b", "a01c",
        ]);
        check([
            "r#type", "type_a", "types", "tyre", "self_", "r#async", "asynb", "zz", "crate_",
            "crab",
        ]);
        check([
            "http_route",
            "httproute",
            "http2route",
            "http_2_route",
            "x86_128",
            "x86_64",
            "x0",
            "x00",
            "x000",
        ]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn any_list_sorts_as_rustfmt_sorts_it(idents in prop::collection::btree_set("x[ab01_]{0,6}", 1..60)) {
            check(idents.into_iter().rev());
        }
    }
}
