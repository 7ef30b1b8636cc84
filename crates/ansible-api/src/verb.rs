//! The verbs of rules.

use std::fmt;

/// A verb of the Kubernetes API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Verb {
    Create,
    Delete,
    Get,
    List,
    Patch,
    Update,
    Watch,
}

/// What a role that writes objects of a kind gets: see the README for the reasons.
pub const WRITE: &[Verb] = &[
    Verb::Get,
    Verb::List,
    Verb::Watch,
    Verb::Create,
    Verb::Update,
    Verb::Patch,
    Verb::Delete,
];

/// Formats as in a role.
impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Create => "create",
            Self::Delete => "delete",
            Self::Get => "get",
            Self::List => "list",
            Self::Patch => "patch",
            Self::Update => "update",
            Self::Watch => "watch",
        })
    }
}

/// What to write for a kind that could not be found out.
pub fn needs(verbs: &[Verb]) -> String {
    let names = verbs.iter().map(|it| format!("Verb::{it:?}"));
    let names: Vec<String> = names.collect();
    format!(
        "`.needs::<Kind>(&[{}])` at the controller",
        names.join(", ")
    )
}
