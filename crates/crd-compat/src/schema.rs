//! The part of an OpenAPI schema that decides which values are valid, kept and merged.
//!
//! Invariant: a schema is read from a [`Value`], and no reader of one accepts more than 128 levels, so a recursion over a
//! schema needs no bound of its own.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Deserializer};
use serde_json::{Number, Value};

/// A schema. An absent limit is `None`; an absent flag is false.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Schema {
    #[serde(rename = "type")]
    pub type_name: Option<String>,
    pub format: Option<String>,
    #[serde(deserialize_with = "unless_empty")]
    pub pattern: Option<String>,
    pub nullable: bool,
    pub default: Option<Value>,
    #[serde(rename = "enum", deserialize_with = "unless_empty")]
    pub values: Option<Vec<Value>>,
    pub maximum: Option<Number>,
    pub exclusive_maximum: bool,
    pub minimum: Option<Number>,
    pub exclusive_minimum: bool,
    pub multiple_of: Option<Number>,
    pub max_length: Option<u64>,
    pub min_length: Option<u64>,
    pub max_items: Option<u64>,
    pub min_items: Option<u64>,
    pub max_properties: Option<u64>,
    pub min_properties: Option<u64>,
    pub unique_items: bool,
    pub required: BTreeSet<String>,
    pub properties: BTreeMap<String, Schema>,
    pub additional_properties: Option<Additional>,
    pub items: Option<Box<Schema>>,
    pub all_of: Vec<Schema>,
    pub any_of: Vec<Schema>,
    pub one_of: Vec<Schema>,
    pub not: Option<Box<Schema>>,
    #[serde(rename = "x-kubernetes-int-or-string")]
    pub int_or_string: bool,
    #[serde(rename = "x-kubernetes-preserve-unknown-fields")]
    pub preserve_unknown: bool,
    #[serde(rename = "x-kubernetes-embedded-resource")]
    pub embedded_resource: bool,
    #[serde(rename = "x-kubernetes-list-type")]
    pub list_type: Option<String>,
    #[serde(rename = "x-kubernetes-list-map-keys")]
    pub list_map_keys: BTreeSet<String>,
    #[serde(rename = "x-kubernetes-map-type")]
    pub map_type: Option<String>,
    #[serde(rename = "x-kubernetes-validations")]
    pub validations: Vec<Validation>,
}

/// Reads an empty value as an absent one, because the API server omits it when it stores a definition.
pub fn unless_empty<'de, T, D>(from: D) -> Result<Option<T>, D::Error>
where
    T: Default + PartialEq + Deserialize<'de>,
    D: Deserializer<'de>,
{
    let value = Option::<T>::deserialize(from)?;
    Ok(value.filter(|value| *value != T::default()))
}

/// `additionalProperties`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Additional {
    /// Whether any value is kept.
    Any(bool),
    /// The schema of a map's values.
    Of(Box<Schema>),
}

/// A CEL rule without its messages.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Validation {
    #[serde(deserialize_with = "trimmed")]
    pub rule: String,
    pub optional_old_self: bool,
}

/// Reads a text without the white space around it, which depends on how YAML is written.
fn trimmed<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    Ok(String::deserialize(from)?.trim().to_owned())
}

impl Schema {
    /// The schema that keeps any value unchanged.
    pub fn any() -> Self {
        Self {
            preserve_unknown: true,
            ..Self::default()
        }
    }

    /// The type: `object`, `array`, `string`, `int-or-string`, …; empty for any type.
    pub fn shape(&self) -> &str {
        match self.int_or_string {
            true => "int-or-string",
            false => self.type_name.as_deref().unwrap_or_default(),
        }
    }

    /// The schema of a map's values.
    pub fn map_values(&self) -> Option<&Schema> {
        match &self.additional_properties {
            Some(Additional::Of(schema)) => Some(schema),
            _ => None,
        }
    }

    /// Whether fields that the schema does not name are kept unchanged.
    pub fn keeps_unknown(&self) -> bool {
        self.preserve_unknown || self.additional_properties == Some(Additional::Any(true))
    }
}
