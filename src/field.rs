//! Fields of an API as text: `size:int32:min=1:max=5`, on the command line and in `PROJECT`.
//!
//! Invariants: a [`Field`] has only markers that its type can have, with values that the API server accepts; the text of a field
//! is canonical, so equal fields are equal text; a fault names its column, and every suggestion is accepted.

mod complete;
mod marker;
mod parse;
mod set;
mod structure;
#[cfg(test)]
mod tests;
mod type_;

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

pub use self::{
    complete::{complete, completions},
    marker::words as markers,
    marker::{ListType, Markers},
    set::{Correction, check},
    structure::{of as structure, spec, status},
    type_::{Own, Type, words as types},
};
use crate::name::{Invalid, text_serde};

/// A field of `spec` or `status`, or of a type that another field has.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// The type that has the field, such as `Port`; `None` for a field of `spec` or `status`.
    pub owner: Option<String>,
    /// The name in objects, such as `size`.
    pub name: String,
    /// The type of its values.
    pub type_: Type,
    /// Its limits, default and other properties.
    pub markers: Markers,
}

impl Field {
    /// The type of the user's own that it has, or that its items or values have.
    fn own_type(&self) -> Option<&str> {
        match self.type_.innermost() {
            Type::Own(Own::Named(name)) => Some(name),
            _ => None,
        }
    }
}

impl FromStr for Field {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        parse::field(text)
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(owner) = &self.owner {
            write!(f, "{owner}.")?;
        }
        let type_ = type_::text(&self.type_);
        write!(f, "{}:{type_}{}", self.name, self.markers)
    }
}

text_serde!(Field, "field");

/// A value as [`parse`] reads it back: in quotes where it has to be.
fn quoted(value: &str, stops: &[char]) -> String {
    match value.is_empty() || value.starts_with('"') || value.contains(stops) {
        true => format!("\"{}\"", value.replace('"', "\"\"")),
        false => value.to_owned(),
    }
}
