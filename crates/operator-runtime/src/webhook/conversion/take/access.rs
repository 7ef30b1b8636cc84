//! Access to lists, maps and variants.

use std::{borrow::Cow, slice::Iter};

use serde::{
    Deserialize, Deserializer,
    de::{self, DeserializeSeed, EnumAccess, MapAccess, SeqAccess, VariantAccess, Visitor},
};

use super::{Error, Taker, key::Key};
use crate::webhook::conversion::node::Node;

pub(super) struct Items<'n> {
    pub(super) taker: Taker<'n>,
    pub(super) items: Iter<'n, Node<'n>>,
    pub(super) index: usize,
}

impl<'n> SeqAccess<'n> for Items<'n> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'n>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        let Some(item) = self.items.next() else {
            return Ok(None);
        };
        let value = seed.deserialize(self.taker.with(item));
        let value = value.map_err(|error| error.below(&format!("[{}]", self.index)))?;
        self.index += 1;
        Ok(Some(value))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len())
    }
}

pub(super) struct Entries<'n> {
    pub(super) taker: Taker<'n>,
    pub(super) entries: Iter<'n, (Cow<'n, str>, Node<'n>)>,
    pub(super) value: Option<(&'n str, &'n Node<'n>)>,
}

impl<'n> MapAccess<'n> for Entries<'n> {
    type Error = Error;

    fn next_key_seed<T: DeserializeSeed<'n>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        let Some((key, value)) = self.entries.next() else {
            return Ok(None);
        };
        self.value = Some((key, value));
        seed.deserialize(Key(key)).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'n>>(&mut self, seed: T) -> Result<T::Value, Error> {
        let value = self.value.take();
        let (key, node) = value.ok_or_else(|| de::Error::custom("a value before its key"))?;
        let value = seed.deserialize(self.taker.with(node));
        value.map_err(|error| error.below(key))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.entries.len())
    }
}

/// The variant of an enum with its value, if it has one.
pub(super) struct Variant<'n> {
    pub(super) name: &'n str,
    pub(super) value: Option<Taker<'n>>,
}

impl<'n> Variant<'n> {
    fn value(self) -> Result<Taker<'n>, Error> {
        let missing =
            || de::Error::custom(format_args!("the variant `{}` needs a value", self.name));
        self.value.ok_or_else(missing)
    }
}

impl<'n> EnumAccess<'n> for Variant<'n> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<T: DeserializeSeed<'n>>(self, seed: T) -> Result<(T::Value, Self), Error> {
        Ok((seed.deserialize(Key(self.name))?, self))
    }
}

impl<'n> VariantAccess<'n> for Variant<'n> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        match self.value {
            Some(taker) => Deserialize::deserialize(taker),
            None => Ok(()),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'n>>(self, seed: T) -> Result<T::Value, Error> {
        let name = self.name;
        let value = seed.deserialize(self.value()?);
        value.map_err(|error| error.below(name))
    }

    fn tuple_variant<V: Visitor<'n>>(self, length: usize, visitor: V) -> Result<V::Value, Error> {
        let name = self.name;
        let value = self.value()?.deserialize_tuple(length, visitor);
        value.map_err(|error| error.below(name))
    }

    fn struct_variant<V: Visitor<'n>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let name = self.name;
        let value = self.value()?.deserialize_struct("", fields, visitor);
        value.map_err(|error| error.below(name))
    }
}
