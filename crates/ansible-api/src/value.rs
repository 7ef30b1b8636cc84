//! What an expression may be.

use crate::yaml::Node;

/// Stands in a text for what is not known.
pub const UNKNOWN: char = '\u{E002}';

/// What an expression may be.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    /// A value.
    Node(Node),
    /// The text of a template with this name.
    Template(String),
    /// The text of a file with this name.
    File(String),
    /// It is not written in the files.
    Unknown,
}

impl Found {
    /// A text.
    pub fn text(text: &str) -> Self {
        Self::Node(Node::text_of(text))
    }

    /// The text, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Node(node) => node.text(),
            _ => None,
        }
    }

    /// A value, with [`UNKNOWN`] for what is none.
    pub fn into_node(self) -> Node {
        match self {
            Self::Node(node) => node,
            _ => Node::text_of(UNKNOWN),
        }
    }
}
