//! Map keys.

use serde::{
    Deserializer,
    de::{self, IntoDeserializer, Visitor},
    forward_to_deserialize_any,
};

use super::Error;

/// The key of a map, which is always a string in JSON.
pub(super) struct Key<'n>(pub(super) &'n str);

/// Parses numeric and boolean keys from their text.
macro_rules! parsed {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, Error> {
            match serde_json::from_str::<serde_json::Value>(self.0) {
                Ok(value) if !value.is_string() => value.deserialize_any(visitor).map_err(de::Error::custom),
                _ => visitor.visit_borrowed_str(self.0),
            }
        }
    )*};
}

impl<'n> Deserializer<'n> for Key<'n> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_borrowed_str(self.0)
    }

    fn deserialize_option<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'n>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'n>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_enum(self.0.into_deserializer())
    }

    parsed! {
        deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_i128 deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
        deserialize_u128 deserialize_f32 deserialize_f64
    }

    forward_to_deserialize_any! {
        <V: Visitor<'n>>
        char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct
        identifier ignored_any
    }
}
