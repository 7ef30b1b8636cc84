//! The variables of the templates for the types of an API: what follows from its fields.

use crd_types::{Struct, Structs};
use serde_json::{Value, json};

use crate::{field, project::Fields};

/// The source of the types of an API, in parts, and the spec of its sample.
pub fn of(type_name: &str, fields: &Fields) -> Value {
    let (spec, status) = schemas(fields);
    let sample = json!({ "spec": crd_types::sample(&spec) });
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
        // `spec` of the sample, as YAML.
        "sample": serde_yaml::to_string(&sample).expect("a sample has only strings for keys"),
    })
}

/// The schemas of spec and status.
fn schemas(fields: &Fields) -> (Value, Value) {
    let Fields { spec, status } = fields;
    (field::spec(spec, status), field::status(spec, status))
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
