//! Drift: an attribute of a type that contradicts `PROJECT`, or a controller that uses a spoke.

use serde_json::{Value, json};

use crate::{advice::Script, tree::RelPath};

/// A contradiction between a user's file and `PROJECT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drift {
    /// The file.
    pub path: RelPath,
    /// The line, from 1.
    pub line: usize,
    /// The contradiction.
    pub what: DriftKind,
}

/// The attributes that contradict `PROJECT`.
pub(super) fn attributes(drifts: &[Drift]) -> Value {
    let attributes = drifts.iter().filter(|drift| !drift.is_spoke());
    attributes.map(Drift::json).collect()
}

/// The spokes that controllers use.
pub(super) fn spokes(drifts: &[Drift]) -> Value {
    let spokes = drifts.iter().filter(|drift| drift.is_spoke());
    spokes.map(Drift::json).collect()
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
    /// A controller names the type of a spoke.
    Spoke {
        /// The spoke.
        version: String,
        /// The hub.
        hub: String,
        /// The path in the file: `cache::v1alpha1::memcached`.
        found: String,
        /// The path to write instead.
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
            DriftKind::Spoke {
                version,
                hub,
                found,
                paste,
            } => format!(
                "`{path}:{line}` has `{found}`, but {hub} is the hub, and writes in {version} erase fields that only \
                 {hub} has: write `{paste}` there, or add `.uses_spokes()` to the controller"
            ),
            DriftKind::Unparsable { column, why } => format!(
                "`{path}:{line}:{column}` does not parse, so it was not compared with `PROJECT`: {why}"
            ),
        }
    }

    /// What the command leads to.
    pub fn purpose(&self) -> &'static str {
        match self.what {
            DriftKind::Spoke { .. } => "use the hub in the controller:",
            _ => "make the type agree with `PROJECT`:",
        }
    }

    /// The command that leads to the mistake.
    pub fn help(&self) -> Script {
        match self.what {
            DriftKind::Differs { .. } | DriftKind::Spoke { .. } => {
                Script::edit([self.path.as_str()])
            }
            DriftKind::Unparsable { .. } => Script::of("cargo check"),
        }
    }

    /// Whether it is a controller that uses a spoke.
    pub fn is_spoke(&self) -> bool {
        matches!(self.what, DriftKind::Spoke { .. })
    }

    /// `{path, line, attribute, found, expected}`, `{path, line, hub, found, expected}`, or `{path, line, column, error}`.
    fn json(&self) -> Value {
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
            DriftKind::Spoke {
                hub, found, paste, ..
            } => {
                json!({ "path": path, "line": line, "hub": hub, "found": found, "expected": paste })
            }
            DriftKind::Unparsable { column, why } => {
                json!({ "path": path, "line": line, "column": column, "error": why })
            }
        }
    }
}
