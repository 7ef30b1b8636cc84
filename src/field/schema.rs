//! The schemas that fields make.

use crd_types::{ORDER, TYPE};
use serde_json::{Map, Value, json};

use super::{Field, Type, set::STANDARD, type_::DURATION};

/// The keyword for rules in CEL.
const RULES: &str = "x-kubernetes-validations";

/// The words that a rule in CEL escapes in the name of a field.
const ESCAPED: [&str; 21] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "false",
    "for",
    "function",
    "if",
    "import",
    "in",
    "let",
    "loop",
    "namespace",
    "null",
    "package",
    "return",
    "true",
    "var",
    "void",
    "while",
];

/// The schema of `spec`. The fields of types are in either list.
pub fn spec(fields: &[Field], status: &[Field]) -> Value {
    let all: Vec<&Field> = fields.iter().chain(status).collect();
    let of_spec = fields.iter().filter(|field| field.owner.is_none());
    of(&of_spec.collect::<Vec<_>>(), &all, false)
}

/// The schema of `status`: its own fields and the fields of every status, all optional.
pub fn status(fields: &[Field], status: &[Field]) -> Value {
    let all: Vec<&Field> = fields.iter().chain(status).collect();
    let standard = STANDARD.map(|text| text.parse().expect("the fields of every status are valid"));
    let of_status = status.iter().filter(|field| field.owner.is_none());
    of(&of_status.chain(&standard).collect::<Vec<_>>(), &all, true)
}

/// The schema of an object with `some` of the fields; all are optional in a status.
pub fn of(some: &[&Field], all: &[&Field], of_status: bool) -> Value {
    let mut some: Vec<Field> = some.iter().copied().cloned().collect();
    for field in &mut some {
        field.markers.optional |= of_status;
    }
    object(all, some.iter())
}

/// The schema of an object with these fields.
fn object<'a>(all: &[&Field], fields: impl Iterator<Item = &'a Field>) -> Value {
    let mut properties = Map::new();
    let (mut order, mut required, mut rules) = (Vec::new(), Vec::new(), Vec::new());
    for field in fields {
        let (name, markers) = (&field.name, &field.markers);
        order.push(name.clone());
        properties.insert(name.clone(), property(all, field));
        match markers.optional || markers.default.is_some() {
            false => required.push(name.clone()),
            true if markers.immutable && markers.default.is_none() => {
                let path = match ESCAPED.contains(&name.as_str()) {
                    true => format!("__{name}__"),
                    false => name.clone(),
                };
                rules.push(json!({
                    TYPE: true,
                    "rule": format!("!has(oldSelf.{path}) || has(self.{path})"),
                    "message": format!("{name} cannot be removed"),
                }));
            }
            true => {}
        }
    }
    let mut schema = json!({ "type": "object", "properties": properties, ORDER: order });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    if !rules.is_empty() {
        schema[RULES] = json!(rules);
    }
    schema
}

fn property(all: &[&Field], field: &Field) -> Value {
    let markers = &field.markers;
    let mut schema = of_type(all, &field.type_, field);
    let mut set = |keyword: &str, value: Option<Value>| {
        if let Some(value) = value {
            schema[keyword] = value;
        }
    };
    set("description", markers.doc.clone().map(Value::from));
    set("default", markers.default.clone());
    set("minItems", markers.min_items.map(Value::from));
    set("maxItems", markers.max_items.map(Value::from));
    set(
        "x-kubernetes-list-type",
        markers.list_type.map(|it| it.word().into()),
    );
    let keys = (!markers.list_map_keys.is_empty()).then(|| json!(markers.list_map_keys));
    set("x-kubernetes-list-map-keys", keys);
    if markers.immutable {
        let message = format!("{} cannot change", field.name);
        let rule = json!({ "rule": "self == oldSelf", "message": message });
        match &mut schema[RULES] {
            Value::Array(rules) => rules.push(rule),
            rules => *rules = json!([rule]),
        }
    }
    schema
}

/// The schema of a type. The limits of `field` apply to its simple values.
fn of_type(all: &[&Field], type_: &Type, field: &Field) -> Value {
    match type_ {
        Type::Bool => json!({ "type": "boolean" }),
        Type::Int32 => limited(json!({ "type": "integer", "format": "int32" }), field),
        Type::Int64 => limited(json!({ "type": "integer", "format": "int64" }), field),
        Type::Number => limited(json!({ "type": "number", "format": "double" }), field),
        Type::String => limited(json!({ "type": "string" }), field),
        Type::Enum(values) => json!({ "type": "string", "enum": values }),
        Type::Time => json!({ "type": "string", "format": "date-time" }),
        Type::Duration => {
            json!({ "type": "string", "pattern": DURATION, TYPE: "kube::core::Duration" })
        }
        Type::Quantity => {
            json!({ "x-kubernetes-int-or-string": true, "pattern": crd_types::QUANTITY })
        }
        Type::IntOrString => json!({ "x-kubernetes-int-or-string": true }),
        Type::Any => json!({ "x-kubernetes-preserve-unknown-fields": true }),
        Type::Known(path) => json!({ "type": "object", TYPE: path }),
        Type::Own(name) => {
            let fields = all
                .iter()
                .copied()
                .filter(|it| it.owner.as_ref() == Some(name));
            let mut schema = object(all, fields);
            schema[TYPE] = json!(name);
            schema
        }
        Type::List(items) => json!({ "type": "array", "items": of_type(all, items, field) }),
        Type::Map(values) => {
            json!({ "type": "object", "additionalProperties": of_type(all, values, field) })
        }
    }
}

fn limited(mut schema: Value, field: &Field) -> Value {
    let markers = &field.markers;
    let number = |number: &Option<serde_json::Number>| number.clone().map(Value::Number);
    for (keyword, value) in [
        ("minimum", number(&markers.min)),
        ("maximum", number(&markers.max)),
        ("minLength", markers.min_length.map(Value::from)),
        ("maxLength", markers.max_length.map(Value::from)),
        ("pattern", markers.pattern.clone().map(Value::from)),
        ("format", markers.format.map(Value::from)),
    ] {
        if let Some(value) = value {
            schema[keyword] = value;
        }
    }
    schema
}
