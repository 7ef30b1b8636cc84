//! `src/known/types.json` describes the types of k8s-openapi. `BLESS=1` writes it.

use std::{collections::BTreeMap, env, fs};

use k8s_openapi::{
    api::{
        apps::v1::DeploymentStrategy,
        batch::v1::JobTemplateSpec,
        core::v1::{ObjectReference, PersistentVolumeClaimTemplate, PodTemplateSpec, ServiceSpec},
    },
    apimachinery::pkg::apis::meta::v1::Condition,
};
use schemars::{SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

/// What a property of a Kubernetes type may be.
fn kind(schema: &Value) -> String {
    let reference = schema["$ref"].as_str();
    let name = reference
        .and_then(|it| it.strip_prefix("#/$defs/"))
        .unwrap_or_default();
    match (name, schema["type"].as_str()) {
        (name, _) if name.ends_with(".Quantity") => "quantity".to_owned(),
        (name, _) if name.ends_with(".IntOrString") => "int-or-string".to_owned(),
        (name, _) if name.ends_with("v1.Time") => "time".to_owned(),
        (name, _) if !name.is_empty() => name.to_owned(),
        (_, Some("array")) => format!("[{}", kind(&schema["items"])),
        (_, Some("object")) if schema["additionalProperties"].is_object() => {
            format!("{{{}", kind(&schema["additionalProperties"]))
        }
        (_, Some(plain)) => plain.to_owned(),
        (_, None) => "any".to_owned(),
    }
}

#[test]
fn the_table_has_every_type() {
    let mut generator: SchemaGenerator = SchemaSettings::draft2020_12().into_generator();
    generator.subschema_for::<Condition>();
    generator.subschema_for::<DeploymentStrategy>();
    generator.subschema_for::<JobTemplateSpec>();
    generator.subschema_for::<ObjectReference>();
    generator.subschema_for::<PersistentVolumeClaimTemplate>();
    generator.subschema_for::<PodTemplateSpec>();
    generator.subschema_for::<ServiceSpec>();
    let mut types: BTreeMap<String, Value> = BTreeMap::new();
    for (name, schema) in generator.definitions() {
        let Some(properties) = schema["properties"].as_object() else {
            continue;
        };
        let kinds = properties
            .iter()
            .map(|(name, schema)| (name.clone(), kind(schema).into()));
        let kinds: BTreeMap<String, Value> = kinds.collect();
        let kinds: Map<String, Value> = kinds.into_iter().collect();
        types.insert(
            name.clone(),
            json!({ "properties": kinds, "required": schema["required"] }),
        );
    }
    let lines = types
        .iter()
        .map(|(name, type_)| format!("  {name:?}: {type_}"));
    let text = format!("{{\n{}\n}}\n", lines.collect::<Vec<_>>().join(",\n"));
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/known/types.json");
    if env::var_os("BLESS").is_some() {
        fs::write(file, &text).unwrap();
    }
    assert_eq!(
        fs::read_to_string(file).unwrap(),
        text,
        "BLESS=1 writes the table"
    );
}
