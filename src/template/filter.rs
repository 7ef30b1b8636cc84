//! The filters of the templates: the layout of lines that long names make too wide, in User files, because no formatter runs, and
//! the user's code should not need `#[rustfmt::skip]`; and words that YAML would not read as text.

use guarded_yaml as yaml;
use tera::{Kwargs, State, TeraResult};

/// The widest line that rustfmt does not break (`max_width`).
const MAX_WIDTH: usize = 100;

/// The widest `use` with braces that rustfmt does not break.
const MAX_USE_WIDTH: usize = 98;

/// The widest struct literal on one line (`struct_lit_width`).
const MAX_BRACES_WIDTH: usize = 18;

/// The widest method chain on one line (`chain_width`).
const MAX_CHAIN_WIDTH: usize = 60;

/// Breaks a line of Rust that is too wide, as rustfmt does: an `impl` before `for`, a `let` or a `const` after `=`, a signature
/// between its arguments, or without any before `->`, a struct between its fields. A `use` becomes one `use` for each name.
pub fn wrap(line: &str, _: Kwargs, _: &State<'_>) -> String {
    wrapped(line).unwrap_or_else(|| line.to_owned())
}

/// A text as a scalar of YAML.
pub fn yaml(text: &str, _: Kwargs, _: &State<'_>) -> String {
    yaml::scalar(text)
}

/// Fields in braces. `indent` is the indent of the line where they start.
pub fn braces(members: Vec<String>, arguments: Kwargs, _: &State<'_>) -> TeraResult<String> {
    Ok(in_braces(&members, arguments.must_get("indent")?))
}

/// The fields of a variant in its `brackets`, in a match arm.
pub fn of_variant(members: Vec<String>, arguments: Kwargs, _: &State<'_>) -> TeraResult<String> {
    Ok(match arguments.must_get::<&str>("brackets")? {
        "{}" => format!(" {}", in_braces(&members, 12)),
        "()" => format!("({})", members.join(", ")),
        _ => String::new(),
    })
}

fn in_braces(members: &[String], indent: usize) -> String {
    let line = members.join(", ");
    if line.is_empty() {
        return "{}".to_owned();
    }
    if line.len() <= MAX_BRACES_WIDTH {
        return format!("{{ {line} }}");
    }
    let pad = " ".repeat(indent);
    let field = |member: &String| format!("{pad}    {},\n", chain(member, indent + 8));
    let fields: String = members.iter().map(field).collect();
    format!("{{\n{fields}{pad}}}")
}

/// A field of which the value is a method chain on the field itself, or a field of a default, in several lines if it is too wide.
/// `indent` is that of the further lines.
fn chain(member: &str, indent: usize) -> String {
    let Some((name, value)) = member.split_once(": ") else {
        return member.to_owned();
    };
    if let Some(default) = value.strip_suffix(&format!(".{name}")) {
        // The field is one step to the left, and a comma follows.
        let fits = |text: &str| indent - 4 + text.len() <= MAX_WIDTH;
        let pad = " ".repeat(indent);
        return match fits(&format!("{member},")) {
            true => member.to_owned(),
            false if fits(&format!("{name}: {default}")) => {
                format!("{name}: {default}\n{pad}.{name}")
            }
            false => format!("{name}:\n{pad}{default}\n{pad}    .{name}"),
        };
    }
    let calls = value.strip_prefix(name).and_then(|calls| {
        let inner = calls.strip_prefix(".into_iter().map(")?;
        inner.strip_suffix(").collect()")
    });
    match calls {
        Some(inner) if value.len() > MAX_CHAIN_WIDTH => {
            let pad = format!("\n{}", " ".repeat(indent));
            format!("{name}: {name}{pad}.into_iter(){pad}.map({inner}){pad}.collect()")
        }
        _ => member.to_owned(),
    }
}

/// The lines of a line that is too wide; `None` if it fits or cannot be broken.
fn wrapped(line: &str) -> Option<String> {
    let is_use = line.starts_with("use ");
    let width = if is_use { MAX_USE_WIDTH } else { MAX_WIDTH };
    if line.len() <= width {
        return None;
    }
    let code = line.trim_start();
    let indent = &line[..line.len() - code.len()];
    if is_use {
        let (path, names) = line.strip_suffix("};")?.split_once('{')?;
        let lines: Vec<_> = names
            .split(", ")
            .map(|name| format!("{path}{name};"))
            .collect();
        return Some(lines.join("\n"));
    }
    if code.starts_with("impl ") {
        let (head, of) = line.strip_suffix(" {")?.split_once(" for ")?;
        return Some(format!("{head}\n    for {of}\n{{"));
    }
    if !code.starts_with("pub struct ")
        && let Some((name, value)) = line.split_once(" = ")
    {
        // A string that does not fit on the next line either stays.
        if indent.len() + 4 + value.len() <= MAX_WIDTH {
            return Some(format!("{name} =\n{indent}    {value}"));
        }
    }
    let (head, rest) = code.split_once('(')?;
    let closed_at = match rest.ends_with(");") {
        true => rest.len() - ");".len(),
        false => rest.find(") ")?,
    };
    let (arguments, end) = rest.split_at(closed_at);
    if arguments.is_empty() {
        let result = end.strip_prefix(") ")?.strip_suffix(" {")?;
        // rustfmt allows one more column before a brace on a line of its own.
        return Some(match line.len() - " {".len() <= MAX_WIDTH + 1 {
            true => format!("{indent}{head}() {result}\n{indent}{{"),
            false => format!("{indent}{head}()\n{indent}{result} {{"),
        });
    }
    let arguments = arguments
        .split(", ")
        .map(|it| format!("{indent}    {it},\n"));
    let arguments: String = arguments.collect();
    Some(format!("{indent}{head}(\n{arguments}{indent}{end}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn long(line: &str) -> String {
        line.replace("K", &"K".repeat(59))
    }

    #[track_caller]
    fn check(line: &str, expected: &str) {
        assert_eq!(wrapped(&long(line)), Some(long(expected)));
    }

    #[test]
    fn lines_that_fit_stay() {
        for line in [
            "fn f(a: A) {}",
            "use a::{B, C};",
            "impl From<v1::A> for v2::A {",
        ] {
            assert_eq!(wrapped(line), None);
        }
    }

    #[test]
    fn wide_lines_are_broken() {
        check(
            "    fn f(a: Arc<K>, b: B) -> Result<A, Kind> {",
            "    fn f(\n        a: Arc<K>,\n        b: B,\n    ) -> Result<A, Kind> {",
        );
        check(
            "pub fn f() -> Controller<KK, Context> {",
            "pub fn f()\n-> Controller<KK, Context> {",
        );
        check(
            "impl From<v1::K> for v2::K {",
            "impl From<v1::K>\n    for v2::K\n{",
        );
        check("const K: &str = \"K\";", "const K: &str =\n    \"K\";");
        check(
            "const K: A = a(\"KK\");",
            "const K: A = a(\n    \"KK\",\n);",
        );
        check("use K::{A, K};", "use K::A;\nuse K::K;");
        check(
            "pub struct K(#[schemars(schema_with = \"schema\")] pub Values);",
            "pub struct K(\n    #[schemars(schema_with = \"schema\")] pub Values,\n);",
        );
    }

    #[test]
    fn a_string_that_fits_on_no_line_stays() {
        assert_eq!(wrapped(&long("const A: &str = \"KK\";")), None);
        assert_eq!(wrapped(&long("use K::K;")), None);
    }

    #[test]
    fn wide_fields_are_broken() {
        let check = |fields: &[&str], expected: &str| {
            let fields: Vec<_> = fields.iter().map(|field| long(field)).collect();
            assert_eq!(in_braces(&fields, 4), long(expected));
        };
        check(&[], "{}");
        check(&["a", "b"], "{ a, b }");
        check(&["a", "b: K"], "{\n        a,\n        b: K,\n    }");
        check(
            &["K: K.into_iter().map(Into::into).collect()"],
            "{\n        K: K\n            .into_iter()\n            .map(Into::into)\n            .collect(),\n    }",
        );
        check(&["k: D::default().k"], "{ k: D::default().k }");
        check(
            &["abcdefghij: KD::default().abcdefghij"],
            "{\n        abcdefghij: KD::default()\n            .abcdefghij,\n    }",
        );
        check(
            &["K: KD::default().K"],
            "{\n        K:\n            KD::default()\n                .K,\n    }",
        );
    }
}
