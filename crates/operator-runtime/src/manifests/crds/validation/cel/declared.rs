//! What a rule sees of a schema: types and sizes, as `apiextensions` declares them.

use std::{collections::BTreeMap, rc::Rc};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    JSONSchemaProps, JSONSchemaPropsOrBool,
};
use serde_json::Value;

use super::super::node::{is_true, items, type_of};
use super::{
    parser::RESERVED,
    types::{Declared, Form, Limit, Type},
};

/// The bytes of the largest request.
pub(super) const LARGEST: i64 = 3 * 1024 * 1024;

/// The longest `metadata.name`.
const LONGEST_NAME: i64 = 253;

impl Declared {
    fn scalar(type_: Type, least_bytes: i64, path: &str) -> Self {
        Self {
            form: Form::Scalar(type_),
            most: 0,
            least_bytes,
            missing: None,
            path: path.to_owned(),
        }
    }

    fn up_to(mut self, most: i64) -> Self {
        self.most = u64::try_from(most).unwrap_or_default();
        self
    }

    /// With the limit of the schema, or with the one that follows from the size of requests.
    fn limited(self, limit: Option<i64>, otherwise: i64, missing: Limit) -> Self {
        let missing = limit.is_none().then_some(missing);
        Self {
            missing,
            ..self.up_to(limit.unwrap_or(otherwise))
        }
    }
}

/// Declares a schema; `None` if rules cannot see it.
pub(super) fn declare(
    schema: &JSONSchemaProps,
    is_resource: bool,
    path: &str,
) -> Option<Rc<Declared>> {
    // The API server counts four bytes for each character.
    let length = schema.max_length.map(|most| most.max(0) * 4);
    if is_true(schema.x_kubernetes_int_or_string) {
        let either = Declared::scalar(Type::Dyn, 1, path);
        return Some(Rc::new(either.limited(length, LARGEST - 2, Limit::Length)));
    }
    // The type of a resource has fields of its own, whatever the schema says of its type.
    let declared = match type_of(schema)? {
        "array" => {
            let below = format!("{path}[]");
            let items = items(schema)?;
            let items = declare(items, is_true(items.x_kubernetes_embedded_resource), &below)?;
            let otherwise = (LARGEST - 2) / (items.least_bytes + 1);
            let list = Declared {
                form: Form::List(items),
                ..Declared::scalar(Type::Dyn, 2, path)
            };
            list.limited(schema.max_items, otherwise, Limit::Items)
        }
        "object" => match &schema.additional_properties {
            Some(JSONSchemaPropsOrBool::Schema(values)) => {
                let below = format!("{path}{{}}");
                let values = declare(
                    values,
                    is_true(values.x_kubernetes_embedded_resource),
                    &below,
                )?;
                let otherwise = (LARGEST - 2) / (values.least_bytes + 6);
                let map = Declared {
                    form: Form::Map(values),
                    ..Declared::scalar(Type::Dyn, 2, path)
                };
                map.limited(schema.max_properties, otherwise, Limit::Values)
            }
            _ => object(schema, is_resource, path),
        },
        "string" => text(schema, length, path),
        "boolean" => Declared::scalar(Type::Bool, 4, path),
        "number" => Declared::scalar(Type::Double, 1, path),
        "integer" => Declared::scalar(Type::Int, 1, path),
        _ => return None,
    };
    Some(Rc::new(declared))
}

fn text(schema: &JSONSchemaProps, length: Option<i64>, path: &str) -> Declared {
    match schema.format.as_deref() {
        Some("byte") => Declared::scalar(Type::Bytes, 2, path).limited(
            schema.max_length,
            LARGEST - 2,
            Limit::Length,
        ),
        Some("duration") => Declared::scalar(Type::Duration, 3, path).up_to(32),
        Some("date") => Declared::scalar(Type::Timestamp, 12, path).up_to(12),
        Some("date-time") => Declared::scalar(Type::Timestamp, 21, path).up_to(32),
        _ => {
            let text = Declared::scalar(Type::Text, 2, path);
            let choices = schema.enum_.as_deref().unwrap_or_default();
            let lengths = choices
                .iter()
                .map(|choice| choice.0.as_str().map_or(0, str::len));
            let longest = lengths
                .max()
                .map(|most| i64::try_from(most).unwrap_or(i64::MAX));
            text.limited(length.or(longest), LARGEST - 2, Limit::Length)
        }
    }
}

fn object(schema: &JSONSchemaProps, is_resource: bool, path: &str) -> Declared {
    let required = schema.required.as_deref().unwrap_or_default();
    let (mut fields, mut least_bytes) = (BTreeMap::new(), 2);
    let mut add = |name: &str, declared: Option<Rc<Declared>>, default: Option<&Value>| {
        let Some(declared) = declared else { return };
        let has_default = default.is_some_and(|default| !default.is_null());
        if required.iter().any(|it| it == name) && !has_default {
            least_bytes += i64::try_from(name.len()).unwrap_or_default() + declared.least_bytes + 4;
        }
        if let Some(name) = escape(name) {
            fields.insert(name, declared);
        }
    };
    let head = if is_resource {
        head(schema, path)
    } else {
        Vec::new()
    };
    for (name, field) in schema.properties.iter().flatten() {
        if !head.iter().any(|(head, _)| head == name) {
            let is_embedded = is_true(field.x_kubernetes_embedded_resource);
            let below = below(path, name);
            add(
                name,
                declare(field, is_embedded, &below),
                field.default.as_ref().map(|it| &it.0),
            );
        }
    }
    for (name, declared) in head {
        add(name, Some(Rc::new(declared)), None);
    }
    Declared {
        form: Form::Object(fields),
        ..Declared::scalar(Type::Dyn, least_bytes, path)
    }
}

pub(super) fn below(path: &str, name: &str) -> String {
    match path.is_empty() {
        true => name.to_owned(),
        false => format!("{path}.{name}"),
    }
}

/// The fields that a resource has unless its schema has all of them.
fn head(schema: &JSONSchemaProps, path: &str) -> Vec<(&'static str, Declared)> {
    let field =
        |schema: &'_ JSONSchemaProps, name: &str| schema.properties.as_ref()?.get(name).cloned();
    let metadata = field(schema, "metadata");
    let named = |name: &str| field(metadata.as_ref()?, name);
    let is = |field: Option<JSONSchemaProps>, wanted: &str| {
        field.is_some_and(|field| type_of(&field) == Some(wanted))
    };
    let has_all = is(field(schema, "kind"), "string")
        && is(field(schema, "apiVersion"), "string")
        && is(metadata.clone(), "object")
        && is(named("name"), "string")
        && is(named("generateName"), "string");
    if has_all {
        return Vec::new();
    }
    let text = |name: &str| {
        let path = below(path, name);
        Declared::scalar(Type::Text, 2, &path).up_to(LARGEST - 2)
    };
    let capped = |name: &'static str, most: i64| {
        let most = named(name)
            .and_then(|field| field.max_length)
            .unwrap_or(most)
            .min(most);
        let path = below(path, &format!("metadata.{name}"));
        (
            name.to_owned(),
            Rc::new(Declared::scalar(Type::Text, 2, &path).up_to(most.max(0) * 4)),
        )
    };
    let names = [
        capped("name", LONGEST_NAME),
        capped("generateName", LONGEST_NAME - 1),
    ];
    let form = Form::Object(BTreeMap::from(names));
    let metadata = Declared {
        form,
        ..Declared::scalar(Type::Dyn, 2, &below(path, "metadata"))
    };
    vec![
        ("kind", text("kind")),
        ("apiVersion", text("apiVersion")),
        ("metadata", metadata),
    ]
}

/// The name that a rule writes for a field; `None` if it cannot.
pub(in crate::manifests::crds) fn escape(name: &str) -> Option<String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) || !name.chars().all(fits)
    {
        return None;
    }
    if RESERVED.contains(&name) {
        return Some(format!("__{name}__"));
    }
    let name = name.replace("__", "__underscores__");
    let name = name.replace('.', "__dot__").replace('-', "__dash__");
    Some(name.replace('/', "__slash__"))
}
