//! The parts of a structural schema, made so that nothing else can be said with them.

use std::collections::{BTreeMap, BTreeSet};

use helm_render::values::Table;
use serde_json::{Value as Json, json};

/// What is known of the value at one place.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Node {
    pub(super) shape: Shape,
    pub(super) description: Option<String>,
    /// Checks of the value, such as `minimum`, in the words of OpenAPI.
    pub(super) checks: Table,
}

/// The type of a value.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Shape {
    /// The schema does not describe it; `values.yaml` may.
    #[default]
    Unsaid,
    /// It may be anything.
    Anything,
    Boolean,
    Integer,
    Number,
    Text,
    IntOrText,
    List(Box<Node>),
    /// An object whose values are all alike.
    Map(Box<Node>),
    Object(Object),
}

/// An object with fields of its own.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Object {
    pub(super) properties: BTreeMap<String, Node>,
    pub(super) required: BTreeSet<String>,
    pub(super) rest: Rest,
}

/// What holds for fields that an object does not name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Rest {
    /// They are accepted.
    #[default]
    Accepted,
    /// They are accepted, and what the chart says of them is left to Helm.
    Judged,
    /// They are refused.
    Refused,
}

impl From<Shape> for Node {
    fn from(shape: Shape) -> Self {
        Self {
            shape,
            ..Self::default()
        }
    }
}

impl From<Object> for Node {
    fn from(object: Object) -> Self {
        Shape::Object(object).into()
    }
}

impl Node {
    pub(super) fn list(items: Self) -> Self {
        Shape::List(Box::new(items)).into()
    }

    pub(super) fn map(values: Self) -> Self {
        Shape::Map(Box::new(values)).into()
    }

    pub(super) fn object(&self) -> Option<&Object> {
        match &self.shape {
            Shape::Object(object) => Some(object),
            _ => None,
        }
    }

    pub(super) fn object_mut(&mut self) -> Option<&mut Object> {
        match &mut self.shape {
            Shape::Object(object) => Some(object),
            _ => None,
        }
    }

    /// Requires no field of it any more.
    pub(super) fn require_nothing(&mut self) {
        match &mut self.shape {
            Shape::List(inner) | Shape::Map(inner) => inner.require_nothing(),
            Shape::Object(object) => {
                object.required.clear();
                object
                    .properties
                    .values_mut()
                    .for_each(Self::require_nothing);
            }
            _ => {}
        }
    }

    /// The schema for a value that must be there.
    pub(super) fn json(&self) -> Json {
        let mut schema = self.shape.json();
        if let Some(description) = &self.description {
            schema.insert("description".to_owned(), json!(description));
        }
        for (name, check) in &self.checks {
            // The API server refuses null where there is an `enum`, even one that lists it, but does not look into `allOf` for it.
            match name.as_str() {
                "enum" => schema.insert("allOf".to_owned(), json!([{ "enum": check }])),
                _ => schema.insert(name.clone(), check.clone()),
            };
        }
        Json::Object(schema)
    }

    /// The schema for a value that may be null, as Helm takes null for "without the default".
    fn nullable(&self) -> Json {
        let mut schema = self.json();
        schema["nullable"] = json!(true);
        schema
    }

    /// The type in words.
    pub(super) fn words(&self) -> String {
        match &self.shape {
            Shape::Unsaid | Shape::Anything => "anything".to_owned(),
            Shape::Boolean => "true or false".to_owned(),
            Shape::Integer => "whole number".to_owned(),
            Shape::Number => "number".to_owned(),
            Shape::Text => "text".to_owned(),
            Shape::IntOrText => "text or whole number".to_owned(),
            Shape::List(items) => format!("list of {}", items.words()),
            Shape::Map(values) => format!("map of {}", values.words()),
            Shape::Object(_) => "object".to_owned(),
        }
    }
}

impl Shape {
    /// Whether it is a value without parts.
    pub(super) fn is_scalar(&self) -> bool {
        matches!(
            self,
            Self::Boolean | Self::Integer | Self::Number | Self::Text | Self::IntOrText
        )
    }

    fn json(&self) -> Table {
        let schema = match self {
            Self::Unsaid | Self::Anything => json!({"x-kubernetes-preserve-unknown-fields": true}),
            Self::Boolean => json!({"type": "boolean"}),
            Self::Integer => json!({"type": "integer"}),
            Self::Number => json!({"type": "number"}),
            Self::Text => json!({"type": "string"}),
            Self::IntOrText => json!({"x-kubernetes-int-or-string": true}),
            Self::List(items) => json!({"type": "array", "items": items.nullable()}),
            Self::Map(values) => {
                json!({"type": "object", "additionalProperties": values.nullable()})
            }
            Self::Object(object) => return object.json(),
        };
        match schema {
            Json::Object(schema) => schema,
            _ => Table::new(),
        }
    }
}

impl Object {
    fn json(&self) -> Table {
        let mut schema = Table::new();
        schema.insert("type".to_owned(), json!("object"));
        if !self.properties.is_empty() {
            let properties = self.properties.iter();
            let properties: Table = properties
                .map(|(name, node)| (name.clone(), node.nullable()))
                .collect();
            schema.insert("properties".to_owned(), Json::Object(properties));
        }
        if !self.required.is_empty() {
            schema.insert("required".to_owned(), json!(self.required));
        }
        if self.rest != Rest::Refused {
            let open = "x-kubernetes-preserve-unknown-fields".to_owned();
            schema.insert(open, json!(true));
        }
        schema
    }
}
