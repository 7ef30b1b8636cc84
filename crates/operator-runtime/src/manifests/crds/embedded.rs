//! What controller-gen says of Kubernetes' own types where k8s-openapi says less.
//!
//! k8s-openapi is made from Kubernetes' published OpenAPI, which has no markers: which lists merge by key, defaults, patterns. So
//! the type of a project that embeds a `PodTemplateSpec` gets what controller-gen writes for the same type in Go.
//! `crds/types.json` holds it by name of the definition; `make schemas` writes the file.
//!
//! kube puts every type in place of its name. So the schema of a type is made a second time, with names, and only to find where in
//! kube's schema which type is; everything else in a CRD stays as kube has made it.

use std::collections::BTreeMap;

use k8s_openapi::schemars::{JsonSchema, Schema, generate::SchemaSettings};
use serde_json::{Map, Value};

/// By name of a definition, and then by the first and the last version of Kubernetes that it holds for.
const TYPES: &str = include_str!("types.json");

k8s_openapi::k8s_if_1_33! { const MINOR: u32 = 33; }
k8s_openapi::k8s_if_1_34! { const MINOR: u32 = 34; }
k8s_openapi::k8s_if_1_35! { const MINOR: u32 = 35; }
k8s_openapi::k8s_if_1_36! { const MINOR: u32 = 36; }
k8s_openapi::k8s_if_1_37! { const MINOR: u32 = 37; }

/// The keywords whose schemas are about the value itself.
const COMBINATORS: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// The keyword with rules in CEL.
const RULES: &str = "x-kubernetes-validations";

type Object = Map<String, Value>;

/// What controller-gen says of each type.
pub(super) struct Types(BTreeMap<String, Object>);

impl Types {
    /// For the version of Kubernetes whose types k8s-openapi has in this build.
    pub(super) fn load() -> Self {
        let all: BTreeMap<String, BTreeMap<String, Object>> =
            serde_json::from_str(TYPES).expect("`make schemas` writes JSON objects");
        let of_version = |(name, runs): (String, BTreeMap<String, Object>)| {
            let mut runs = runs.into_iter();
            let (_, schema) = runs.find(|(run, _)| holds(run))?;
            Some((name, schema))
        };
        Types(all.into_iter().filter_map(of_version).collect())
    }

    /// Makes `schema`, which kube made for `K`, say of each of Kubernetes' types what controller-gen does.
    pub(super) fn complete<K: JsonSchema>(&self, schema: &mut Value) {
        let outline = SchemaSettings::draft2020_12()
            .into_generator()
            .into_root_schema_for::<K>();
        Outline {
            types: self,
            root: &outline,
        }
        .complete(outline.as_value(), schema);
    }
}

/// Whether a run such as `33-36` holds the version of this build.
fn holds(run: &str) -> bool {
    let bounds = run.split_once('-');
    let parsed = bounds.and_then(|(a, b)| Some(a.parse().ok()?..=b.parse().ok()?));
    parsed.is_some_and(|run: std::ops::RangeInclusive<u32>| run.contains(&MINOR))
}

/// The schema of a type in which other types are named.
struct Outline<'a> {
    types: &'a Types,
    root: &'a Schema,
}

impl Outline<'_> {
    /// `outline` and `node` are of one value: there with names, here as kube made it.
    fn complete(&self, outline: &Value, node: &mut Value) {
        if let Some(reference) = outline.get("$ref").and_then(Value::as_str)
            && let Some(definition) = self.root.pointer(reference)
        {
            self.complete(definition, node);
            let name = reference.rsplit('/').next().unwrap_or_default();
            if let Some(said) = self.types.0.get(name) {
                lay_over(said, definition, node);
            }
        }
        for (name, property) in entries(outline.get("properties")) {
            if let Some(node) = node.get_mut("properties").and_then(|all| all.get_mut(name)) {
                self.complete(property, node);
            }
        }
        for key in ["items", "additionalProperties"] {
            if let (Some(outline), Some(node)) = (outline.get(key), node.get_mut(key)) {
                self.complete(outline, node);
            }
        }
        for key in COMBINATORS {
            let Some(all) = outline.get(key).and_then(Value::as_array) else {
                continue;
            };
            for (index, outline) in all.iter().enumerate() {
                let variant = node.get_mut(key).and_then(|all| all.get_mut(index));
                match variant.map(Value::take) {
                    Some(variant) => node[key][index] = self.variant(outline, variant, node),
                    // kube has made one schema of a type and `null`.
                    None => self.complete(outline, node),
                }
            }
        }
    }

    /// The variant of an enum: kube has moved its properties to the schema of the enum, and left it what is required.
    fn variant(&self, outline: &Value, mut variant: Value, node: &mut Value) -> Value {
        let mut whole = Object::new();
        let all = ["properties", "required"];
        for (key, from) in all.iter().zip([&mut *node, &mut variant]) {
            if let Some(value) = from.as_object_mut().and_then(|from| from.remove(*key)) {
                whole.insert((*key).to_owned(), value);
            }
        }
        let mut whole = Value::Object(whole);
        self.complete(outline, &mut whole);
        for (key, to) in all.iter().zip([node, &mut variant]) {
            if let Some(value) = whole.as_object_mut().and_then(|whole| whole.remove(*key)) {
                to[*key] = value;
            }
        }
        variant
    }
}

/// Merges controller-gen's schema of a type into `node`, a schema of that type. `definition` is k8s-openapi's schema: where
/// `node` differs from it, the user's field has set the keyword, and it stays.
fn lay_over(said: &Object, definition: &Value, node: &mut Value) {
    let Some(node) = node.as_object_mut() else {
        return;
    };
    let unsaid = |key: &&str| *key == "required" && !said.contains_key(*key);
    let keys = said.keys().map(String::as_str);
    for key in keys.chain(["required"].into_iter().filter(unsaid)) {
        if key == "properties" {
            continue;
        }
        if node.get(key) != definition.get(key) {
            // Rules of both hold.
            if let (RULES, Some(Value::Array(rules))) = (key, node.get_mut(key)) {
                rules.extend(said[key].as_array().into_iter().flatten().cloned());
            }
            continue;
        }
        match said.get(key) {
            Some(Value::Null) | None => node.remove(key),
            Some(value) => node.insert(key.to_owned(), value.clone()),
        };
    }
    let known = definition.get("properties");
    let Some(properties) = node.get_mut("properties").and_then(Value::as_object_mut) else {
        return;
    };
    let of_properties = said.get("properties");
    // What names a type, or says that there is none, is the whole schema; of others, only what k8s-openapi lacks is kept.
    if said.contains_key("type") {
        let stays = |name: &str| of_properties.is_some_and(|said| said.get(name).is_some());
        let is_own = |name: &str| known.is_some_and(|known| known.get(name).is_some());
        properties.retain(|name, _| stays(name) || !is_own(name));
    }
    for (name, _) in entries(known) {
        // kube says so of each optional integer or string, and Go of nothing.
        if let Some(property) = properties.get_mut(name).and_then(Value::as_object_mut) {
            property.remove("nullable");
        }
    }
    for (name, said) in entries(of_properties) {
        if let Some(property) = properties.get_mut(name) {
            merge(said, property);
        }
    }
}

/// Sets each keyword of `said`, also in the schemas of items and of what a map holds.
fn merge(said: &Value, node: &mut Value) {
    let Some(node) = node.as_object_mut() else {
        return;
    };
    for (key, said) in entries(Some(said)) {
        match node.get_mut(key) {
            Some(node) if ["items", "additionalProperties"].contains(&key.as_str()) => {
                merge(said, node);
            }
            _ => {
                node.insert(key.clone(), said.clone());
            }
        }
    }
}

fn entries(value: Option<&Value>) -> impl Iterator<Item = (&String, &Value)> {
    value.and_then(Value::as_object).into_iter().flatten()
}
