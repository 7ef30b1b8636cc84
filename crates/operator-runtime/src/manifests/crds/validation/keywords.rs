//! The keywords that have the same rules in a schema and in a branch of `allOf`, `anyOf`, `oneOf` and `not`.

use std::collections::BTreeSet;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};

use super::{
    Refusals,
    node::{ANYTHING, Around, META, TYPED, is_true, items, type_of},
    patterns,
};

const LISTS: &str = "`#[x_kube(merge_strategy = ListMerge::Map(vec![\"name\".into()]))]` for a list whose items have a required \
     field `name`, `ListMerge::Set` for one of different scalars";
const MAPS: &str =
    "`#[x_kube(merge_strategy = MapMerge::Granular)]` or `Atomic`, at a struct or a map";
const PATTERN: &str = "`#[schemars(regex(pattern = r\"^[a-z]+$\"))]`, in the syntax of RE2";
const DEFAULT: &str = "without `#[serde(default)]` here";

const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];

/// Judges these keywords of a schema or a branch.
pub(super) fn check(schema: &JSONSchemaProps, around: Around, refusals: &mut Refusals) {
    let type_ = type_of(schema);
    if let Some(type_) = type_.filter(|type_| !TYPES.contains(type_)) {
        let types = TYPES.join(", ");
        refusals.add(TYPED, format!("the type `{type_}` is not one of {types}"));
    }
    if schema.default.is_some() && !around.has_defaults {
        refusals.add(DEFAULT, "there cannot be a default here");
    }
    let unsupported = [
        ("$ref", schema.ref_path.is_some()),
        ("$schema", is_text(schema.schema.as_deref())),
        ("additionalItems", schema.additional_items.is_some()),
        (
            "definitions",
            schema.definitions.as_ref().is_some_and(|it| !it.is_empty()),
        ),
        ("dependencies", schema.dependencies.is_some()),
        ("id", is_text(schema.id.as_deref())),
        (
            "patternProperties",
            schema
                .pattern_properties
                .as_ref()
                .is_some_and(|it| !it.is_empty()),
        ),
        ("uniqueItems", is_true(schema.unique_items)),
    ];
    for (keyword, _) in unsupported.into_iter().filter(|(_, is_set)| *is_set) {
        refusals.add(ANYTHING, format!("a CRD cannot have `{keyword}`"));
    }
    if matches!(&schema.items, Some(JSONSchemaPropsOrArray::Schemas(all)) if !all.is_empty()) {
        refusals.add(
            ANYTHING,
            "its items have one schema each, as those of a tuple",
        );
    }
    if around.in_head && is_true(schema.x_kubernetes_embedded_resource) {
        refusals.add(META, "an object of Kubernetes is embedded in metadata");
    }
    let has_fields = schema.properties.as_ref().is_some_and(|it| !it.is_empty());
    let values = schema.additional_properties.as_ref();
    if has_fields && values.is_some_and(|it| *it != JSONSchemaPropsOrBool::Bool(true)) {
        refusals.add(ANYTHING, "it has both fields and the values of a map");
    }
    if schema.x_kubernetes_preserve_unknown_fields == Some(false) {
        refusals.add(
            ANYTHING,
            "`x-kubernetes-preserve-unknown-fields` is false, and not absent",
        );
    }
    if let Some(pattern) = schema.pattern.as_deref()
        && let Err(why) = patterns::check(pattern)
    {
        refusals.add(PATTERN, format!("the pattern `{pattern}` {why}"));
    }
    map_type(schema, refusals);
    list_type(schema, refusals);
}

fn map_type(schema: &JSONSchemaProps, refusals: &mut Refusals) {
    let Some(map_type) = schema.x_kubernetes_map_type.as_deref() else {
        return;
    };
    if type_of(schema) != Some("object") {
        refusals.add(MAPS, "it has a map type, and is not of type `object`");
    }
    if !["atomic", "granular"].contains(&map_type) {
        refusals.add(
            MAPS,
            format!("the map type `{map_type}` is neither `atomic` nor `granular`"),
        );
    }
}

fn list_type(schema: &JSONSchemaProps, refusals: &mut Refusals) {
    let keys = schema
        .x_kubernetes_list_map_keys
        .as_deref()
        .unwrap_or_default();
    let list_type = schema.x_kubernetes_list_type.as_deref();
    if !keys.is_empty() && list_type != Some("map") {
        refusals.add(LISTS, "it has keys, and its list type is not `map`");
    }
    let Some(list_type) = list_type else { return };
    if type_of(schema) != Some("array") {
        refusals.add(LISTS, "it has a list type, and is not of type `array`");
    }
    if !["atomic", "map", "set"].contains(&list_type) {
        refusals.add(
            LISTS,
            format!("the list type `{list_type}` is not `atomic`, `map` or `set`"),
        );
    }
    let items = items(schema);
    if ["map", "set"].contains(&list_type) && items.is_some_and(|items| is_true(items.nullable)) {
        refusals.add(
            LISTS,
            format!("the items of a list of type `{list_type}` cannot be null"),
        );
    }
    match (list_type, items) {
        ("set", Some(items)) => {
            let is_part = |part: Option<&str>| part.is_some_and(|part| part != "atomic");
            let is_merged = match type_of(items) {
                Some("array") => is_part(items.x_kubernetes_list_type.as_deref()),
                Some("object") => items.x_kubernetes_map_type.as_deref() != Some("atomic"),
                _ => false,
            };
            if is_merged {
                refusals.add(
                    LISTS,
                    "the items of a list of type `set` are neither scalars nor `atomic`",
                );
            }
        }
        ("map", items) => list_map(keys, items, refusals),
        _ => {}
    }
}

fn list_map(keys: &[String], items: Option<&JSONSchemaProps>, refusals: &mut Refusals) {
    if keys.is_empty() {
        refusals.add(LISTS, "it is a list of type `map` without keys");
    }
    let Some(items) = items.filter(|items| type_of(items) == Some("object")) else {
        refusals.add(LISTS, "the items of a list of type `map` are not objects");
        return;
    };
    let required = items.required.as_deref().unwrap_or_default();
    let mut seen = BTreeSet::new();
    for key in keys {
        if !seen.insert(key) {
            refusals.add(LISTS, format!("the key `{key}` is there twice"));
        }
        let Some(field) = items.properties.as_ref().and_then(|all| all.get(key)) else {
            refusals.add(
                LISTS,
                format!("the key `{key}` is not a field of the items"),
            );
            continue;
        };
        if matches!(type_of(field), Some("array" | "object")) {
            refusals.add(LISTS, format!("the key `{key}` is a list or an object"));
        }
        if !required.contains(key) && field.default.is_none() {
            refusals.add(
                LISTS,
                format!("the key `{key}` is optional and has no default"),
            );
        }
        if is_true(field.nullable) {
            refusals.add(LISTS, format!("the key `{key}` can be null"));
        }
    }
}

fn is_text(text: Option<&str>) -> bool {
    text.is_some_and(|text| !text.is_empty())
}
