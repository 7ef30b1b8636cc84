//! The spec of a custom resource whose fields are variables of any name.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The variables of a role or playbook, as they stand in the spec of an object.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(transparent)]
pub struct Variables(pub Map<String, Value>);

impl Variables {
    /// The variable of this name, as the spec has it.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }
}

impl JsonSchema for Variables {
    fn schema_name() -> Cow<'static, str> {
        "Variables".into()
    }

    fn inline_schema() -> bool {
        true
    }

    /// Any field. The API server keeps what no schema describes (`x-kubernetes-preserve-unknown-fields`).
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true })
    }
}
