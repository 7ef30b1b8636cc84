//! Reads a type from a [`Node`], and marks the parts that the type takes.
//!
//! A comparison with the serialized type would not do: a field may serialize under another name, or be
//! omitted because it has its default.

mod access;
mod error;
mod key;

use std::cell::Cell;

use serde::{
    Deserializer,
    de::{self, DeserializeOwned, Visitor},
};

use super::node::{Json, Mark, Node};
use access::{Entries, Items, Variant};
pub(super) use error::Error;

/// Reads a `K`; also returns whether a part may not have been taken.
pub(super) fn take<K: DeserializeOwned>(node: &Node) -> Result<(K, bool), Error> {
    let missed = Cell::new(false);
    let value = K::deserialize(Taker {
        node,
        missed: &missed,
        named: false,
    })?;
    Ok((value, missed.get()))
}

#[derive(Clone, Copy)]
struct Taker<'n> {
    node: &'n Node<'n>,
    missed: &'n Cell<bool>,
    /// Whether this is inside a struct that names all its fields, and so keeps none for a flattened type.
    /// for a flattened type.
    named: bool,
}

impl<'n> Taker<'n> {
    fn with(self, node: &'n Node<'n>) -> Self {
        Self { node, ..self }
    }

    fn inside(self, named: bool) -> Self {
        Self { named, ..self }
    }

    fn visit<V: Visitor<'n>>(self, mark: Mark, visitor: V) -> Result<V::Value, Error> {
        self.node.mark.set(mark);
        match &self.node.json {
            Json::Null => visitor.visit_unit(),
            Json::Bool(value) => visitor.visit_bool(*value),
            Json::Number(number) => number.deserialize_any(visitor).map_err(de::Error::custom),
            Json::Text(text) => visitor.visit_borrowed_str(text),
            Json::List(items) => {
                let list = Items {
                    taker: self,
                    items: items.iter(),
                    index: 0,
                };
                visitor.visit_seq(list)
            }
            Json::Map(entries) => {
                let map = Entries {
                    taker: self,
                    entries: entries.iter(),
                    value: None,
                };
                visitor.visit_map(map)
            }
        }
    }
}

/// A field with a concrete type takes its value, whole or in parts.
macro_rules! taken {
    ($($method:ident($($argument:ident: $type:ty),*))*) => {$(
        fn $method<V: Visitor<'n>>(self, $($argument: $type,)* visitor: V) -> Result<V::Value, Error> {
            $(_ = $argument;)*
            self.visit(Mark::Taken, visitor)
        }
    )*};
}

impl<'n> Deserializer<'n> for Taker<'n> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, Error> {
        let asked = self.named || self.node.mark.get() == Mark::Taken;
        if asked && self.node.is_scalar() {
            // For example a quantity: no part of it can be dropped.
            return self.visit(Mark::Taken, visitor);
        }
        self.missed.set(true);
        self.inside(false).visit(Mark::Perhaps, visitor)
    }

    fn deserialize_struct<V: Visitor<'n>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.inside(true).visit(Mark::Taken, visitor)
    }

    fn deserialize_map<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, Error> {
        self.inside(false).visit(Mark::Taken, visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.node.mark.get() == Mark::Missed && !self.node.is_null() {
            self.missed.set(true);
        }
        visitor.visit_unit()
    }

    fn deserialize_option<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, Error> {
        self.node.mark.set(Mark::Taken);
        match self.node.is_null() {
            true => visitor.visit_none(),
            false => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'n>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.node.mark.set(Mark::Taken);
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'n>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.node.mark.set(Mark::Taken);
        let (name, value) = match &self.node.json {
            Json::Text(name) => (name, None),
            Json::Map(entries) if entries.len() == 1 => (&entries[0].0, Some(&entries[0].1)),
            _ => {
                return Err(de::Error::custom(
                    "expected the name of a variant, or one field",
                ));
            }
        };
        let value = value.map(|node| self.with(node));
        visitor.visit_enum(Variant { name, value })
    }

    taken! {
        deserialize_bool() deserialize_char() deserialize_str() deserialize_string()
        deserialize_i8() deserialize_i16() deserialize_i32() deserialize_i64() deserialize_i128()
        deserialize_u8() deserialize_u16() deserialize_u32() deserialize_u64() deserialize_u128()
        deserialize_f32() deserialize_f64() deserialize_bytes() deserialize_byte_buf()
        deserialize_unit() deserialize_unit_struct(_name: &'static str)
        deserialize_seq() deserialize_tuple(_length: usize) deserialize_identifier()
        deserialize_tuple_struct(_name: &'static str, _length: usize)
    }
}
