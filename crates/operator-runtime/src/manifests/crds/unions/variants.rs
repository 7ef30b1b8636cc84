//! Merges the variants of an enum into one schema, which accepts what any of them accepts.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{
    super::{structural::KEEPS, validation::escape},
    entries, is_null,
};

/// Merges `variants` into the schema that has them: the fields of all objects, an integer or a text, or else any value.
///
/// A field with a text of its own in each variant, such as that of `#[serde(tag = "type")]`, has an enum of these texts. What only
/// some variants require, a CEL rule requires for their texts.
pub(super) fn merge(schema: &mut Map<String, Value>, variants: &[Value]) {
    if variants.iter().any(is_null) {
        schema.insert("nullable".to_owned(), json!(true));
    }
    let variants: Vec<_> = variants.iter().filter(|it| !is_null(it)).collect();
    let are_objects = variants.iter().all(|it| {
        it["type"] == "object"
            && ["allOf", "anyOf", "oneOf"]
                .iter()
                .all(|key| it.get(key).is_none())
    });
    if are_objects {
        return merge_objects(schema, &variants);
    }
    schema.retain(|key, _| ["description", "nullable"].contains(&key.as_str()));
    let key = match variants.iter().all(|it| is_int_or_string(it)) {
        true => "x-kubernetes-int-or-string",
        false => KEEPS,
    };
    schema.insert(key.to_owned(), json!(true));
}

fn merge_objects(schema: &mut Map<String, Value>, variants: &[&Value]) {
    let mut fields = Map::new();
    let own = schema.get("properties").unwrap_or(&Value::Null);
    let all = variants.iter().flat_map(|it| entries(&it["properties"]));
    for (name, field) in entries(own).chain(all) {
        let merged = match fields.remove(name) {
            Some(before) => common(before, field),
            None => field.clone(),
        };
        fields.insert(name.clone(), merged);
    }
    for (name, field) in &mut fields {
        let is_in = |schema: &Value| schema.get(name).is_some();
        let is_shared = is_in(own) || variants.iter().all(|it| is_in(&it["properties"]));
        // The API server would set it in the other variants, too.
        if !is_shared && let Some(field) = field.as_object_mut() {
            field.remove("default");
        }
    }
    if variants.iter().any(|it| keeps_others(it)) {
        schema.insert(KEEPS.to_owned(), json!(true));
    }
    let needed: Vec<BTreeSet<&str>> = variants
        .iter()
        .map(|it| required(&it["required"]))
        .collect();
    let mut always = needed.first().cloned().unwrap_or_default();
    always.retain(|name| needed.iter().all(|it| it.contains(name)));

    let tag = always.iter().find(|name| is_tag(name, variants));
    let rules = tag.into_iter().flat_map(|tag| {
        let fields = &fields;
        let always = &always;
        needed
            .iter()
            .zip(variants)
            .filter_map(move |(needed, variant)| {
                let text = texts(&variant["properties"][tag])?[0];
                let only = needed.difference(always).copied();
                rule(tag, text, only.filter(|name| is_known(&fields[*name])))
            })
    });
    let rules: Vec<_> = rules.collect();

    let own = schema.get("required").map(required).unwrap_or_default();
    let required: BTreeSet<String> = own.union(&always).map(ToString::to_string).collect();
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Value::Object(fields));
    if !rules.is_empty() {
        let all = schema
            .entry("x-kubernetes-validations")
            .or_insert(json!([]));
        if let Some(all) = all.as_array_mut() {
            all.extend(rules);
        }
    }
}

/// A schema for what either takes.
fn common(a: Value, b: &Value) -> Value {
    let plain = |schema: &Value| {
        let fields = entries(schema).filter(|(key, _)| *key != "description");
        fields
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect::<Map<_, _>>()
    };
    if plain(&a) == plain(b) {
        return a;
    }
    let mut both = match (texts(&a), texts(b)) {
        (Some(first), Some(second)) => {
            let second: Vec<_> = second
                .into_iter()
                .filter(|it| !first.contains(it))
                .collect();
            let texts = [first, second].concat();
            json!({ "type": "string", "enum": texts })
        }
        _ if is_int_or_string(&a) && is_int_or_string(b) => {
            json!({ "x-kubernetes-int-or-string": true })
        }
        _ => json!({ KEEPS: true }),
    };
    if let Some(description) = a.get("description") {
        both["description"] = description.clone();
    }
    both
}

/// The only texts that a schema takes.
fn texts(schema: &Value) -> Option<Vec<&str>> {
    if schema["type"] != "string" {
        return None;
    }
    match (&schema["const"], &schema["enum"]) {
        (Value::String(text), _) => Some(vec![text]),
        (_, Value::Array(texts)) => texts.iter().map(Value::as_str).collect(),
        _ => None,
    }
}

fn is_int_or_string(schema: &Value) -> bool {
    let type_ = &schema["type"];
    type_ == "integer" || type_ == "string" || schema["x-kubernetes-int-or-string"] == true
}

/// Whether a CEL rule can name a field with this schema.
fn is_known(schema: &Value) -> bool {
    schema.get("type").is_some() || is_int_or_string(schema)
}

fn keeps_others(variant: &Value) -> bool {
    let others = &variant["additionalProperties"];
    variant[KEEPS] == true || *others == Value::Bool(true) || others.is_object()
}

fn required(required: &Value) -> BTreeSet<&str> {
    let names = required.as_array().into_iter().flatten();
    names.filter_map(Value::as_str).collect()
}

/// Whether each variant has another text in this field.
fn is_tag(name: &str, variants: &[&Value]) -> bool {
    let mut seen = BTreeSet::new();
    variants
        .iter()
        .all(|it| match texts(&it["properties"][name]).as_deref() {
            Some([text]) => seen.insert(text.to_string()),
            _ => false,
        })
}

/// The rule that a variant has those of its fields that a rule can name.
fn rule<'a>(tag: &str, text: &str, fields: impl Iterator<Item = &'a str>) -> Option<Value> {
    let escaped_tag = escape(tag)?;
    let fields = fields.filter_map(|name| Some((name, escape(name)?)));
    let (fields, escaped): (Vec<_>, Vec<_>) = fields.unzip();
    if fields.is_empty() {
        return None;
    }
    let has: Vec<_> = escaped
        .iter()
        .map(|name| format!("has(self.{name})"))
        .collect();
    let rule = format!(
        "self.{escaped_tag} != {} || {}",
        Value::from(text),
        has.join(" && ")
    );
    Some(json!({ "rule": rule, "message": format!("{tag} {text} needs {}", fields.join(", ")) }))
}
