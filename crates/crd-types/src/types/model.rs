//! The schema that each Rust type has in the CRD that `make manifests` writes.
//!
//! This is a model of schemars, of kube's derive and of operator-runtime's adjustments. Where it differs from the schema
//! that was read, [`crate::attributes`] says the difference at the field.

use serde_json::{Value, json};

use super::{Type, Types};
use crate::schema::{Object, sorted};

/// The pattern of a `Quantity`.
pub(crate) const QUANTITY: &str = r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$";

/// A description that k8s-openapi gives its own types. The text does not matter: no CRD has it.
const OWN: &str = "\u{0}";

impl Types {
    /// The schema that the CRD has for a type, where nothing is said beside it.
    pub(crate) fn schema(&self, type_: &Type) -> Object {
        let schema = match type_ {
            Type::Bool => json!({ "type": "boolean" }),
            Type::Int32 => json!({ "format": "int32", "type": "integer" }),
            Type::Int64 => json!({ "format": "int64", "type": "integer" }),
            Type::Float => json!({ "format": "double", "type": "number" }),
            Type::String => json!({ "type": "string" }),
            Type::Time => json!({ "description": OWN, "format": "date-time", "type": "string" }),
            Type::IntOrString => json!({
                "anyOf": [{ "type": "integer" }, { "type": "string" }],
                "description": OWN,
                "x-kubernetes-int-or-string": true,
            }),
            Type::Quantity => json!({
                "anyOf": [{ "type": "integer" }, { "type": "string" }],
                "description": OWN,
                "pattern": QUANTITY,
                "x-kubernetes-int-or-string": true,
            }),
            // Never compared: the schema is always kept as it was read.
            Type::Any | Type::Known(_) => json!({}),
            Type::Own(_) if self.is_kept(type_) => json!({}),
            Type::Own(index) => return self.own[*index].schema.clone(),
            Type::List(items) if **items == Type::Any => {
                json!({ "items": true, "type": "array" })
            }
            Type::List(items) => json!({ "items": self.schema(items), "type": "array" }),
            Type::Map(values) if **values == Type::Any => {
                json!({ "additionalProperties": true, "type": "object" })
            }
            Type::Map(values) => {
                json!({ "additionalProperties": self.schema(values), "type": "object" })
            }
            Type::Nullable(inner) => {
                let mut schema = self.schema(inner);
                schema.insert("nullable".to_owned(), Value::Bool(true));
                if !self.is_plain_option(inner) {
                    // Differs from every schema, so the field says the whole schema.
                    schema.insert("anyOf".to_owned(), Value::Null);
                }
                return sorted(schema);
            }
        };
        match schema {
            Value::Object(schema) => schema,
            _ => Object::new(),
        }
    }

    /// Whether schemars writes `Option` of the type as the type's own schema: it adds `null` to an enum, and puts
    /// alternatives beside others.
    pub(crate) fn is_plain_option(&self, type_: &Type) -> bool {
        match type_ {
            Type::Own(index) => {
                let schema = &self.own[*index].schema;
                let alternatives = ["enum", "allOf", "anyOf", "oneOf"];
                !alternatives
                    .iter()
                    .any(|keyword| schema.contains_key(*keyword))
            }
            Type::Known(_) => false,
            _ => true,
        }
    }
}
