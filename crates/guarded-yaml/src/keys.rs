//! Finds the place of an invalid key.

use std::{collections::HashSet, fmt};

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, IgnoredAny, MapAccess, SeqAccess,
    VariantAccess, Visitor,
};

/// Reads any value, and fails at the first duplicate key, at a list or a mapping as a key, and at an invalid `<<`.
#[derive(Clone, Copy)]
pub struct Keys {
    /// Whether `<<` may merge the keys of another mapping.
    pub merge: bool,
}

impl<'de> DeserializeSeed<'de> for Keys {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<(), D::Error> {
        value.deserialize_any(self)
    }
}

macro_rules! without_keys {
    ($($visit:ident $type:ty)*) => {
        $(fn $visit<E>(self, _: $type) -> Result<(), E> {
            Ok(())
        })*
    };
}

impl<'de> Visitor<'de> for Keys {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    without_keys! {
        visit_bool bool visit_i64 i64 visit_i128 i128 visit_u64 u64 visit_u128 u128 visit_f64 f64 visit_str &str
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(self)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        let (mut seen, merge) = (HashSet::new(), self.merge);
        while let Some(merges) = fields.next_key_seed(Key {
            seen: &mut seen,
            merge,
        })? {
            match merges {
                true => fields.next_value_seed(Merged(self))?,
                false => fields.next_value_seed(self)?,
            }
        }
        Ok(())
    }

    fn visit_enum<A: EnumAccess<'de>>(self, tagged: A) -> Result<(), A::Error> {
        let (IgnoredAny, value) = tagged.variant()?;
        value.newtype_variant_seed(self)
    }
}

/// The value of `<<`.
struct Merged(Keys);

impl<'de> DeserializeSeed<'de> for Merged {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<(), D::Error> {
        value.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Merged {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a mapping or a list of mappings behind `<<`")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(Self(self.0))?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<(), A::Error> {
        self.0.visit_map(fields)
    }
}

/// A key of a mapping. It is read as `true` if it is `<<`.
struct Key<'a> {
    seen: &'a mut HashSet<String>,
    merge: bool,
}

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, key: D) -> Result<bool, D::Error> {
        key.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a word as a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<bool, E> {
        match (key, self.merge) {
            ("<<", true) => Ok(true),
            ("<<", false) => Err(E::custom("`<<` stands where a key belongs")),
            _ if !self.seen.insert(key.to_owned()) => {
                Err(E::custom(format!("the key `{key}` is there twice")))
            }
            _ => Ok(false),
        }
    }
}
