//! The structs that fields make.

use crd_types::{Shape, Structure};
use serde_json::{Map, Value, json};

use super::{
    Field, Own, Type,
    set::STANDARD,
    type_::{DURATION, of_values},
};

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

/// The struct of `spec`. The fields of types are in either list.
pub fn spec(fields: &[Field], status: &[Field]) -> Structure {
    let all: Vec<&Field> = fields.iter().chain(status).collect();
    let of_spec = fields.iter().filter(|field| field.owner.is_none());
    of(&of_spec.collect::<Vec<_>>(), &all, false)
}

/// The struct of `status`: its own fields and the fields of every status, all optional.
pub fn status(fields: &[Field], status: &[Field]) -> Structure {
    let all: Vec<&Field> = fields.iter().chain(status).collect();
    let standard = STANDARD.map(|text| text.parse().expect("the fields of every status are valid"));
    let of_status = status.iter().filter(|field| field.owner.is_none());
    of(&of_status.chain(&standard).collect::<Vec<_>>(), &all, true)
}

/// The struct of `some` of the fields; all are optional in a status.
pub fn of(some: &[&Field], all: &[&Field], of_status: bool) -> Structure {
    let mut some: Vec<Field> = some.iter().copied().cloned().collect();
    for field in &mut some {
        field.markers.optional |= of_status;
    }
    of_fields(all, &some.iter().collect::<Vec<_>>())
}

fn of_fields(all: &[&Field], fields: &[&Field]) -> Structure {
    let mut made = Structure::default();
    for field in fields {
        let (name, markers) = (&field.name, &field.markers);
        let required = !markers.optional && markers.default.is_none();
        if !required && markers.immutable && markers.default.is_none() {
            let path = match ESCAPED.contains(&name.as_str()) {
                true => format!("__{name}__"),
                false => name.clone(),
            };
            made.rules.push(json!({
                "rule": format!("!has(oldSelf.{path}) || has(self.{path})"),
                "message": format!("{name} cannot be removed"),
            }));
        }
        let type_ = field.type_.map(|own| match own {
            Own::Enum(values) => Shape::Enum(values.clone()),
            Own::Named(name) => {
                let fields = all.iter().copied();
                let fields = fields.filter(|it| it.owner.as_ref() == Some(name));
                let fields: Vec<&Field> = fields.collect();
                Shape::Struct(name.clone(), of_fields(all, &fields))
            }
        });
        made.fields.push(crd_types::Field {
            name: name.clone(),
            type_,
            required,
            keywords: keywords(field),
        });
    }
    made
}

/// The markers of a field as keywords of OpenAPI.
fn keywords(field: &Field) -> Map<String, Value> {
    let markers = &field.markers;
    let number = |number: &Option<serde_json::Number>| number.clone().map(Value::Number);
    let pattern = match of_values(&field.type_) {
        // A duration is any text to schemars.
        Type::Duration => Some(DURATION.into()),
        _ => markers.pattern.clone().map(Value::from),
    };
    let limits = object([
        ("minimum", number(&markers.min)),
        ("maximum", number(&markers.max)),
        ("minLength", markers.min_length.map(Value::from)),
        ("maxLength", markers.max_length.map(Value::from)),
        ("pattern", pattern),
        ("format", markers.format.map(Value::from)),
    ]);
    let is_any = field.type_ == Type::Any;
    let keys = (!markers.list_map_keys.is_empty()).then(|| json!(markers.list_map_keys));
    let rules = markers.immutable.then(|| {
        let message = format!("{} cannot change", field.name);
        json!([{ "rule": "self == oldSelf", "message": message }])
    });
    let list_type = markers.list_type.map(|it| it.word().into());
    let mut all = object([
        ("description", markers.doc.clone().map(Value::from)),
        ("default", markers.default.clone()),
        ("minItems", markers.min_items.map(Value::from)),
        ("maxItems", markers.max_items.map(Value::from)),
        ("x-kubernetes-list-type", list_type),
        ("x-kubernetes-list-map-keys", keys),
        (
            "x-kubernetes-preserve-unknown-fields",
            is_any.then_some(true.into()),
        ),
        ("x-kubernetes-validations", rules),
    ]);
    match &field.type_ {
        Type::List(_) if limits.is_empty() => {}
        Type::List(_) => _ = all.insert("items".to_owned(), limits.into()),
        _ => all.extend(limits),
    }
    all
}

/// The keywords with a value.
fn object<const N: usize>(keywords: [(&str, Option<Value>); N]) -> Map<String, Value> {
    let some = keywords
        .into_iter()
        .filter_map(|(keyword, value)| Some((keyword, value?)));
    some.map(|(keyword, value)| (keyword.to_owned(), value))
        .collect()
}
