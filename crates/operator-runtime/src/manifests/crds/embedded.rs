//! Completes the schemas of Kubernetes' own types with those of controller-gen.
//!
//! k8s-openapi is generated from Kubernetes' published OpenAPI, which lacks the markers of the Go types:
//! list map keys, defaults, patterns. A project type that embeds a `PodTemplateSpec` therefore gets the
//! schema that controller-gen writes for the same type in Go. `crds/types.json` contains these schemas by
//! definition name; `make schemas` writes the file.
//!
//! kube inlines every type, so its schema has no type names. A second schema with names is generated from
//! the same Rust type, only to find the place of each Kubernetes type in kube's schema. Everything else in
//! the CRD stays as kube generates it.

use std::collections::BTreeMap;

use k8s_openapi::schemars::{JsonSchema, Schema};
use serde_json::{Map, Value};

use super::owners::outline;

/// Schemas by definition name, and then by the first and last Kubernetes version that they apply to.
const TYPES: &str = include_str!("types.json");

k8s_openapi::k8s_if_1_33! { const MINOR: u32 = 33; }
k8s_openapi::k8s_if_1_34! { const MINOR: u32 = 34; }
k8s_openapi::k8s_if_1_35! { const MINOR: u32 = 35; }
k8s_openapi::k8s_if_1_36! { const MINOR: u32 = 36; }
k8s_openapi::k8s_if_1_37! { const MINOR: u32 = 37; }

/// The keywords whose schemas describe the value itself.
const COMBINATORS: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// The keyword for CEL rules.
const RULES: &str = "x-kubernetes-validations";

type Object = Map<String, Value>;

/// controller-gen's schemas by definition name.
pub(super) struct Types(BTreeMap<String, Object>);

impl Types {
    /// Loads the schemas for the Kubernetes version that k8s-openapi is compiled for.
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

    /// Completes `schema`, which kube generated for `K`, with controller-gen's schemas of Kubernetes'
    /// types, and cuts the descriptions of these types to `length` characters.
    pub(super) fn complete<K: JsonSchema>(&self, schema: &mut Value, length: Option<usize>) {
        let outline = outline::<K>();
        Outline {
            types: self,
            root: &outline,
            length,
        }
        .complete(outline.as_value(), schema);
    }
}

/// Whether a range such as `33-36` contains the version of this build.
fn holds(run: &str) -> bool {
    let bounds = run.split_once('-');
    let parsed = bounds.and_then(|(a, b)| Some(a.parse().ok()?..=b.parse().ok()?));
    parsed.is_some_and(|run: std::ops::RangeInclusive<u32>| run.contains(&MINOR))
}

/// The schema of a type, with references to named types.
struct Outline<'a> {
    types: &'a Types,
    root: &'a Schema,
    /// The longest description of a Kubernetes type.
    length: Option<usize>,
}

impl Outline<'_> {
    /// `outline` and `node` describe the same value: with type names, and as kube generated it.
    fn complete(&self, outline: &Value, node: &mut Value) {
        if let Some(reference) = outline.get("$ref").and_then(Value::as_str)
            && let Some(definition) = self.root.pointer(reference)
        {
            self.complete(definition, node);
            let name = reference.rsplit('/').next().unwrap_or_default();
            if let Some(go) = self.types.0.get(name) {
                lay_over(go, definition, node);
            }
            if let Some(length) = self.length.filter(|_| name.starts_with("io.k8s.")) {
                shorten_type(definition, node, length);
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
                    // kube has merged the schema of a type with `null`.
                    None => self.complete(outline, node),
                }
            }
        }
    }

    /// The variant of an enum: kube has moved its properties to the schema of the enum, and left only the
    /// required fields.
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

/// Merges controller-gen's schema of a type into `node`, a schema of that type. `definition` is
/// k8s-openapi's schema: where `node` differs from it, the user's field has set the keyword, and the
/// keyword stays.
fn lay_over(go: &Object, definition: &Value, node: &mut Value) {
    let Some(node) = node.as_object_mut() else {
        return;
    };
    let absent = |key: &&str| *key == "required" && !go.contains_key(*key);
    let keys = go.keys().map(String::as_str);
    for key in keys.chain(["required"].into_iter().filter(absent)) {
        if key == "properties" {
            continue;
        }
        if node.get(key) != definition.get(key) {
            // CEL rules of both apply.
            if let (RULES, Some(Value::Array(rules))) = (key, node.get_mut(key)) {
                rules.extend(go[key].as_array().into_iter().flatten().cloned());
            }
            continue;
        }
        match go.get(key) {
            Some(Value::Null) | None => node.remove(key),
            Some(value) => node.insert(key.to_owned(), value.clone()),
        };
    }
    let known = definition.get("properties");
    let Some(properties) = node.get_mut("properties").and_then(Value::as_object_mut) else {
        return;
    };
    let of_properties = go.get("properties");
    // A schema with a type, or explicitly without one, replaces the whole schema; of others, only the
    // keywords that k8s-openapi lacks are added.
    if go.contains_key("type") {
        let stays = |name: &str| of_properties.is_some_and(|go| go.get(name).is_some());
        let is_own = |name: &str| known.is_some_and(|known| known.get(name).is_some());
        properties.retain(|name, _| stays(name) || !is_own(name));
    }
    for (name, _) in entries(known) {
        // kube sets it on each optional integer or string, Go never does.
        if let Some(property) = properties.get_mut(name).and_then(Value::as_object_mut) {
            property.remove("nullable");
        }
    }
    for (name, go) in entries(of_properties) {
        if let Some(property) = properties.get_mut(name) {
            merge(go, property);
        }
    }
}

/// Cuts the descriptions of a Kubernetes type and of its fields. That of the user's own field stays.
fn shorten_type(definition: &Value, node: &mut Value, length: usize) {
    if node.get("description") == definition.get("description") {
        shorten(node, length);
    }
    let fields = node.get_mut("properties").and_then(Value::as_object_mut);
    fields
        .into_iter()
        .flatten()
        .for_each(|(_, field)| shorten(field, length));
}

fn shorten(schema: &mut Value, length: usize) {
    let Some(schema) = schema.as_object_mut() else {
        return;
    };
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = shortened(text, length);
        if text.is_empty() {
            schema.remove("description");
        }
    }
}

/// The first sentences of a text that are no longer than `length` characters, or else its first words.
fn shortened(text: &str, length: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(length) else {
        return text.to_owned();
    };
    let start = &text[..end];
    if let Some(end) = start.rfind(". ") {
        return start[..=end].to_owned();
    }
    let words = start.rsplit_once(char::is_whitespace);
    words.map_or_else(String::new, |(words, _)| format!("{}…", words.trim_end()))
}

/// Sets each keyword of `go`, also in the schemas of list items and map values.
fn merge(go: &Value, node: &mut Value) {
    let Some(node) = node.as_object_mut() else {
        return;
    };
    for (key, go) in entries(Some(go)) {
        match node.get_mut(key) {
            Some(node) if ["items", "additionalProperties"].contains(&key.as_str()) => {
                merge(go, node);
            }
            _ => {
                node.insert(key.clone(), go.clone());
            }
        }
    }
}

fn entries(value: Option<&Value>) -> impl Iterator<Item = (&String, &Value)> {
    value.and_then(Value::as_object).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_is_cut_after_a_sentence_or_a_word() {
        let check = |text, length, expected| assert_eq!(shortened(text, length), expected);
        check("Short.", 6, "Short.");
        check("One. Two. Three.", 12, "One. Two.");
        check("One word after another", 12, "One word…");
        check("Größe und Länge", 8, "Größe…");
        check("Unbreakable", 4, "");
        check("One. Two.", 0, "");
    }
}
