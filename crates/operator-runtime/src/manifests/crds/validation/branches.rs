//! The branches of `allOf`, `anyOf`, `oneOf` and `not`, which may only narrow what the schema around them has.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};
use serde_json::json;

use super::{
    Refusals, keywords,
    node::{self, Around, is_true},
};

const ENUMS: &str = "`#[schemars(with = \"serde_json::Value\")]` at the field, or an enum whose variants differ in their keys";

/// Judges the branches of a schema.
pub(super) fn check(schema: &JSONSchemaProps, around: Around, refusals: &mut Refusals) {
    let first = schema.all_of.as_ref().and_then(|all| all.first());
    let either = Either {
        here: is_int_or_string(schema),
        in_first: first.is_some_and(is_int_or_string),
    };
    branches(schema, Some(schema), either, around, refusals);
}

/// Where a schema says that a value is an integer or a string, in one of the two ways that the API server takes: in `anyOf`, or in
/// that of the first branch of `allOf`.
#[derive(Clone, Copy, Default)]
struct Either {
    here: bool,
    in_first: bool,
}

/// Whether the branches are of type `integer` and `string`, and say nothing else.
fn is_int_or_string(schema: &JSONSchemaProps) -> bool {
    let is_only = |branch, type_| node::set(branch) == [("type".to_owned(), json!(type_))];
    let branches = schema.any_of.as_deref().unwrap_or_default();
    matches!(branches, [integer, string] if is_only(integer, "integer") && is_only(string, "string"))
}

/// Judges the branches of `schema`, which narrow `whole`, the schema around all of them.
fn branches(
    schema: &JSONSchemaProps,
    whole: Option<&JSONSchemaProps>,
    either: Either,
    around: Around,
    refusals: &mut Refusals,
) {
    for (index, branch) in schema.all_of.iter().flatten().enumerate() {
        let either = Either {
            here: either.in_first && index == 0,
            in_first: false,
        };
        check_branch(branch, whole, either, around, refusals);
    }
    // The API server takes the types of these two branches, and still judges their other keywords.
    for branch in schema.any_of.iter().flatten().filter(|_| either.here) {
        keywords::check(branch, around, refusals);
    }
    let any = schema.any_of.iter().flatten().filter(|_| !either.here);
    let others = any.chain(schema.one_of.iter().flatten());
    for branch in others.chain(schema.not.as_deref()) {
        check_branch(branch, whole, Either::default(), around, refusals);
    }
}

fn check_branch(
    branch: &JSONSchemaProps,
    whole: Option<&JSONSchemaProps>,
    either: Either,
    around: Around,
    refusals: &mut Refusals,
) {
    keywords::check(branch, around, refusals);
    // The API server asks for this below the branches of the root alone.
    if whole.is_none() && around.is_root {
        refusals.add(
            ENUMS,
            "only a branch has it, and not the schema around the branches",
        );
        return;
    }
    forbidden(branch, refusals);
    branches(branch, whole, either, around, refusals);
    for (name, field) in branch.properties.iter().flatten() {
        let whole = whole.and_then(|whole| whole.properties.as_ref()?.get(name));
        refusals.field(name, |refusals| {
            check_branch(field, whole, Either::default(), around, refusals);
        });
    }
    if let Some(JSONSchemaPropsOrArray::Schema(items)) = &branch.items {
        let whole = whole.and_then(node::items);
        refusals.below("[]", |refusals| {
            check_branch(items, whole, Either::default(), around, refusals);
        });
    }
}

/// Judges the keywords that no branch can have.
fn forbidden(branch: &JSONSchemaProps, refusals: &mut Refusals) {
    let is_text = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.is_empty());
    let keys = branch.x_kubernetes_list_map_keys.as_ref();
    let rules = branch.x_kubernetes_validations.as_ref();
    let values = branch.additional_properties.as_ref();
    let keywords = [
        (
            "additionalProperties",
            values.is_some_and(|it| *it != JSONSchemaPropsOrBool::Bool(false)),
        ),
        ("default", branch.default.is_some()),
        ("description", is_text(&branch.description)),
        ("nullable", is_true(branch.nullable)),
        ("title", is_text(&branch.title)),
        ("type", is_text(&branch.type_)),
        (
            "x-kubernetes-embedded-resource",
            is_true(branch.x_kubernetes_embedded_resource),
        ),
        (
            "x-kubernetes-int-or-string",
            is_true(branch.x_kubernetes_int_or_string),
        ),
        (
            "x-kubernetes-list-map-keys",
            keys.is_some_and(|it| !it.is_empty()),
        ),
        (
            "x-kubernetes-list-type",
            branch.x_kubernetes_list_type.is_some(),
        ),
        (
            "x-kubernetes-map-type",
            branch.x_kubernetes_map_type.is_some(),
        ),
        (
            "x-kubernetes-preserve-unknown-fields",
            is_true(branch.x_kubernetes_preserve_unknown_fields),
        ),
        (
            "x-kubernetes-validations",
            rules.is_some_and(|it| !it.is_empty()),
        ),
    ];
    for (keyword, _) in keywords.into_iter().filter(|(_, is_set)| *is_set) {
        refusals.add(
            ENUMS,
            format!("a branch of `allOf`, `anyOf`, `oneOf` or `not` has `{keyword}`"),
        );
    }
    if branch
        .properties
        .as_ref()
        .is_some_and(|all| all.contains_key("metadata"))
    {
        refusals.add(
            ENUMS,
            "a branch of `allOf`, `anyOf`, `oneOf` or `not` narrows `metadata`",
        );
    }
}
