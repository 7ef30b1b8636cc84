//! The part of a CustomResourceDefinition that is compared.

use std::collections::BTreeSet;

use serde::{Deserialize, Deserializer, de::Error};
use serde_json::Value;

use super::schema::{Schema, unless_empty};

/// The part of an `apiextensions.k8s.io/v1` CustomResourceDefinition that is compared.
///
/// Deserialized from the YAML or JSON of the object; other fields, such as `kind`, are ignored.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Definition {
    metadata: Metadata,
    #[serde(deserialize_with = "whole_numbers")]
    pub(crate) spec: Spec,
    status: Status,
}

/// Reads `1.0` as `1`, including where the type is an integer.
fn whole_numbers<'de, D: Deserializer<'de>>(from: D) -> Result<Spec, D::Error> {
    let mut value = Value::deserialize(from)?;
    integral(&mut value);
    Spec::deserialize(value).map_err(D::Error::custom)
}

/// Replaces each number without a fraction by an integer: `1.0` by `1`.
fn integral(value: &mut Value) {
    const EXACT: f64 = (1_u64 << 53) as f64;
    match value {
        Value::Number(number) if number.is_f64() => {
            let float = number.as_f64();
            if let Some(float) = float.filter(|it| it.fract() == 0.0 && it.abs() <= EXACT) {
                *number = (float as i64).into();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(integral),
        Value::Object(fields) => fields.values_mut().for_each(integral),
        _ => {}
    }
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
struct Metadata {
    name: String,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Spec {
    pub group: String,
    pub names: Names,
    pub scope: String,
    conversion: Conversion,
    pub preserve_unknown_fields: bool,
    pub versions: Vec<Version>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Names {
    pub kind: String,
    #[serde(deserialize_with = "unless_empty")]
    pub list_kind: Option<String>,
    pub plural: String,
    #[serde(deserialize_with = "unless_empty")]
    pub singular: Option<String>,
    pub short_names: BTreeSet<String>,
    pub categories: BTreeSet<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
struct Conversion {
    strategy: String,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Status {
    /// Older generators write `null`.
    stored_versions: Option<BTreeSet<String>>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Version {
    pub name: String,
    pub served: bool,
    pub storage: bool,
    pub deprecated: bool,
    schema: Validation,
    pub subresources: Subresources,
    pub selectable_fields: Vec<SelectableField>,
    pub additional_printer_columns: Vec<Value>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
struct Validation {
    #[serde(rename = "openAPIV3Schema")]
    schema: Schema,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Subresources {
    /// `{}` if the version has the subresource.
    pub status: Option<Value>,
    pub scale: Option<Scale>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Scale {
    spec_replicas_path: String,
    status_replicas_path: String,
    /// Empty if absent.
    label_selector_path: String,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SelectableField {
    pub json_path: String,
}

impl Scale {
    /// Whether `new` replaces a path. A new label selector where there was none replaces nothing.
    pub fn is_replaced_by(&self, new: &Self) -> bool {
        let is_new = self.label_selector_path.is_empty();
        self.spec_replicas_path != new.spec_replicas_path
            || self.status_replicas_path != new.status_replicas_path
            || (!is_new && self.label_selector_path != new.label_selector_path)
    }
}

impl Version {
    /// The schema of the objects.
    pub fn schema(&self) -> &Schema {
        &self.schema.schema
    }
}

impl Definition {
    /// `metadata.name`: plural and group.
    pub fn name(&self) -> &str {
        &self.metadata.name
    }

    /// Whether a webhook converts between versions.
    pub(crate) fn converts(&self) -> bool {
        self.spec.conversion.strategy == "Webhook"
    }

    /// The storage version.
    pub(crate) fn storage(&self) -> Option<&Version> {
        self.spec.versions.iter().find(|it| it.storage)
    }

    /// The version called `name`.
    pub(crate) fn version(&self, name: &str) -> Option<&Version> {
        self.spec.versions.iter().find(|it| it.name == name)
    }

    /// Whether objects may be stored in `version`.
    pub(crate) fn may_store(&self, version: &Version) -> bool {
        let stored = self.status.stored_versions.as_ref();
        version.storage || stored.is_some_and(|stored| stored.contains(&version.name))
    }
}
