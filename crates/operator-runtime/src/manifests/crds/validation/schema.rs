//! One schema, and the schemas of its fields, items and values.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    JSONSchemaProps, JSONSchemaPropsOrBool,
};
use serde_json::Value;

use super::{
    Refusals, branches, cel, defaults, keywords,
    node::{ANYTHING, Around, HEAD, META, TYPED, is_true, items, set, type_of},
    rules,
};

const ROOT: &str = "attributes of the spec's struct say what is at the root: `#[kube(…)]`, `#[x_kube(validation = …)]`";

/// The keywords that are not lost where the API server takes the schema of the status out of that of the object.
const BESIDE_STATUS: [&str; 22] = [
    "description",
    "example",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "externalDocs",
    "format",
    "items",
    "maxItems",
    "maxLength",
    "maximum",
    "minItems",
    "minLength",
    "minimum",
    "multipleOf",
    "pattern",
    "properties",
    "required",
    "title",
    "type",
    "uniqueItems",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-validations",
];

/// Judges the schema of a version.
pub(super) fn check(schema: &JSONSchemaProps, has_status: bool, refusals: &mut Refusals) {
    let before = refusals.list.len();
    if schema.nullable == Some(true) {
        refusals.add(ROOT, "the object itself is `nullable`");
    }
    if has_status {
        let mut keywords = set(schema);
        keywords.retain(|(keyword, _)| !BESIDE_STATUS.contains(&keyword.as_str()));
        for (keyword, _) in keywords {
            refusals.add(
                ROOT,
                format!("it has a status, and `{keyword}` at the root"),
            );
        }
    }
    let root = Around {
        is_root: true,
        in_head: false,
        has_defaults: true,
    };
    check_at(schema, root, refusals);
    defaults::check(schema, true, refusals);
    // The API server compiles the rules of a valid schema only.
    if refusals.list.len() == before {
        cel::check(schema, refusals);
    }
}

fn check_at(schema: &JSONSchemaProps, around: Around, refusals: &mut Refusals) {
    keywords::check(schema, around, refusals);
    structure(schema, around, refusals);
    rules::check(schema, refusals);
    branches::check(schema, around, refusals);
    let is_resource = around.is_root || is_true(schema.x_kubernetes_embedded_resource);
    for (name, field) in schema.properties.iter().flatten() {
        let is_head = is_resource && HEAD.contains(&name.as_str());
        let around = Around {
            is_root: false,
            in_head: around.in_head || is_head,
            has_defaults: around.has_defaults && !(around.is_root && is_head),
        };
        refusals.field(name, |refusals| check_at(field, around, refusals));
    }
    if let Some(JSONSchemaPropsOrBool::Schema(values)) = &schema.additional_properties {
        let around = Around {
            is_root: false,
            has_defaults: around.has_defaults && !around.in_head,
            ..around
        };
        refusals.below("{}", |refusals| check_at(values, around, refusals));
    }
    if let Some(items) = items(schema) {
        let around = Around {
            is_root: false,
            ..around
        };
        refusals.below("[]", |refusals| check_at(items, around, refusals));
    }
}

/// Judges what makes a schema structural.
fn structure(schema: &JSONSchemaProps, around: Around, refusals: &mut Refusals) {
    let type_ = type_of(schema);
    let is_embedded = is_true(schema.x_kubernetes_embedded_resource);
    let is_kept = is_true(schema.x_kubernetes_preserve_unknown_fields);
    let is_either = is_true(schema.x_kubernetes_int_or_string);
    if type_ == Some("array") && schema.items.is_none() {
        refusals.add(ANYTHING, "it is a list without the schema of its items");
    }
    if is_either && (is_kept || is_embedded) {
        refusals.add(ANYTHING, "it is an integer or a string, and an object too");
    }
    if is_embedded && type_ != Some("object") {
        refusals.add(
            TYPED,
            "it embeds an object of Kubernetes, and is not of type `object`",
        );
    } else if type_.is_none() && !is_either && !is_kept {
        refusals.add(ANYTHING, "it has no type");
    }
    if around.is_root && type_.is_some_and(|type_| type_ != "object") {
        refusals.add(ROOT, "the object itself is not of type `object`");
    }
    let values = schema.additional_properties.as_ref();
    if (around.is_root || is_embedded) && values.is_some() {
        refusals.add(ROOT, "an object of Kubernetes has the values of a map");
    }
    let fields = schema
        .properties
        .as_ref()
        .filter(|fields| !fields.is_empty());
    if is_embedded && !is_kept && fields.is_none() {
        refusals.add(
            ANYTHING,
            "it embeds an object of Kubernetes that has no fields",
        );
    }
    if around.is_root || is_embedded {
        head(schema, around, refusals);
    }
}

/// Judges the fields that Kubernetes describes itself.
fn head(schema: &JSONSchemaProps, around: Around, refusals: &mut Refusals) {
    let field = |name: &str| schema.properties.as_ref()?.get(name);
    for (name, wanted) in [
        ("apiVersion", "string"),
        ("kind", "string"),
        ("metadata", "object"),
    ] {
        if field(name).is_some_and(|field| type_of(field) != Some(wanted)) {
            refusals.add(
                META,
                format!("its field `{name}` is not of type `{wanted}`"),
            );
        }
    }
    let Some(metadata) = field("metadata").filter(|_| around.is_root) else {
        return;
    };
    let is_allowed = |keyword: &str, value: &Value| match keyword {
        "type" | "default" => true,
        "properties" => {
            let mut fields = value.as_object().into_iter().flatten();
            fields.all(|(name, _)| name == "name" || name == "generateName")
        }
        _ => false,
    };
    if !set(metadata)
        .iter()
        .all(|(keyword, value)| is_allowed(keyword, value))
    {
        refusals.add(
            META,
            "its `metadata` says more than what `name` and `generateName` have to be",
        );
    }
}
