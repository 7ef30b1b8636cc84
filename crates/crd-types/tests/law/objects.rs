//! Objects made from a schema: valid ones, and ones that break a keyword.

use std::collections::BTreeMap;

use proptest::{
    strategy::{Strategy as _, ValueTree as _},
    string::string_regex,
    test_runner::TestRunner,
};
use serde_json::{Map, Value, json};

/// How often each keyword is tried in a version.
const TRIES: usize = 6;

/// How many schemas of a version get an object that has them.
const PLACES: usize = 60;

/// An object, and what is special about it.
pub struct Case {
    pub what: String,
    pub object: Value,
}

/// A step from a schema to one inside of it.
#[derive(Clone, Debug)]
enum Step {
    Property(String),
    Item,
    Value,
}

/// The objects for a version of a definition.
pub fn cases(definition: &Value, version: &Value) -> Vec<Case> {
    let root = &version["schema"]["openAPIV3Schema"];
    let mut places = Vec::new();
    for (name, schema) in entries(&root["properties"]) {
        if !["apiVersion", "kind", "metadata"].contains(&name.as_str()) {
            collect(schema, &mut vec![Step::Property(name.clone())], &mut places);
        }
    }
    let whole = |what: String, mut object: Value| {
        let group = definition["spec"]["group"].as_str().unwrap_or_default();
        let version = version["name"].as_str().unwrap_or_default();
        object["apiVersion"] = format!("{group}/{version}").into();
        object["kind"] = definition["spec"]["names"]["kind"].clone();
        object["metadata"] = json!({ "name": "a" });
        if definition["spec"]["scope"] == "Namespaced" {
            object["metadata"]["namespace"] = "default".into();
        }
        Case { what, object }
    };
    let mut cases = vec![
        whole("the least".to_owned(), value(root, false)),
        whole("everything".to_owned(), value(root, true)),
        whole("only a name".to_owned(), json!({})),
    ];
    let spec = [Step::Property("spec".to_owned())];
    if root["properties"]["spec"].is_object() {
        let least = value(&root["properties"]["spec"], false);
        cases.push(whole("a spec".to_owned(), with(root, &spec, least)));
    }
    for (path, schema) in spread(&places, PLACES) {
        let object = with(root, path, value(schema, false));
        cases.push(whole(format!("with {path:?}"), object));
    }
    let mut broken: BTreeMap<&str, Vec<(&[Step], Value)>> = BTreeMap::new();
    for (path, schema) in &places {
        for (keyword, value) in broken_values(schema) {
            broken.entry(keyword).or_default().push((path, value));
        }
    }
    for (keyword, values) in broken {
        for (path, value) in spread(&values, TRIES) {
            let object = with(root, path, value.clone());
            cases.push(whole(format!("{keyword} of {path:?}"), object));
        }
    }
    cases
}

/// At most `most` of the values, from everywhere in the list.
fn spread<T>(values: &[T], most: usize) -> impl Iterator<Item = &T> {
    values.iter().step_by(values.len().div_ceil(most).max(1))
}

fn collect<'a>(schema: &'a Value, path: &mut Vec<Step>, places: &mut Vec<(Vec<Step>, &'a Value)>) {
    places.push((path.clone(), schema));
    let properties =
        entries(&schema["properties"]).map(|(name, it)| (Step::Property(name.clone()), it));
    let inner = [
        (Step::Item, &schema["items"]),
        (Step::Value, &schema["additionalProperties"]),
    ];
    for (step, schema) in properties.chain(inner) {
        if schema.is_object() {
            path.push(step);
            collect(schema, path, places);
            path.pop();
        }
    }
}

fn entries(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

/// The least value of a schema that has `leaf` at the path.
fn with(schema: &Value, path: &[Step], leaf: Value) -> Value {
    let Some((step, path)) = path.split_first() else {
        return leaf;
    };
    match step {
        Step::Property(name) => {
            let mut object = match value(schema, false) {
                Value::Object(object) => object,
                _ => Map::new(),
            };
            object.insert(name.clone(), with(&schema["properties"][name], path, leaf));
            object.into()
        }
        Step::Item => json!([with(&schema["items"], path, leaf)]),
        Step::Value => json!({ "key": with(&schema["additionalProperties"], path, leaf) }),
    }
}

/// A value that a schema accepts, as far as one can tell without CEL: the least one, or one with every property.
fn value(schema: &Value, every: bool) -> Value {
    if !schema["default"].is_null() && !every {
        return schema["default"].clone();
    }
    if let Some(first) = schema["enum"].as_array().and_then(|values| values.first()) {
        return first.clone();
    }
    let number = |keyword: &str| schema[keyword].as_u64().unwrap_or_default();
    match schema["type"].as_str() {
        Some("boolean") => json!(true),
        Some("integer" | "number") => of_number(schema),
        Some("string") => of_string(schema).into(),
        Some("array") => {
            let count = number("minItems").clamp(u64::from(every), 8);
            (0..count).map(|_| value(&schema["items"], every)).collect()
        }
        Some("object") => {
            let required = schema["required"].as_array();
            let is_required =
                |name: &String| required.is_some_and(|names| names.iter().any(|it| it == name));
            let mut object = Map::new();
            for (name, property) in entries(&schema["properties"]) {
                if every || is_required(name) {
                    object.insert(name.clone(), value(property, every));
                }
            }
            let values = &schema["additionalProperties"];
            let more = number("minProperties").clamp(u64::from(every), 8);
            if values.is_object() {
                object.extend((0..more).map(|index| (format!("key{index}"), value(values, every))));
            }
            if schema["x-kubernetes-embedded-resource"] == true {
                object.insert("apiVersion".to_owned(), "v1".into());
                object.insert("kind".to_owned(), "ConfigMap".into());
            }
            object.into()
        }
        // A quantity: Go writes a number back as a string, and so does Rust.
        _ if schema["pattern"].is_string() => of_string(schema).into(),
        _ if schema["x-kubernetes-int-or-string"] == true => json!(1),
        _ => json!({ "any": 1 }),
    }
}

fn of_number(schema: &Value) -> Value {
    let step = schema["multipleOf"].as_f64().unwrap_or(1.0);
    let bound = |keyword: &str, exclusive: &str, step: f64| {
        let is_exclusive = schema[exclusive] == true;
        schema[keyword]
            .as_f64()
            .map(|bound| if is_exclusive { bound + step } else { bound })
    };
    let least = bound("minimum", "exclusiveMinimum", step);
    let most = bound("maximum", "exclusiveMaximum", -step);
    let number = least.unwrap_or(step.min(most.unwrap_or(step)));
    match number.fract() == 0.0 {
        true => json!(number as i64),
        false => json!(number),
    }
}

fn of_string(schema: &Value) -> String {
    let formatted = match schema["format"].as_str().unwrap_or_default() {
        "date-time" => "2026-01-01T00:00:00Z",
        "date" => "2026-01-01",
        "duration" => "1h",
        "byte" => "YQ==",
        "ipv4" | "ip" => "10.0.0.1",
        "ipv6" => "::1",
        "cidr" => "10.0.0.0/8",
        "uri" => "https://example.com",
        "email" => "a@example.com",
        "uuid" => "123e4567-e89b-42d3-a456-426614174000",
        _ => "",
    };
    if !formatted.is_empty() {
        return formatted.to_owned();
    }
    let length = |keyword: &str| schema[keyword].as_u64().map(|length| length as usize);
    let matched = schema["pattern"].as_str().and_then(matching);
    let mut text = matched.unwrap_or_else(|| "a".to_owned());
    while text.len() < length("minLength").unwrap_or_default().min(300) {
        text.push('a');
    }
    text.chars()
        .take(length("maxLength").unwrap_or(usize::MAX))
        .collect()
}

/// A string that matches a pattern, always the same.
fn matching(pattern: &str) -> Option<String> {
    let inner = pattern.strip_prefix('^').unwrap_or(pattern);
    let inner = inner.strip_suffix('$').unwrap_or(inner);
    let mut runner = TestRunner::deterministic();
    let strategy = string_regex(inner).ok()?;
    Some(strategy.new_tree(&mut runner).ok()?.current())
}

/// Values that break a keyword of a schema, or show what it does.
fn broken_values(schema: &Value) -> Vec<(&'static str, Value)> {
    let mut broken = Vec::new();
    let bound = |keyword: &str| schema[keyword].as_f64();
    let count = |keyword: &str, most: u64| schema[keyword].as_u64().filter(|it| *it <= most);
    if schema["type"].is_string() {
        let wrong = match schema["type"] == "object" {
            true => json!("wrong"),
            false => json!({ "wrong": true }),
        };
        broken.push(("type", wrong));
    } else {
        broken.push(("no type", json!([true])));
        broken.push(("no type, a string", json!("any")));
    }
    broken.push(("null", Value::Null));
    if schema["enum"].is_array() {
        broken.push(("enum", json!("not one of them")));
    }
    if let Some(bound) = bound("minimum") {
        broken.push(("minimum", json!(bound as i64 - 1)));
        broken.push(("at minimum", json!(bound as i64)));
    }
    if let Some(bound) = bound("maximum") {
        broken.push(("maximum", json!((bound as i64).saturating_add(1))));
        broken.push(("at maximum", json!(bound as i64)));
    }
    if let Some(step) = bound("multipleOf") {
        broken.push(("multipleOf", json!(step as i64 + 1)));
    }
    if count("minLength", 9_999).is_some() {
        broken.push(("minLength", json!("")));
    }
    if let Some(length) = count("maxLength", 9_999) {
        broken.push(("maxLength", "a".repeat(length as usize + 1).into()));
    }
    if schema["pattern"].is_string() {
        broken.push(("pattern", json!("\u{7f}\n\u{7f}")));
    }
    if schema["format"].is_string() {
        broken.push(("format", json!("no such format")));
    }
    let items =
        |count: u64| -> Value { (0..count).map(|_| value(&schema["items"], false)).collect() };
    if count("minItems", 9_999).is_some() {
        broken.push(("minItems", json!([])));
    }
    if let Some(most) = count("maxItems", 200) {
        broken.push(("maxItems", items(most + 1)));
    }
    if schema["type"] == "array" {
        broken.push(("equal items", items(2)));
        broken.push(("a null item", json!([null])));
    }
    if schema["type"] == "object" {
        let least = value(schema, false);
        for name in schema["required"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
        {
            let mut without = least.clone();
            without.as_object_mut().map(|object| object.remove(name));
            broken.push(("required", without));
        }
        let mut unknown = least.clone();
        unknown["unknown"] = json!({ "a": [1, null] });
        broken.push(("an unknown field", unknown));
        broken.push(("no properties", json!({})));
        if let Some(most) = count("maxProperties", 200) {
            let keys = (0..=most).map(|index| {
                (
                    format!("k{index}"),
                    value(&schema["additionalProperties"], false),
                )
            });
            broken.push(("maxProperties", keys.collect::<Map<_, _>>().into()));
        }
        if schema["x-kubernetes-embedded-resource"] == true {
            broken.push(("embedded-resource", json!({ "metadata": { "name": 1 } })));
        }
    }
    for keyword in ["allOf", "anyOf", "oneOf", "not", "x-kubernetes-validations"] {
        if schema[keyword].is_object() || schema[keyword].is_array() {
            broken.push((keyword_of(keyword), value(schema, true)));
        }
    }
    broken
}

fn keyword_of(keyword: &str) -> &'static str {
    match keyword {
        "x-kubernetes-validations" => "CEL",
        _ => "alternatives",
    }
}

/// Whether an object that passed through its types is what it was, but for what Go's types do not see either: the
/// differences of null and nothing, of 1 and 1.0, and of no `spec` and a default one.
pub fn is_same(object: &Value, passed: &Value) -> bool {
    let (object, mut passed) = (normal(object), normal(passed));
    if object.get("spec").is_none()
        && let Some(passed) = passed.as_object_mut()
    {
        passed.remove("spec");
    }
    object == passed
}

fn normal(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields.iter().filter(|(_, value)| !value.is_null());
            let fields = fields.map(|(name, value)| (name.clone(), normal(value)));
            fields.collect::<Map<_, _>>().into()
        }
        Value::Array(values) => values.iter().map(normal).collect(),
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() && float.fract() == 0.0 => json!(float as i64),
            _ => value.clone(),
        },
        _ => value.clone(),
    }
}
