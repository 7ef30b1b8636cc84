//! `compare CRD`: each of k8s-openapi's types as the type of a field, against the CRD that controller-gen wrote for a type of the same
//! fields. The fields are in the file that EMBEDDED_TYPES names when this is compiled.

use std::{borrow::Cow, collections::BTreeMap, env, fs, process::ExitCode};

use kube_core::schema::{OptionalEnum, OptionalIntOrString, StructuralSchemaRewriter};
use schemars::{
    JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings, json_schema,
    transform::AddNullable,
};
use serde_json::Value;

#[path = "../../../../crates/operator-runtime/tests/runtime/embedded/difference.rs"]
mod difference;
#[path = "../../../../crates/operator-runtime/src/manifests/crds/embedded.rs"]
mod embedded;
#[allow(dead_code, reason = "its other half is for messages")]
#[path = "../../../../crates/operator-runtime/src/manifests/crds/owners.rs"]
mod owners;

use difference::differences;
use embedded::Types;

/// A type with one field. Its schema names the type of the field, if the generator is asked to.
struct Field<T>(T);

impl<T: JsonSchema> JsonSchema for Field<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Field".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let field = generator.subschema_for::<T>();
        json_schema!({ "type": "object", "properties": { "field": field } })
    }
}

/// The schema of a field of type `T`: as kube-derive makes it, and completed.
fn schemas<T: JsonSchema>(types: &Types) -> [Value; 2] {
    let settings = SchemaSettings::openapi3().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let generator = settings
        .with_transform(AddNullable::default())
        .with_transform(StructuralSchemaRewriter)
        .with_transform(OptionalEnum)
        .with_transform(OptionalIntOrString)
        .into_generator();
    let kube = generator.into_root_schema_for::<Field<T>>().to_value();
    let mut ours = kube.clone();
    types.complete::<Field<T>>(&mut ours, None);
    [kube, ours].map(|mut schema| {
        let mut field = schema["properties"]["field"].take();
        // The field is an optional one to kube.
        if let Some(field) = field.as_object_mut() {
            field.remove("nullable");
        }
        field
    })
}

type Schemas = fn(&Types) -> [Value; 2];

const FIELDS: &[(&str, Schemas)] = &include!(env!("EMBEDDED_TYPES"));

fn main() -> ExitCode {
    let path = env::args().nth(1).expect("the CRD of controller-gen");
    let text = fs::read_to_string(path).expect("the CRD can be read");
    let crd: Value = serde_saphyr::from_str(&text).expect("the CRD is YAML");
    let go = &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"];
    let types = Types::load();
    let [mut before, mut after] = [BTreeMap::new(), BTreeMap::new()];
    for (index, (name, schemas)) in FIELDS.iter().enumerate() {
        let go = &go["properties"][format!("f{index}")];
        let [kube, ours] = schemas(&types);
        for difference in differences(name, go, &kube) {
            *before.entry(difference.keyword).or_insert(0) += 1;
        }
        for difference in differences(name, go, &ours) {
            println!("{difference:?}");
            *after.entry(difference.keyword).or_insert(0) += 1;
        }
    }
    println!(
        "{} types: {} differences of kube's schemas {before:?}, and {} of ours {after:?}",
        FIELDS.len(),
        before.values().sum::<usize>(),
        after.values().sum::<usize>()
    );
    match after.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}
