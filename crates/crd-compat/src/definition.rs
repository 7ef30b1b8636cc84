//! A CustomResourceDefinition, as far as it is compared.

use std::collections::BTreeSet;

use serde::{Deserialize, Deserializer, de::Error};
use serde_json::Value;

use super::schema::Schema;

/// A CustomResourceDefinition of `apiextensions.k8s.io/v1`, as far as it is compared.
///
/// It is deserialized from the YAML or JSON of the object; other fields, such as `kind`, are passed over.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Definition {
    pub(crate) metadata: Metadata,
    #[serde(deserialize_with = "whole_numbers")]
    pub(crate) spec: Spec,
    pub(crate) status: Status,
}

/// Reads `1.0` as `1`, also where a type asks for a whole number.
fn whole_numbers<'de, D: Deserializer<'de>>(from: D) -> Result<Spec, D::Error> {
    let mut value = Value::deserialize(from)?;
    integral(&mut value);
    Spec::deserialize(value).map_err(D::Error::custom)
}

/// Writes every number without fraction as one: `1.0` is `1`.
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
pub struct Metadata {
    pub name: String,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Spec {
    pub group: String,
    pub names: Names,
    pub scope: String,
    pub conversion: Conversion,
    pub preserve_unknown_fields: bool,
    pub versions: Vec<Version>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Names {
    pub kind: String,
    pub list_kind: Option<String>,
    pub plural: String,
    pub singular: Option<String>,
    pub short_names: BTreeSet<String>,
    pub categories: BTreeSet<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Conversion {
    pub strategy: String,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Status {
    /// `null` in what older generators wrote.
    pub stored_versions: Option<BTreeSet<String>>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Version {
    pub name: String,
    pub served: bool,
    pub storage: bool,
    pub deprecated: bool,
    pub schema: Validation,
    pub subresources: Subresources,
    pub selectable_fields: Vec<SelectableField>,
    pub additional_printer_columns: Vec<Value>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Validation {
    #[serde(rename = "openAPIV3Schema")]
    pub schema: Schema,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Subresources {
    /// `{}` is there.
    pub status: Option<Value>,
    pub scale: Option<Scale>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Scale {
    pub spec_replicas_path: String,
    pub status_replicas_path: String,
    /// Empty where it is left out.
    pub label_selector_path: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SelectableField {
    pub json_path: String,
}

impl Scale {
    /// Whether `new` uses another field; one that nothing was read from before is no other.
    pub fn changes_in(&self, new: &Self) -> bool {
        let added = self.label_selector_path.is_empty();
        self.spec_replicas_path != new.spec_replicas_path
            || self.status_replicas_path != new.status_replicas_path
            || (!added && self.label_selector_path != new.label_selector_path)
    }
}

impl Definition {
    /// `metadata.name`: plural and group.
    pub fn name(&self) -> &str {
        &self.metadata.name
    }

    /// The singular, which is the kind in lower case where it is left out.
    pub(crate) fn singular(&self) -> String {
        let names = &self.spec.names;
        names
            .singular
            .clone()
            .filter(|name| !name.is_empty())
            .unwrap_or_else(|| names.kind.to_lowercase())
    }

    /// The list kind, which is the kind with `List` behind it where it is left out.
    pub(crate) fn list_kind(&self) -> String {
        let names = &self.spec.names;
        names
            .list_kind
            .clone()
            .filter(|name| !name.is_empty())
            .unwrap_or_else(|| format!("{}List", names.kind))
    }

    /// Whether a webhook converts between versions.
    pub(crate) fn converts(&self) -> bool {
        self.spec.conversion.strategy == "Webhook"
    }

    /// The version that etcd holds from now on.
    pub(crate) fn storage(&self) -> Option<&Version> {
        self.spec.versions.iter().find(|version| version.storage)
    }

    /// The version called `name`.
    pub(crate) fn version(&self, name: &str) -> Option<&Version> {
        self.spec
            .versions
            .iter()
            .find(|version| version.name == name)
    }

    /// Whether objects may be stored in `version`.
    pub(crate) fn may_store(&self, version: &Version) -> bool {
        let stored = self.status.stored_versions.as_ref();
        version.storage || stored.is_some_and(|stored| stored.contains(&version.name))
    }
}
