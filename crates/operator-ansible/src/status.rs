//! The status of an object, of which the operator owns some conditions and the record of the last run; the rest is the role's.

use std::borrow::Cow;

use kube::api::ApiResource;
use operator_runtime::ScopedResource;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The status of an object: conditions, and whatever the role writes with `k8s_status`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(transparent)]
pub struct AnsibleStatus(pub Map<String, Value>);

impl JsonSchema for AnsibleStatus {
    fn schema_name() -> Cow<'static, str> {
        "AnsibleStatus".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "x-kubernetes-preserve-unknown-fields": true,
            "properties": {
                "observedGeneration": {
                    "type": "integer",
                    "format": "int64",
                    "description": "The generation of the object that the operator last ran for."
                },
                "conditions": {
                    "type": "array",
                    "description": "The latest observations, such as whether the last run succeeded.",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["type"],
                    "items": {
                        "type": "object",
                        "x-kubernetes-preserve-unknown-fields": true,
                        "required": ["type"],
                        "properties": { "type": { "type": "string" } }
                    }
                }
            }
        })
    }
}

/// The key of the record of the last run.
const RECORD: &str = "operatorAnsible";

/// The last run that succeeded, as the status keeps it for the next process.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Record {
    /// The digest of what it ran for.
    pub(crate) inputs: String,
    /// The digest of what it created.
    pub(crate) dependents: String,
    /// When it ended, in seconds since 1970.
    pub(crate) completion: i64,
    /// The kinds of what it created.
    pub(crate) kinds: Vec<RecordedKind>,
}

/// A kind, as the status keeps it.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RecordedKind {
    pub(crate) api_version: String,
    pub(crate) kind: String,
    pub(crate) plural: String,
    pub(crate) namespaced: bool,
}

impl RecordedKind {
    /// The group and the version.
    pub(crate) fn version(&self) -> (&str, &str) {
        let parts = self.api_version.split_once('/');
        parts.unwrap_or(("", &self.api_version))
    }

    pub(crate) fn resource(&self) -> ScopedResource {
        let (group, version) = self.version();
        let resource = ApiResource {
            group: group.to_owned(),
            version: version.to_owned(),
            api_version: self.api_version.clone(),
            kind: self.kind.clone(),
            plural: self.plural.clone(),
        };
        match self.namespaced {
            true => ScopedResource::namespaced(resource),
            false => ScopedResource::cluster_scoped(resource),
        }
    }
}

impl AnsibleStatus {
    /// The condition of a type.
    pub(crate) fn condition(&self, type_: &str) -> Option<&Value> {
        let mut all = self.0.get("conditions")?.as_array()?.iter();
        all.find(|it| it["type"] == type_)
    }

    /// Whether the condition of a type is true.
    pub(crate) fn holds(&self, type_: &str) -> bool {
        self.condition(type_)
            .is_some_and(|it| it["status"] == "True")
    }

    pub(crate) fn record(&self) -> Option<Record> {
        Record::deserialize(self.0.get(RECORD)?).ok()
    }

    /// The operator's part of a status.
    pub(crate) fn of(
        generation: Option<i64>,
        conditions: Vec<Value>,
        record: Option<&Record>,
    ) -> Self {
        let mut all = Map::new();
        all.insert("observedGeneration".to_owned(), json!(generation));
        all.insert("conditions".to_owned(), conditions.into());
        if let Some(record) = record {
            all.insert(RECORD.to_owned(), json!(record));
        }
        Self(all)
    }
}
