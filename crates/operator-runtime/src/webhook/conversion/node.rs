//! A JSON value that borrows from the text, with marks for the parts that a type has taken.

use std::{
    borrow::Cow,
    cell::Cell,
    fmt::{self, Formatter},
};

use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Number, Value};

/// Whether a type took a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Mark {
    /// The type does not know it.
    #[default]
    Missed,
    /// Serde took it for an unknown purpose: to keep any JSON, or to search it for a flattened or untagged
    /// type, which may drop it.
    Perhaps,
    Taken,
}

#[derive(Debug)]
pub(super) struct Node<'a> {
    pub(super) mark: Cell<Mark>,
    pub(super) json: Json<'a>,
}

#[derive(Debug)]
pub(super) enum Json<'a> {
    Null,
    Bool(bool),
    Number(Number),
    Text(Cow<'a, str>),
    List(Vec<Node<'a>>),
    Map(Vec<(Cow<'a, str>, Node<'a>)>),
}

/// A string that is borrowed if it has no escapes. Serde's own `Cow` is always owned.
#[derive(Deserialize, PartialEq)]
#[serde(transparent)]
pub(super) struct Text<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

impl<'a> Node<'a> {
    pub(super) fn new(json: Json<'a>) -> Self {
        Self {
            mark: Cell::default(),
            json,
        }
    }

    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        let Json::Map(entries) = &self.json else {
            return None;
        };
        let entry = entries.iter().find(|(name, _)| name == key);
        entry.map(|(_, node)| node)
    }

    pub(super) fn as_str(&self) -> Option<&str> {
        match &self.json {
            Json::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn is_null(&self) -> bool {
        matches!(self.json, Json::Null)
    }

    pub(super) fn is_scalar(&self) -> bool {
        !matches!(self.json, Json::List(_) | Json::Map(_))
    }

    /// The value without nulls in objects, which have no meaning.
    pub(super) fn to_value(&self) -> Value {
        match &self.json {
            Json::Null => Value::Null,
            Json::Bool(value) => Value::Bool(*value),
            Json::Number(number) => Value::Number(number.clone()),
            Json::Text(text) => Value::String(text.as_ref().to_owned()),
            Json::List(items) => items.iter().map(Self::to_value).collect(),
            Json::Map(entries) => {
                let entries = entries.iter().filter(|(_, node)| !node.is_null());
                let value = |(key, node): &(Cow<str>, Self)| (key.to_string(), node.to_value());
                Value::Object(entries.map(value).collect())
            }
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Node<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Json::Null)
    }
}

impl<'de: 'a, 'a> Visitor<'de> for Json<'a> {
    type Value = Node<'a>;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Node::new(Json::Null))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Node::new(Json::Bool(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Node::new(Json::Number(value.into())))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Node::new(Json::Number(value.into())))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Self::Value, E> {
        let number = Number::from_f64(value).ok_or_else(|| E::custom("no finite number"))?;
        Ok(Node::new(Json::Number(number)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Node::new(Json::Text(Cow::Owned(text.to_owned()))))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Node::new(Json::Text(Cow::Borrowed(text))))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(Node::new(Json::List(items)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some((Text(key), node)) = access.next_entry()? {
            entries.push((key, node));
        }
        Ok(Node::new(Json::Map(entries)))
    }
}
