//! The types of k8s-openapi, recognized by their properties.
//!
//! `known/types.json` has the properties of each type and their types. A schema has the shape of a type if all of its
//! properties are in the type, with the same types, down to the last one. So every object that the schema accepts
//! passes through the Rust type unchanged.

use std::{collections::HashMap, sync::LazyLock};

use serde_json::Value;

use crate::schema::{Object, is_true, text};

/// The types that are recognized: the path, and how many of the type's properties a schema must have.
const RECOGNIZED: &[(&str, usize)] = &[
    ("k8s_openapi::api::apps::v1::DeploymentStrategy", 2),
    ("k8s_openapi::api::batch::v1::JobSpec", 8),
    ("k8s_openapi::api::batch::v1::JobTemplateSpec", 2),
    ("k8s_openapi::api::core::v1::Affinity", 3),
    ("k8s_openapi::api::core::v1::Capabilities", 2),
    ("k8s_openapi::api::core::v1::ConfigMapKeySelector", 3),
    ("k8s_openapi::api::core::v1::Container", 10),
    ("k8s_openapi::api::core::v1::ContainerPort", 4),
    ("k8s_openapi::api::core::v1::EnvFromSource", 3),
    ("k8s_openapi::api::core::v1::EnvVar", 3),
    ("k8s_openapi::api::core::v1::EnvVarSource", 4),
    ("k8s_openapi::api::core::v1::HTTPGetAction", 5),
    ("k8s_openapi::api::core::v1::HostAlias", 2),
    ("k8s_openapi::api::core::v1::Lifecycle", 2),
    ("k8s_openapi::api::core::v1::LocalObjectReference", 1),
    ("k8s_openapi::api::core::v1::NodeAffinity", 2),
    ("k8s_openapi::api::core::v1::NodeSelectorTerm", 2),
    ("k8s_openapi::api::core::v1::ObjectReference", 7),
    ("k8s_openapi::api::core::v1::PersistentVolumeClaimSpec", 6),
    ("k8s_openapi::api::core::v1::PodAffinity", 2),
    ("k8s_openapi::api::core::v1::PodAffinityTerm", 4),
    ("k8s_openapi::api::core::v1::PodAntiAffinity", 2),
    ("k8s_openapi::api::core::v1::PodDNSConfig", 3),
    ("k8s_openapi::api::core::v1::PodSecurityContext", 6),
    ("k8s_openapi::api::core::v1::PodSpec", 15),
    ("k8s_openapi::api::core::v1::PodTemplateSpec", 2),
    ("k8s_openapi::api::core::v1::Probe", 6),
    ("k8s_openapi::api::core::v1::ResourceRequirements", 2),
    ("k8s_openapi::api::core::v1::SELinuxOptions", 4),
    ("k8s_openapi::api::core::v1::SeccompProfile", 2),
    ("k8s_openapi::api::core::v1::SecretKeySelector", 3),
    ("k8s_openapi::api::core::v1::SecurityContext", 6),
    ("k8s_openapi::api::core::v1::ServicePort", 4),
    ("k8s_openapi::api::core::v1::ServiceSpec", 10),
    ("k8s_openapi::api::core::v1::Toleration", 4),
    ("k8s_openapi::api::core::v1::TopologySpreadConstraint", 4),
    ("k8s_openapi::api::core::v1::TypedLocalObjectReference", 3),
    ("k8s_openapi::api::core::v1::TypedObjectReference", 4),
    ("k8s_openapi::api::core::v1::Volume", 10),
    ("k8s_openapi::api::core::v1::VolumeDevice", 2),
    ("k8s_openapi::api::core::v1::VolumeMount", 4),
    (
        "k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition",
        5,
    ),
    (
        "k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector",
        2,
    ),
];

/// Pairs of types with the same shape, of which the second is meant where its name or its description says so.
const TWINS: [(&str, &str); 2] = [
    ("ConfigMapKeySelector", "Secret"),
    ("PodAffinity", "AntiAffinity"),
];

/// The type of Go's durations, which a schema does not show.
pub(crate) const DURATION: &str = "kube::core::Duration";

/// The paths of the types of k8s-openapi that [`Type::Known`](crate::Type::Known) may have.
pub fn well_known() -> impl Iterator<Item = &'static str> {
    RECOGNIZED.iter().map(|(path, _)| *path)
}

/// Whether a well-known type requires a property.
pub fn is_required(path: &str, property: &str) -> bool {
    let type_ = TYPES.get(&definition(path));
    let required = type_.and_then(|type_| type_["required"].as_array());
    required.is_some_and(|names| names.iter().any(|name| name == property))
}

/// A type of Kubernetes, as in `types.json`.
pub(crate) static TYPES: LazyLock<HashMap<String, Value>> =
    LazyLock::new(|| serde_json::from_str(include_str!("known/types.json")).unwrap_or_default());

/// The path of the type whose shape a schema has. `path` leads to the schema.
pub(crate) fn find(schema: &Object, path: &[String]) -> Option<&'static str> {
    if text(schema, "type") != Some("object")
        || is_true(schema, "x-kubernetes-preserve-unknown-fields")
    {
        return None;
    }
    let properties = schema.get("properties")?.as_object()?;
    let fits = |(known, least): &&(&'static str, usize)| {
        let (type_, all) = (TYPES.get(&definition(known)), properties.len() >= *least);
        all && type_.is_some_and(|type_| fits(schema, type_, true))
            && is_meant(name(known), schema, path)
    };
    RECOGNIZED.iter().find(fits).map(|(known, _)| *known)
}

/// The name of a type.
pub(crate) fn name(path: &'static str) -> &'static str {
    path.rsplit("::").next().unwrap_or(path)
}

/// Whether the module may import a type with the name.
pub(crate) fn is_name(other: &str) -> bool {
    RECOGNIZED.iter().any(|(path, _)| name(path) == other)
}

/// Whether the type implements `Default`.
pub(crate) fn has_default(path: &str) -> bool {
    !path.ends_with("::Condition")
}

/// The name of the definition of a type in Kubernetes' OpenAPI.
pub(crate) fn definition(path: &str) -> String {
    path.replacen("k8s_openapi::", "io.k8s.", 1)
        .replace("::", ".")
}

/// Whether a type is meant, of several with the same shape.
fn is_meant(name: &str, schema: &Object, path: &[String]) -> bool {
    let last = path.last().map_or("", String::as_str);
    let description = text(schema, "description").unwrap_or_default();
    let says = |word: &str| last.contains(word) || description.contains(word);
    match name {
        "LocalObjectReference" => says("LocalObjectReference") || says("Ref") || says("Secret"),
        _ => TWINS
            .iter()
            .all(|(first, word)| *first != name || !says(word)),
    }
}

/// Whether a schema of an object fits a type. `strict` is for the type that a field names.
fn fits(schema: &Object, type_: &Value, strict: bool) -> bool {
    if schema.contains_key("additionalProperties") {
        return false;
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    let mut all = properties.into_iter().flatten();
    let each =
        all.all(
            |(name, schema)| match (type_["properties"][name].as_str(), schema.as_object()) {
                (Some(kind), Some(schema)) => fits_kind(schema, kind),
                _ => false,
            },
        );
    let required = schema.get("required").and_then(Value::as_array);
    let is_present = |name: &Value| {
        let property = name.as_str().and_then(|name| properties?.get(name));
        let default = property.is_some_and(|schema| schema.get("default").is_some());
        default || required.is_some_and(|names| names.contains(name)) || !strict && name == "name"
    };
    let needs = type_["required"].as_array();
    each && needs.is_none_or(|names| names.iter().all(is_present))
}

/// Whether a schema fits a property of a type.
fn fits_kind(schema: &Object, kind: &str) -> bool {
    let is = |type_| text(schema, "type") == Some(type_);
    let either = is_true(schema, "x-kubernetes-int-or-string");
    let inner = |keyword, kind| {
        let schema = schema.get(keyword).and_then(Value::as_object);
        schema.is_some_and(|schema| fits_kind(schema, kind))
    };
    match kind {
        "any" => true,
        "boolean" | "integer" | "number" => is(kind),
        "string" => is(kind) && text(schema, "format") != Some("date-time"),
        "time" => is("string") && text(schema, "format") == Some("date-time"),
        "int-or-string" => either,
        "quantity" => either || is("string"),
        "object" => is("object"),
        _ => match kind.split_at(1) {
            ("[", kind) => is("array") && inner("items", kind),
            ("{", kind) => is("object") && inner("additionalProperties", kind),
            _ => is("object") && fits_type(schema, kind),
        },
    }
}

/// Whether a schema fits a type inside of another.
fn fits_type(schema: &Object, name: &str) -> bool {
    let open = is_true(schema, "x-kubernetes-preserve-unknown-fields");
    match TYPES.get(name) {
        Some(_) if open => name.ends_with(".ObjectMeta") && !schema.contains_key("properties"),
        Some(type_) => fits(schema, type_, false),
        None => false,
    }
}
