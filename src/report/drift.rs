//! Drift: an attribute of a type that contradicts `PROJECT`.

use serde_json::{Value, json};

use crate::{advice::Script, tree::RelPath};

/// A contradiction between a type and `PROJECT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drift {
    /// The file with the type.
    pub path: RelPath,
    /// The line, from 1.
    pub line: usize,
    /// The contradiction.
    pub what: DriftKind,
}

/// The kinds of [`Drift`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DriftKind {
    /// The file and `PROJECT` differ.
    Differs {
        /// The attribute: `plural`.
        attribute: &'static str,
        /// Its value in the file; empty for none.
        found: String,
        /// Its value in `PROJECT`; empty for none.
        expected: String,
        /// The text to write at that line so that they agree; empty to remove the attribute.
        paste: String,
    },
    /// The file does not parse as Rust, so it was not compared.
    Unparsable {
        /// The column, from 1.
        column: usize,
        /// The parser's error.
        why: String,
    },
}

impl Drift {
    /// The drift as a sentence.
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
            } => {
                let mend = match (paste.as_str(), *attribute) {
                    ("", "scope") => "remove `namespaced`".to_owned(),
                    ("", _) => "remove `shortname`".to_owned(),
                    (paste, _) => format!("write `{paste}`"),
                };
                let or = match *attribute {
                    "group" | "version" | "kind" => "",
                    _ => ", or make `PROJECT` agree with the file",
                };
                let (found, expected) = (has(attribute, found), has(attribute, expected));
                format!("`{path}:{line}` has {found}, `PROJECT` has {expected}: {mend} there{or}")
            }
            DriftKind::Unparsable { column, why } => format!(
                "`{path}:{line}:{column}` does not parse, so it was not compared with `PROJECT`: {why}"
            ),
        }
    }

    /// The command that leads to the mistake.
    pub fn help(&self) -> Script {
        match self.what {
            DriftKind::Differs { .. } => Script::edit([self.path.as_str()]),
            DriftKind::Unparsable { .. } => Script::of("cargo check"),
        }
    }

    /// `{path, line, attribute, found, expected}`, or `{path, line, column, error}`.
    pub(super) fn json(&self) -> Value {
        let value = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        let (path, line) = (self.path.as_str(), self.line);
        match &self.what {
            DriftKind::Differs {
                attribute,
                found,
                expected,
                ..
            } => {
                let (found, expected) = (value(found), value(expected));
                json!({ "path": path, "line": line, "attribute": attribute, "found": found, "expected": expected })
            }
            DriftKind::Unparsable { column, why } => {
                json!({ "path": path, "line": line, "column": column, "error": why })
            }
        }
    }
}
