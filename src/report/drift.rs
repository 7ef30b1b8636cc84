//! An attribute of a type that says something else than `PROJECT`.

use serde_json::{Value, json};

use crate::{advice::Script, tree::RelPath};

/// Where it is, and what is the matter there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drift {
    /// The file with the type.
    pub path: RelPath,
    /// The line, from 1.
    pub line: usize,
    /// What is the matter.
    pub what: DriftKind,
}

/// The kinds of [`Drift`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DriftKind {
    /// The file and `PROJECT` differ.
    Differs {
        /// In what: `plural`.
        attribute: &'static str,
        /// What the file says; empty where it says nothing.
        found: String,
        /// What `PROJECT` says; empty where it says nothing.
        expected: String,
        /// What to write at that line so that they agree; empty: remove it.
        paste: String,
    },
    /// The file is no Rust, so it was not compared.
    Unparsable {
        /// The column, from 1.
        column: usize,
        /// What the parser found.
        why: String,
    },
}

impl Drift {
    /// What was found.
    pub fn note(&self) -> String {
        let Self { path, line, what } = self;
        let has = |attribute: &str, text: &str| match text {
            "" => format!("no {attribute}"),
            text => format!("{attribute} `{text}`"),
        };
        match what {
            DriftKind::Differs {
                attribute,
                found,
                expected,
                paste,
            } => format!(
                "`{path}:{line}` has {}, `PROJECT` has {}: {} there{}",
                has(attribute, found),
                has(attribute, expected),
                match (paste.as_str(), *attribute) {
                    ("", "scope") => "remove `namespaced`".to_owned(),
                    ("", _) => "remove `shortname`".to_owned(),
                    (paste, _) => format!("write `{paste}`"),
                },
                match *attribute {
                    "group" | "version" | "kind" => "",
                    _ => ", or make `PROJECT` agree with the file",
                }
            ),
            DriftKind::Unparsable { column, why } => format!(
                "`{path}:{line}:{column}` does not parse, so it was not compared with `PROJECT`: {why}"
            ),
        }
    }

    /// The commands that mend it.
    pub fn help(&self) -> Script {
        match self.what {
            DriftKind::Differs { .. } => Script::edit([self.path.as_str()]),
            DriftKind::Unparsable { .. } => Script::of("cargo check"),
        }
    }

    /// `{path, line, attribute, found, expected}`, or `{path, line, column, error}`.
    pub fn json(&self) -> Value {
        let said = |text: &str| {
            Some(text)
                .filter(|text| !text.is_empty())
                .map(str::to_owned)
        };
        let (path, line) = (self.path.as_str(), self.line);
        match &self.what {
            DriftKind::Differs {
                attribute,
                found,
                expected,
                ..
            } => json!({
                "path": path,
                "line": line,
                "attribute": attribute,
                "found": said(found),
                "expected": said(expected),
            }),
            DriftKind::Unparsable { column, why } => {
                json!({ "path": path, "line": line, "column": column, "error": why })
            }
        }
    }
}
