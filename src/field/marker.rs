//! Markers: the limits, the default and the other properties of a field.

use std::fmt;

use serde_json::{Number, Value};

use super::quoted;

/// The markers of a field, in the order of its text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Markers {
    /// The least number.
    pub min: Option<Number>,
    /// The largest number.
    pub max: Option<Number>,
    /// The least number of characters.
    pub min_length: Option<u64>,
    /// The largest number of characters.
    pub max_length: Option<u64>,
    /// A regular expression that texts match.
    pub pattern: Option<String>,
    /// The format of texts.
    pub format: Option<&'static str>,
    /// The least number of items.
    pub min_items: Option<u64>,
    /// The largest number of items.
    pub max_items: Option<u64>,
    /// How server-side apply merges the list.
    pub list_type: Option<ListType>,
    /// The fields that identify an item of a list that is merged as a map.
    pub list_map_keys: Vec<String>,
    /// The value where the field is absent.
    pub default: Option<Value>,
    /// Whether the field may be absent.
    pub optional: bool,
    /// Whether the value cannot change.
    pub immutable: bool,
    /// The description.
    pub doc: Option<String>,
}

/// How server-side apply merges a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListType {
    /// The list is replaced.
    Atomic,
    /// Each item is owned on its own.
    Set,
    /// Items are identified by some of their fields.
    Map,
}

impl ListType {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Atomic, Self::Set, Self::Map];

    /// The value of `x-kubernetes-list-type`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Atomic => "atomic",
            Self::Set => "set",
            Self::Map => "map",
        }
    }
}

/// The markers, each with the kind of its value.
pub const WORDS: [(&str, Takes); 14] = [
    ("min", Takes::Number),
    ("max", Takes::Number),
    ("minLength", Takes::Count),
    ("maxLength", Takes::Count),
    ("pattern", Takes::Text),
    ("format", Takes::Text),
    ("minItems", Takes::Count),
    ("maxItems", Takes::Count),
    ("listType", Takes::Text),
    ("listMapKey", Takes::Text),
    ("default", Takes::Text),
    ("optional", Takes::Nothing),
    ("immutable", Takes::Nothing),
    ("doc", Takes::Text),
];

/// The start of each marker, for completion: `min=`, `optional`.
pub fn words() -> impl Iterator<Item = String> {
    WORDS.iter().map(|(word, takes)| match takes {
        Takes::Nothing => (*word).to_owned(),
        _ => format!("{word}="),
    })
}

/// The value of a marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// A number of the field's type.
    Number,
    /// A number of characters or items.
    Count,
    /// A text, in quotes if it has a `:`.
    Text,
    /// No value.
    Nothing,
}

/// The formats of texts that the API server checks.
pub const FORMATS: [&str; 12] = [
    "byte", "cidr", "date", "duration", "email", "hostname", "ipv4", "ipv6", "mac", "password",
    "uri", "uuid",
];

impl fmt::Display for Markers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn text(value: &Option<impl ToString>) -> Option<String> {
            value.as_ref().map(ToString::to_string)
        }
        let mut markers = vec![
            ("min", text(&self.min)),
            ("max", text(&self.max)),
            ("minLength", text(&self.min_length)),
            ("maxLength", text(&self.max_length)),
            ("pattern", text(&self.pattern)),
            ("format", text(&self.format)),
            ("minItems", text(&self.min_items)),
            ("maxItems", text(&self.max_items)),
            ("listType", text(&self.list_type.map(ListType::word))),
        ];
        let keys = self.list_map_keys.iter();
        markers.extend(keys.map(|key| ("listMapKey", Some(key.clone()))));
        let default = match &self.default {
            Some(Value::String(default)) => Some(default.clone()),
            other => text(other),
        };
        markers.push(("default", default));
        for (name, value) in markers {
            if let Some(value) = value {
                write!(f, ":{name}={}", quoted(&value, &[':']))?;
            }
        }
        for (name, is_set) in [("optional", self.optional), ("immutable", self.immutable)] {
            if is_set {
                write!(f, ":{name}")?;
            }
        }
        match &self.doc {
            Some(doc) => write!(f, ":doc={}", quoted(doc, &[':'])),
            None => Ok(()),
        }
    }
}
