//! Types that were chosen, rather than read from a CRD.

use serde_json::{Value, json};

use crate::{
    known,
    model::Type,
    sample::{of_path, sample},
    schema::{Object, object},
};

/// An object whose fields were chosen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Structure {
    /// Its fields, in the order of the source.
    pub fields: Vec<Field>,
    /// Its rules in CEL, as in `x-kubernetes-validations`.
    pub rules: Vec<Value>,
}

/// A field that was chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// The name in objects.
    pub name: String,
    /// The type of its values.
    pub type_: Type<Shape>,
    /// Whether every object has it.
    pub required: bool,
    /// Keywords of OpenAPI beside its type; those of a list's items are in `items`.
    pub keywords: Object,
}

/// A generated type of a field that was chosen.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A struct with this name.
    Struct(String, Structure),
    /// An enum of these texts. It is named after its field.
    Enum(Vec<String>),
}

impl Structure {
    /// An object with its required fields and those with a default.
    pub fn sample(&self) -> Value {
        sample(&Value::Object(self.schema()))
    }

    /// The schema for samples. Of a type of Kubernetes it has no more than a value.
    fn schema(&self) -> Object {
        let property = |field: &Field| (field.name.clone(), Value::Object(field.schema()));
        let properties: Object = self.fields.iter().map(property).collect();
        let required = self.fields.iter().filter(|field| field.required);
        let required: Vec<&str> = required.map(|field| field.name.as_str()).collect();
        object(json!({ "type": "object", "properties": properties, "required": required }))
    }
}

impl Field {
    /// The schema for samples, and for the `type` by which schemars has an attribute for a keyword. Of a type of Kubernetes it has no
    /// more than a value.
    pub(crate) fn schema(&self) -> Object {
        let mut schema = self.type_.schema(&|type_| {
            Some(match type_ {
                Type::Own(Shape::Struct(_, structure)) => structure.schema(),
                Type::Own(Shape::Enum(values)) => {
                    object(json!({ "type": "string", "enum": values }))
                }
                Type::Known(path) => object(json!({ "enum": [of_path(path)] })),
                Type::Duration => {
                    object(json!({ "type": "string", "enum": [of_path(known::DURATION)] }))
                }
                _ => return None,
            })
        });
        for (keyword, value) in &self.keywords {
            match (schema.get_mut(keyword), value) {
                (Some(Value::Object(items)), Value::Object(more)) => items.extend(more.clone()),
                _ => _ = schema.insert(keyword.clone(), value.clone()),
            }
        }
        schema
    }
}
