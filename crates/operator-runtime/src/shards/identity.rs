//! The names of members.

use std::{
    fmt::{self, Display, Formatter},
    str::FromStr,
    sync::Arc,
};

use crate::leader::names_a_member;

/// The name of one process, which no other process ever has. Clones are cheap.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Identity(Arc<str>);

impl Identity {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl Display for Identity {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A text cannot be the name of a member.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` cannot be the identity of a process: use letters, digits, `-`, `_`, and `.` only")]
pub(crate) struct NotIdentity(String);

impl FromStr for Identity {
    type Err = NotIdentity;

    /// No identity contains a character that means something in the text of an assignment.
    fn from_str(text: &str) -> Result<Self, NotIdentity> {
        if !names_a_member(text) {
            return Err(NotIdentity(text.to_owned()));
        }
        Ok(Self(text.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts() {
        for text in [
            "a",
            "free",
            "pod-0_00000000-0000-4000-8000-000000000000",
            "A.b",
        ] {
            assert_eq!(text.parse::<Identity>().unwrap().as_str(), text);
        }
        for text in ["", " ", "a b", "a:", "(free)", "a\n", "ä", "a>", "a,"] {
            let error = text.parse::<Identity>().unwrap_err().to_string();
            assert!(error.starts_with(&format!("`{text}` cannot be")), "{error}");
        }
    }
}
