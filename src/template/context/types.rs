//! The variables of the templates for the types of an API: what follows from its fields, or from its definition.

use crd_types::{Struct, Structs, Structure};
use guarded_yaml as yaml;
use serde_json::{Value, json};

use crate::{
    field,
    project::{ApiView, Definition, Fields},
};

/// The source of the types of an API, in parts, and the spec of its sample.
pub fn of(type_name: &str, fields: &Fields) -> Value {
    let (spec, status) = structures(fields);
    let sample = json!({ "spec": spec.sample() });
    let Structs {
        imports,
        spec,
        status,
        others,
    } = crd_types::structs(type_name, &[], &spec, &status);
    json!({
        // The lines of `use`.
        "imports": imports.lines(),
        // The structs of spec and status.
        "spec": of_struct(spec),
        "status": of_struct(status),
        // The types of their fields, and the functions for defaults.
        "others": others,
        // The sample without its metadata, as YAML.
        "sample": yaml(&sample),
    })
}

/// The sample of an API whose types are generated from a CRD.
pub fn of_definition(definition: &Definition) -> Value {
    json!({ "sample": yaml(&definition.sample()) })
}

/// The structs of spec and status.
fn structures(fields: &Fields) -> (Structure, Structure) {
    let Fields { spec, status } = fields;
    (field::spec(spec, status), field::status(spec, status))
}

/// A value as YAML. Each line is behind a line end, so that nothing follows for an empty object.
fn yaml(value: &Value) -> String {
    if value.as_object().is_some_and(|fields| fields.is_empty()) {
        return String::new();
    }
    let text = yaml::text(value);
    text.lines().map(|line| format!("\n{line}")).collect()
}

fn of_struct(it: Struct) -> Value {
    json!({
        "derives_default": it.derives_default,
        "attributes": it.attributes,
        "body": match it.fields.as_str() {
            "" => "{}".to_owned(),
            fields => format!("{{\n{fields}}}"),
        },
        // The implementation of `Default`, if it is not derived.
        "default": it.default,
    })
}

/// The types of spec and status and those of their fields, as source.
pub fn source(api: &ApiView<'_>, type_name: &str) -> String {
    if let Some(definition) = api.resource.definition() {
        return definition.types(api.key, api.resource).source.clone();
    }
    let (spec, status) = structures(&api.api.fields);
    let Structs {
        spec,
        status,
        others,
        ..
    } = crd_types::structs(type_name, &[], &spec, &status);
    let both = [(spec, "Spec"), (status, "Status")];
    // A template writes these two, with `Default` derived or implemented.
    let both = both.map(|(made, suffix)| {
        format!(
            "#[derive(Default)]\npub struct {type_name}{suffix} {{ {} }}\n",
            made.fields
        )
    });
    both.concat() + &others
}
