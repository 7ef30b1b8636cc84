//! The schema that each type has in the CRD that `make manifests` writes.
//!
//! Where it differs from the schema that was read, [`crate::attributes`] says the difference at the field.

use serde_json::Value;

use super::{Type, Types};
use crate::schema::{Object, sorted};

impl Types {
    /// The schema of a type in a CRD, if no attribute adds to it.
    pub(crate) fn schema(&self, type_: &Type) -> Object {
        type_.schema(&|type_| self.special(type_))
    }

    /// The schema of a type that is not simple.
    fn special(&self, type_: &Type) -> Option<Object> {
        match type_ {
            // Never compared: the schema is always kept as it was read.
            Type::Own(_) if self.is_kept(type_) => None,
            Type::Own(index) => Some(self.own[*index].schema.clone()),
            Type::Nullable(inner) => {
                let mut schema = self.schema(inner);
                schema.insert("nullable".to_owned(), Value::Bool(true));
                if !self.is_plain_option(inner) {
                    // Differs from every schema, so the field says the whole schema.
                    schema.insert("anyOf".to_owned(), Value::Null);
                }
                Some(sorted(schema))
            }
            _ => None,
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
