//! The Rust types of values, whether a schema was read or a type was chosen.

use serde_json::json;

use crate::{
    known,
    schema::{Object, object},
};

/// The pattern of a `Quantity`.
pub const QUANTITY: &str = r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$";

/// A description that k8s-openapi gives its own types. The text does not matter: no CRD has it.
const OWN: &str = "\u{0}";

/// A Rust type. `O` is what is known of a generated one.
#[derive(Clone, Debug, PartialEq)]
pub enum Type<O> {
    /// `bool`
    Bool,
    /// `i32`
    Int32,
    /// `i64`
    Int64,
    /// `f64`
    Float,
    /// `String`
    String,
    /// `Time`, a moment.
    Time,
    /// kube's `Duration`, with the text of Go's. No schema that is read has this type.
    Duration,
    /// `IntOrString`, such as a port or a percentage.
    IntOrString,
    /// `Quantity`, an amount of a resource.
    Quantity,
    /// `serde_json::Value`
    Any,
    /// A type of k8s-openapi, by its path: one of [`crate::well_known`].
    Known(&'static str),
    /// A generated type.
    Own(O),
    /// `Vec`
    List(Box<Type<O>>),
    /// `BTreeMap` with texts as keys.
    Map(Box<Type<O>>),
    /// `Option`, for the items of a list and the values of a map.
    Nullable(Box<Type<O>>),
}

impl<O> Type<O> {
    /// The type inside all its lists and maps.
    pub fn innermost(&self) -> &Self {
        match self {
            Self::List(inner) | Self::Map(inner) | Self::Nullable(inner) => inner.innermost(),
            other => other,
        }
    }

    /// The same type with something else for the generated one.
    pub fn map<P>(&self, own: impl FnOnce(&O) -> P) -> Type<P> {
        match self {
            Self::Bool => Type::Bool,
            Self::Int32 => Type::Int32,
            Self::Int64 => Type::Int64,
            Self::Float => Type::Float,
            Self::String => Type::String,
            Self::Time => Type::Time,
            Self::Duration => Type::Duration,
            Self::IntOrString => Type::IntOrString,
            Self::Quantity => Type::Quantity,
            Self::Any => Type::Any,
            Self::Known(path) => Type::Known(path),
            Self::Own(it) => Type::Own(own(it)),
            Self::List(inner) => Type::List(Box::new(inner.map(own))),
            Self::Map(inner) => Type::Map(Box::new(inner.map(own))),
            Self::Nullable(inner) => Type::Nullable(Box::new(inner.map(own))),
        }
    }

    /// The module and the name of a type that a file imports.
    fn import(&self) -> Option<(&'static str, &'static str)> {
        let path = match self {
            Self::Time => "k8s_openapi::apimachinery::pkg::apis::meta::v1::Time",
            Self::Duration => known::DURATION,
            Self::IntOrString => "k8s_openapi::apimachinery::pkg::util::intstr::IntOrString",
            Self::Quantity => "k8s_openapi::apimachinery::pkg::api::resource::Quantity",
            Self::Any => "serde_json::Value",
            Self::Known(path) => path,
            Self::Map(_) => "std::collections::BTreeMap",
            _ => return None,
        };
        path.rsplit_once("::")
    }

    /// The type in source. `own` names a generated type, and `imported` one of a module.
    pub(crate) fn source(
        &self,
        own: &impl Fn(&O) -> String,
        imported: &mut impl FnMut(&'static str, &'static str) -> String,
    ) -> String {
        let name = match self.import() {
            Some((module, name)) => imported(module, name),
            None => String::new(),
        };
        match self {
            Self::Bool => "bool".to_owned(),
            Self::Int32 => "i32".to_owned(),
            Self::Int64 => "i64".to_owned(),
            Self::Float => "f64".to_owned(),
            Self::String => "String".to_owned(),
            Self::Own(it) => own(it),
            Self::List(items) => format!("Vec<{}>", items.source(own, imported)),
            Self::Map(values) => format!("{name}<String, {}>", values.source(own, imported)),
            Self::Nullable(inner) => format!("Option<{}>", inner.source(own, imported)),
            _ => name,
        }
    }

    /// The schema of the type in a CRD, if no attribute adds to it: what schemars, kube's derive and operator-runtime write. `of` gives
    /// the schemas that do not follow from the type alone.
    pub(crate) fn schema(&self, of: &impl Fn(&Self) -> Option<Object>) -> Object {
        if let Some(schema) = of(self) {
            return schema;
        }
        object(match self {
            Self::Bool => json!({ "type": "boolean" }),
            Self::Int32 => json!({ "format": "int32", "type": "integer" }),
            Self::Int64 => json!({ "format": "int64", "type": "integer" }),
            Self::Float => json!({ "format": "double", "type": "number" }),
            Self::String | Self::Duration => json!({ "type": "string" }),
            Self::Time => json!({ "description": OWN, "format": "date-time", "type": "string" }),
            Self::IntOrString => json!({
                "anyOf": [{ "type": "integer" }, { "type": "string" }],
                "description": OWN,
                "x-kubernetes-int-or-string": true,
            }),
            Self::Quantity => json!({
                "anyOf": [{ "type": "integer" }, { "type": "string" }],
                "description": OWN,
                "pattern": QUANTITY,
                "x-kubernetes-int-or-string": true,
            }),
            Self::List(items) if matches!(**items, Self::Any) => {
                json!({ "items": true, "type": "array" })
            }
            Self::List(items) => json!({ "items": items.schema(of), "type": "array" }),
            Self::Map(values) if matches!(**values, Self::Any) => {
                json!({ "additionalProperties": true, "type": "object" })
            }
            Self::Map(values) => {
                json!({ "additionalProperties": values.schema(of), "type": "object" })
            }
            // `of` gives these, unless their schema is never compared.
            Self::Any | Self::Known(_) | Self::Own(_) | Self::Nullable(_) => json!({}),
        })
    }
}
