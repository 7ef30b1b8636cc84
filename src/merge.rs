//! Three-way merge of files. The driver depends on the file's name.
//!
//! Invariants: a merge is a pure function of three texts; one side unchanged gives the other side exactly; the result
//! of a merge still parses if the user's side parsed, or the merge is a conflict.

pub mod markers;
mod text;
mod toml;

use std::collections::BTreeMap;

use guarded_yaml as yaml;

pub use self::toml::differing_keys;
use crate::{change::ConflictKind, syntax, tree::RelPath};

/// How the texts of one file are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Driver {
    /// Line by line, as git does.
    Text,
    /// Line by line; the result must still be Rust.
    Rust,
    /// Line by line where that gives a manifest, otherwise by key.
    Toml,
    /// Line by line; the result must still be YAML.
    Yaml,
    /// As a set of lines: an ignore file.
    Lines,
}

impl Driver {
    /// The driver for a file of this name.
    pub fn of(path: &RelPath) -> Self {
        match path.extension() {
            // Only what they render is YAML.
            _ if is_template(path) => Self::Text,
            "rs" => Self::Rust,
            "toml" => Self::Toml,
            "yaml" | "yml" => Self::Yaml,
            "gitignore" | "dockerignore" | "gitattributes" => Self::Lines,
            _ => Self::Text,
        }
    }

    /// Whether the driver can merge without a base, into a file that was there before the project.
    pub fn is_keyed(self) -> bool {
        matches!(self, Self::Toml | Self::Lines)
    }

    /// Merges what changed from `base` to `theirs` (the new template) into `ours` (the user's file).
    pub fn merge(self, base: &str, ours: &str, theirs: &str) -> Result<String, ConflictKind> {
        if base == theirs || ours == theirs {
            return Ok(ours.to_owned());
        }
        if base == ours {
            return Ok(theirs.to_owned());
        }
        let merged = match self {
            Self::Text | Self::Rust | Self::Yaml => text::merge(base, ours, theirs),
            Self::Toml => toml::merge(base, ours, theirs),
            Self::Lines => Ok(merge_sets(base, ours, theirs)),
        }?;
        match self.parses(&merged) {
            Err(how) if self.parses(ours).is_ok() => Err(ConflictKind::Unparsable(how)),
            _ => Ok(merged),
        }
    }

    /// Checks that a text has the syntax of its file type. The error is the parser's message.
    pub fn parses(self, text: &str) -> Result<(), String> {
        match self {
            Self::Text | Self::Lines => Ok(()),
            Self::Rust => syntax::parse(text)
                .map(drop)
                .map_err(|error| error.to_string()),
            Self::Toml => text
                .parse::<toml_edit::DocumentMut>()
                .map(drop)
                .map_err(|error| error.to_string()),
            Self::Yaml => yaml::documents::<serde_yaml::Value>(text)
                .map(drop)
                .map_err(|error| error.to_string()),
        }
    }
}

/// Whether a file is a template of a Helm chart or of an Ansible role in the project.
fn is_template(path: &RelPath) -> bool {
    let path = path.as_str();
    ["charts/", "roles/"].iter().any(|it| path.starts_with(it)) && path.contains("/templates/")
}

/// Merges two sets of lines: removes the lines that the template dropped from `ours`, and appends those that it added. The user's order and comments stay.
fn merge_sets(base: &str, ours: &str, theirs: &str) -> String {
    let dropped = |line: &str| {
        is_entry(line) && base.lines().any(|l| l == line) && !theirs.lines().any(|l| l == line)
    };
    let mut merged: Vec<&str> = ours.lines().filter(|line| !dropped(line)).collect();
    for line in theirs.lines().filter(|line| is_entry(line)) {
        if !base.lines().any(|l| l == line) && !merged.contains(&line) {
            merged.push(line);
        }
    }
    merged.iter().flat_map(|line| [*line, "\n"]).collect()
}

fn is_entry(line: &str) -> bool {
    !line.trim().is_empty() && !line.starts_with('#')
}

/// The lines of `theirs` that `ours` lacks. Order and indentation do not count, nor do lines of brackets or comments alone.
pub fn lacking(ours: &[u8], theirs: &[u8]) -> Vec<String> {
    let [ours, theirs] = [ours, theirs].map(String::from_utf8_lossy);
    let mut has: BTreeMap<&str, usize> = BTreeMap::new();
    for line in ours.lines() {
        *has.entry(line.trim()).or_default() += 1;
    }
    let is_comment = |line: &str| line.starts_with("# ") || line.starts_with("//");
    let mut lacking = Vec::new();
    for line in theirs.lines().map(str::trim) {
        match has.get_mut(line).filter(|count| **count > 0) {
            Some(count) => *count -= 1,
            None if line.contains(char::is_alphanumeric)
                && !is_comment(line)
                && !is_imported(&ours, line) =>
            {
                lacking.push(line.to_owned())
            }
            None => {}
        }
    }
    lacking
}

/// Whether a `use a::B;` is part of a group in the text: `use a::{A, B};`.
fn is_imported(text: &str, line: &str) -> bool {
    let path = line
        .strip_prefix("use ")
        .and_then(|it| it.strip_suffix(';'));
    let Some((module, name)) = path.and_then(|path| path.rsplit_once("::")) else {
        return false;
    };
    let group = format!("use {module}::{{");
    let mut groups = text.split(&group).skip(1);
    groups.any(|rest| {
        let names = rest.split_once('}').map_or(rest, |(names, _)| names);
        names.split(',').any(|other| other.trim() == name)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DRIVERS: [Driver; 5] = [
        Driver::Text,
        Driver::Rust,
        Driver::Toml,
        Driver::Yaml,
        Driver::Lines,
    ];

    #[test]
    fn an_import_in_a_group_is_there() {
        let check = |ours: &str, expected: &[&str]| {
            assert_eq!(lacking(ours.as_bytes(), b"use a::b::C;\n"), expected);
        };
        check("use a::b::{B, C};\n", &[]);
        check("use a::b::{\n    C,\n    D,\n};\n", &[]);
        check("use a::b::{CC};\nuse a::{C};\n", &["use a::b::C;"]);
    }

    #[test]
    fn a_merge_that_no_longer_parses_is_a_conflict() {
        let base = "fn a() {\n    one();\n}\n\nfn b() {\n    two();\n}\n\nfn c() {}\n";
        let ours = "fn a() {\n    one();\n\n\nfn b() {\n    two();\n}\n}\nfn c() {}\n";
        let theirs = "fn a() {\n    one();\n}\n\nfn b() {\n    two();\n}\n\nfn c() {}\n}\n";
        assert!(matches!(
            Driver::Rust.merge(base, ours, theirs),
            Err(ConflictKind::Unparsable(_) | ConflictKind::Overlap)
        ));
    }

    #[test]
    fn lacking_lines_do_not_depend_on_layout() {
        let lacking = |ours: &str, theirs: &str| lacking(ours.as_bytes(), theirs.as_bytes());
        let theirs = "fn a() {\n    one();\n    one();\n    two();\n}\n";
        assert_eq!(
            lacking("  two();\r\nmine();\n fn a() {\n one();\n", theirs),
            ["one();"]
        );
        assert!(lacking(theirs, theirs).is_empty());
        assert_eq!(lacking("", "{\n}\n\n# a\n#[a]\n/// a\nx\n"), ["#[a]", "x"]);
    }

    #[test]
    fn entries_come_and_go_and_the_users_stay() {
        let merged = merge_sets(
            "/target/\n/old/\n",
            "# mine\n/target/\n/old/\n*.swp\n",
            "/target/\n/bin/\n",
        );
        assert_eq!(merged, "# mine\n/target/\n*.swp\n/bin/\n");
    }

    #[test]
    fn an_existing_ignore_file_is_adopted() {
        assert_eq!(
            merge_sets("", "*.swp\n/target/\n", "/target/\n/bin/\n"),
            "*.swp\n/target/\n/bin/\n"
        );
    }

    proptest! {
        #[test]
        fn one_side_unchanged_gives_the_other(base in any_text(), other in any_text()) {
            for driver in DRIVERS {
                prop_assert_eq!(driver.merge(&base, &base, &other).unwrap(), other.as_str());
                prop_assert_eq!(driver.merge(&base, &other, &base).unwrap(), other.as_str());
                prop_assert_eq!(driver.merge(&base, &other, &other).unwrap(), other.as_str());
            }
        }

        #[test]
        fn no_text_panics(base in any_text(), ours in any_text(), theirs in any_text()) {
            for driver in DRIVERS {
                let _ = driver.merge(&base, &ours, &theirs);
            }
        }
    }

    fn any_text() -> impl Strategy<Value = String> {
        proptest::collection::vec(
            prop_oneof![
                Just("resources:\n".to_owned()),
                Just("[table]\n".to_owned()),
                "- [a-c]\n",
                "[a-c] = [0-9]\n",
                "[a-c]: [0-9]\n",
                "[ -~]{0,12}\n",
            ],
            0..8,
        )
        .prop_map(|lines| lines.concat())
    }
}
