//! What stands before a field or a type: doc comments and attributes.

use serde_json::Value;

use super::RULES;
use crate::{
    TYPE,
    attributes::Validation,
    doc, known, literal as source,
    meta::{self, Meta},
    name,
    schema::{Object, is_true, text},
};

/// The doc comment of a description.
pub(super) fn comment(schema: &Object, indent: usize) -> String {
    let description = text(schema, "description").unwrap_or_default();
    let lines = doc::prose(description).into_iter();
    let pad = " ".repeat(indent);
    lines.map(|line| format!("{pad}/// {line}\n")).collect()
}

/// What an attribute of schemars has to say about a field: limits, and keywords that it has no names for.
pub(super) fn said(schema: &Object) -> (Vec<Meta>, Vec<(String, Value)>) {
    let mut extend = Vec::new();
    let mut validation = Validation::default();
    let mut inner = Validation::default();
    for (keyword, value) in schema.iter().filter(|_| !is_known(schema)) {
        match keyword.as_str() {
            "format" if text(schema, "type") == Some("string") && value != "date-time" => {
                extend.push((keyword.clone(), value.clone()));
            }
            "x-kubernetes-preserve-unknown-fields" => extend.push((keyword.clone(), value.clone())),
            "items" => {
                let Some(items) = value.as_object().filter(|items| !is_known(items)) else {
                    continue;
                };
                if text(items, "type") == Some("string") && items.contains_key("format") {
                    extend.push((keyword.clone(), value.clone()));
                    continue;
                }
                for (keyword, value) in items {
                    inner.take(keyword, value, items);
                }
            }
            _ => _ = validation.take(keyword, value, schema),
        }
    }
    let mut metas = validation.metas();
    let inner = inner.metas();
    if !inner.is_empty() {
        metas.push(Meta::call("inner", inner));
    }
    (metas, extend)
}

/// Whether the schema is that of a type of Kubernetes.
fn is_known(schema: &Object) -> bool {
    // The type of durations is any string to schemars, so its pattern is said.
    text(schema, TYPE).is_some_and(|path| path.contains("::") && path != known::DURATION)
        || is_true(schema, "x-kubernetes-int-or-string")
        || text(schema, "format") == Some("date-time")
}

/// The attribute with the merge strategy of a field, if it has one.
pub(super) fn strategy(schema: &Object) -> String {
    let keys = schema.get("x-kubernetes-list-map-keys");
    let keys = keys.and_then(Value::as_array).into_iter().flatten();
    let keys = keys.filter_map(Value::as_str);
    let keys: Vec<_> = keys
        .map(|key| format!("{}.into()", source::string(key)))
        .collect();
    let strategy = match text(schema, "x-kubernetes-list-type") {
        Some("map") => format!("ListMerge::Map(vec![{}])", keys.join(", ")),
        Some("set") => "ListMerge::Set".to_owned(),
        Some(_) => "ListMerge::Atomic".to_owned(),
        None => return String::new(),
    };
    format!("    #[x_kube(merge_strategy = {strategy})]\n")
}

/// The attributes with the CEL rules of a type.
pub(super) fn rules_of_type(schema: &Object) -> String {
    rules(schema, 0, |rule| rule.get(TYPE).is_some())
}

/// The attributes with the CEL rules of a field, beside those of its type.
pub(super) fn rules_of_field(schema: &Object) -> String {
    rules(schema, 4, |rule| rule.get(TYPE).is_none())
}

fn rules(schema: &Object, indent: usize, wanted: impl Fn(&Value) -> bool) -> String {
    let rules = schema.get(RULES).and_then(Value::as_array);
    let pad = " ".repeat(indent);
    let attribute = |rule: &Value| {
        let [rule, message] = ["rule", "message"].map(|key| rule[key].as_str().unwrap_or_default());
        let (rule, message) = (source::string(rule), source::string(message));
        format!("{pad}#[x_kube(validation = Rule::new({rule}).message({message}))]\n")
    };
    let rules = rules.into_iter().flatten().filter(|rule| wanted(rule));
    rules.map(attribute).collect()
}

/// An enum of strings. Its default is that of the field.
pub(super) fn enum_(name: &str, schema: &Object) -> String {
    let variants = crate::types::variants(schema);
    let rule = name::rule(&variants);
    let default = schema.get("default").and_then(Value::as_str);
    let default = default.or(variants.first().map(|(_, value)| value.as_str()));
    let mut text = String::from(
        "#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]\n",
    );
    if let Some(rule) = rule {
        text.push_str(&format!("#[serde(rename_all = \"{rule}\")]\n"));
    }
    text.push_str(&format!("pub enum {name} {{\n"));
    for (variant, value) in &variants {
        if Some(value.as_str()) == default {
            text.push_str("    #[default]\n");
        }
        if rule.is_none() && variant != value {
            let rename = Meta::word(&format!("rename = {}", source::string(value)));
            let lines = meta::attribute("serde", vec![rename], 4);
            text.push_str(&(lines.join("\n") + "\n"));
        }
        text.push_str(&format!("    {variant},\n"));
    }
    text + "}\n"
}
