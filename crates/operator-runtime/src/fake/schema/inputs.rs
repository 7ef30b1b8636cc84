//! Generates objects that fit a schema: with every field, with only the required fields, and in between.

use std::collections::BTreeSet;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};
use serde_json::{Map, Value, json};

use super::{branches::branches, scalar};

/// The maximum number of tried values of an enum, or of tried alternatives.
const MOST: usize = 256;

/// The fields that the API server adds to every schema.
const HEAD: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// The inputs for a type, without `apiVersion`, `kind` and `metadata`. The first has every field.
pub(crate) fn inputs(schema: &JSONSchemaProps) -> Vec<Value> {
    let schema = without_head(schema);
    let choices = 0..choices(&schema).min(MOST);
    let full = choices.clone().map(Shape::Full);
    let full = full.chain(choices.map(Shape::One));
    let others = [Shape::Minimal, Shape::Empty, Shape::Null, Shape::Default];
    let (mut inputs, mut optional) = (Vec::new(), BTreeSet::new());
    for shape in full.chain(others) {
        let mut maker = Maker::new(shape);
        inputs.extend(maker.value(&schema, "", shape.choice()));
        optional.append(&mut maker.optional);
    }
    let without = optional.iter().map(|path| Shape::Without(path));
    inputs.extend(without.filter_map(|shape| Maker::new(shape).value(&schema, "", 0)));
    let mut seen = BTreeSet::new();
    inputs.retain(|input| seen.insert(input.to_string()));
    inputs
}

/// The minimal input: the spec, if there is one, and the required fields; `None` if no fitting value is known
/// for a field.
#[cfg(feature = "envtest")]
pub(crate) fn minimal(schema: &JSONSchemaProps) -> Option<Value> {
    const SPEC: &str = "spec";
    let mut schema = without_head(schema);
    let properties = schema.properties.as_ref();
    if properties.is_some_and(|properties| properties.contains_key(SPEC)) {
        // The Rust types require it, even where their schemas do not.
        let required = schema.required.get_or_insert_default();
        required.push(SPEC.to_owned());
    }
    Maker::new(Shape::Minimal).value(&schema, "", 0)
}

fn without_head(schema: &JSONSchemaProps) -> JSONSchemaProps {
    let mut schema = schema.clone();
    if let Some(properties) = &mut schema.properties {
        properties.retain(|name, _| !HEAD.contains(&name.as_str()));
    }
    schema
}

#[derive(Clone, Copy)]
enum Shape<'a> {
    /// Every field, with this alternative of each choice.
    Full(usize),
    /// The same with lists and maps of one item: a conversion may split a list into its first item and the rest.
    One(usize),
    /// Every field beside this one, each as small as possible, but not this field. Elsewhere only the path
    /// to the field: otherwise a Pod template would generate a thousand large objects.
    Without(&'a str),
    /// Only the required fields.
    Minimal,
    /// Every field, with empty lists and maps.
    Empty,
    /// Null where it is allowed.
    Null,
    /// The default where there is one.
    Default,
}

impl Shape<'_> {
    fn choice(self) -> usize {
        match self {
            Self::Full(choice) | Self::One(choice) => choice,
            _ => 0,
        }
    }
}

struct Maker<'a> {
    shape: Shape<'a>,
    /// The number of generated scalars, so that each gets a different value.
    made: usize,
    /// The paths of the optional fields.
    optional: BTreeSet<String>,
}

impl<'a> Maker<'a> {
    fn new(shape: Shape<'a>) -> Self {
        Self {
            shape,
            made: 0,
            optional: BTreeSet::new(),
        }
    }

    /// `None` if no fitting value is known.
    fn value(&mut self, schema: &JSONSchemaProps, path: &str, choice: usize) -> Option<Value> {
        match (self.shape, &schema.default) {
            (Shape::Null, _) if schema.nullable == Some(true) => return Some(Value::Null),
            (Shape::Default, Some(default)) => return Some(default.0.clone()),
            _ => {}
        }
        let branches = branches(schema);
        let (schema, choice) = match branches.len() {
            0 => (schema, choice),
            many => (&branches[choice % many], choice / many),
        };
        if schema.x_kubernetes_int_or_string == Some(true) || schema.enum_.is_some() {
            return self.scalar(schema, choice);
        }
        match schema.type_.as_deref() {
            Some("array") => self.list(schema, path, choice),
            Some("object") => self.object(schema, path, choice),
            _ if schema.properties.is_some() => self.object(schema, path, choice),
            None if schema.x_kubernetes_preserve_unknown_fields == Some(true) => {
                Some(self.anything())
            }
            _ => self.scalar(schema, choice),
        }
    }

    fn scalar(&mut self, schema: &JSONSchemaProps, choice: usize) -> Option<Value> {
        self.made += 1;
        scalar::value(schema, choice, self.made)
    }

    fn list(&mut self, schema: &JSONSchemaProps, path: &str, choice: usize) -> Option<Value> {
        let JSONSchemaPropsOrArray::Schema(item) = schema.items.as_ref()? else {
            return None;
        };
        let least = schema.min_items.unwrap_or_default();
        let most = schema.max_items.unwrap_or(i64::MAX);
        let path = format!("{path}[]");
        let count = match self.shape {
            Shape::Without(without) if leads(&path, without) => least.max(1),
            Shape::Minimal | Shape::Empty | Shape::Without(_) => least,
            Shape::One(_) => least.max(1).min(most),
            _ => least.max(2).min(most),
        };
        let count = usize::try_from(count).ok()?;
        (0..count)
            .map(|index| self.value(item, &path, choice + index))
            .collect()
    }

    fn object(&mut self, schema: &JSONSchemaProps, path: &str, choice: usize) -> Option<Value> {
        let mut object = Map::new();
        let required = schema.required.as_deref().unwrap_or_default();
        let is_around = |without: &str| {
            without
                .rsplit_once('.')
                .is_some_and(|(around, _)| around == path)
        };
        for (name, schema) in schema.properties.iter().flatten() {
            let path = format!("{path}.{name}");
            let needed = required.contains(name);
            let left_out = match self.shape {
                _ if needed => false,
                Shape::Minimal => true,
                Shape::Without(without) if is_around(without) => *without == path,
                Shape::Without(without) => !leads(&path, without),
                _ => false,
            };
            if !needed {
                self.optional.insert(path.clone());
            }
            if left_out {
                continue;
            }
            match self.value(schema, &path, choice) {
                Some(value) => drop(object.insert(name.clone(), value)),
                None if needed => return None,
                None => {}
            }
        }
        if schema.x_kubernetes_embedded_resource == Some(true) {
            let resource = [
                ("apiVersion", json!("v1")),
                ("kind", json!("Embedded")),
                ("metadata", json!({})),
            ];
            object.extend(resource.map(|(key, value)| (key.to_owned(), value)));
        }
        let ends = match self.shape {
            Shape::Minimal | Shape::Empty => true,
            Shape::Without(without) => !leads(&format!("{path}.*"), without),
            _ => false,
        };
        if ends {
            return Some(object.into());
        }
        if let Some(JSONSchemaPropsOrBool::Schema(value)) = &schema.additional_properties {
            let keys = match self.shape {
                Shape::One(_) => &["key-a"][..],
                _ => &["key-a", "key-b"],
            };
            for (index, &key) in keys.iter().enumerate() {
                let value = self.value(value, &format!("{path}.*"), choice + index);
                object.extend(value.map(|value| (key.to_owned(), value)));
            }
        } else if schema.x_kubernetes_preserve_unknown_fields == Some(true) {
            object.insert("anything".to_owned(), self.anything());
        }
        Some(object.into())
    }

    fn anything(&mut self) -> Value {
        self.made += 1;
        json!({ "number": self.made, "list": ["a", { "b": true }], "nested": { "empty": {} } })
    }
}

/// Whether the value at `path` contains the value at `inner`.
fn leads(path: &str, inner: &str) -> bool {
    let rest = inner.strip_prefix(path);
    rest.is_some_and(|rest| rest.starts_with(['.', '[']))
}

/// The number of inputs that cover each alternative once.
fn choices(schema: &JSONSchemaProps) -> usize {
    let branches = branches(schema);
    if !branches.is_empty() {
        return branches.len() * branches.iter().map(choices).max().unwrap_or(1);
    }
    let properties = schema
        .properties
        .iter()
        .flatten()
        .map(|(_, schema)| choices(schema));
    let item = schema.items.as_ref().and_then(|items| match items {
        JSONSchemaPropsOrArray::Schema(item) => Some(choices(item)),
        JSONSchemaPropsOrArray::Schemas(_) => None,
    });
    let value = schema
        .additional_properties
        .as_ref()
        .and_then(|value| match value {
            JSONSchemaPropsOrBool::Schema(value) => Some(choices(value)),
            JSONSchemaPropsOrBool::Bool(_) => None,
        });
    let most = properties.chain(item).chain(value).max().unwrap_or(1);
    most.max(scalar::choices(schema))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(schema: Value) -> Vec<String> {
        let schema = serde_json::from_value(schema).unwrap();
        inputs(&schema).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn each_field_is_left_out_once() {
        let text = json!({ "type": "string", "minLength": 4 });
        let schema = json!({
            "type": "object",
            "properties": {
                "kind": text,
                "a": text,
                "b": { "type": "array", "items": text, "nullable": true },
                "c": { "type": "object", "additionalProperties": { "type": "boolean", "default": true } },
            },
            "required": ["a"],
        });
        let expected = [
            r#"{"a":"text-1","b":["text-2","text-3"],"c":{"key-a":true,"key-b":false}}"#,
            r#"{"a":"text-1","b":["text-2","text-3"],"c":{"key-a":false,"key-b":true}}"#,
            r#"{"a":"text-1","b":["text-2"],"c":{"key-a":true}}"#,
            r#"{"a":"text-1","b":["text-2"],"c":{"key-a":false}}"#,
            r#"{"a":"text-1"}"#,
            r#"{"a":"text-1","b":[],"c":{}}"#,
            r#"{"a":"text-1","b":null,"c":{"key-a":true,"key-b":false}}"#,
            r#"{"a":"text-1","b":["text-2","text-3"],"c":{"key-a":true,"key-b":true}}"#,
            r#"{"a":"text-1","c":{}}"#,
            r#"{"a":"text-1","b":[]}"#,
        ];
        assert_eq!(made(schema), expected);
    }

    #[test]
    #[cfg(feature = "envtest")]
    fn the_smallest_input_has_a_spec_and_the_required_fields() {
        let check = |schema: Value, expected: Value| {
            let schema = serde_json::from_value(schema).unwrap();
            assert_eq!(minimal(&schema), Some(expected));
        };
        let text = json!({ "type": "string" });
        let spec = json!({
            "type": "object",
            "properties": { "name": text, "hint": text },
            "required": ["name"],
        });
        let schema = json!({
            "type": "object",
            "properties": { "kind": text, "metadata": { "type": "object" }, "spec": spec, "status": text },
        });
        check(schema, json!({ "spec": { "name": "text-1" } }));
        let data = json!({ "type": "object", "properties": { "data": text } });
        check(data, json!({}));
        check(json!({ "type": "object" }), json!({}));
    }

    #[test]
    fn each_choice_is_made_once() {
        let flag = json!({ "type": "boolean" });
        let schema = json!({
            "type": "object",
            "properties": { "a": flag, "b": { "type": "string", "enum": ["x", "y"] }, "c": flag },
            "oneOf": [{ "required": ["a"] }, { "required": ["b"] }],
            "required": ["c"],
        });
        let expected = [
            r#"{"a":true,"c":true}"#,
            r#"{"b":"x","c":true}"#,
            r#"{"a":false,"c":false}"#,
            r#"{"b":"y","c":false}"#,
        ];
        assert_eq!(made(schema), expected);
        let nullable =
            json!({ "anyOf": [{ "type": "string", "enum": ["x"] }, { "enum": [null] }] });
        assert_eq!(made(nullable), ["\"x\""]);
    }
}
