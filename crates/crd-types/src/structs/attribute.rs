//! What stands before a field or a type: doc comments and attributes.

use serde_json::Value;

use crate::{
    attributes::Validation,
    chosen::{Field, Structure},
    doc, literal as source,
    meta::{self, Meta},
    schema::text,
};

/// The keyword for rules in CEL.
const RULES: &str = "x-kubernetes-validations";

/// The doc comment of a description.
pub(super) fn comment(description: Option<&str>, indent: usize) -> Vec<String> {
    let lines = doc::prose(description.unwrap_or_default()).into_iter();
    let pad = " ".repeat(indent);
    lines.map(|line| format!("{pad}/// {line}")).collect()
}

/// What an attribute of schemars has to say about a field: limits, and keywords that it has no names for.
pub(super) fn schemars(field: &Field) -> (Vec<Meta>, Vec<(String, Value)>) {
    let schema = field.schema();
    let mut extend = Vec::new();
    let (mut validation, mut inner) = (Validation::default(), Validation::default());
    for (keyword, value) in &field.keywords {
        match (keyword.as_str(), value) {
            ("format" | "x-kubernetes-preserve-unknown-fields", _) => {
                extend.push((keyword.clone(), value.clone()));
            }
            ("items", Value::Object(items)) if items.contains_key("format") => {
                extend.push((keyword.clone(), schema[keyword].clone()));
            }
            ("items", Value::Object(items)) => {
                for (keyword, value) in items {
                    inner.take(keyword, value, schema["items"].as_object().unwrap_or(items));
                }
            }
            _ => _ = validation.take(keyword, value, &schema),
        }
    }
    let mut metas = validation.metas();
    let inner = inner.metas();
    if !inner.is_empty() {
        metas.push(Meta::call("inner", inner));
    }
    (metas, extend)
}

/// The attribute with the merge strategy of a field, if it has one.
pub(super) fn strategy(field: &Field) -> Vec<String> {
    let keys = field.keywords.get("x-kubernetes-list-map-keys");
    let keys = keys.and_then(Value::as_array).into_iter().flatten();
    let keys = keys.filter_map(Value::as_str);
    let keys: Vec<_> = keys
        .map(|key| format!("{}.into()", source::string(key)))
        .collect();
    let strategy = match text(&field.keywords, "x-kubernetes-list-type") {
        Some("map") => format!("ListMerge::Map(vec![{}])", keys.join(", ")),
        Some("set") => "ListMerge::Set".to_owned(),
        Some(_) => "ListMerge::Atomic".to_owned(),
        None => return Vec::new(),
    };
    vec![format!("    #[x_kube(merge_strategy = {strategy})]")]
}

/// The attributes with the CEL rules of a type.
pub(super) fn rules_of_type(structure: &Structure) -> String {
    let rules = structure.rules.iter();
    rules.map(|it| format!("{}\n", rule(it))).collect()
}

/// The attributes with the CEL rules of a field, beside those of its type.
pub(super) fn rules_of_field(field: &Field) -> Vec<String> {
    let rules = field.keywords.get(RULES).and_then(Value::as_array);
    let rules = rules.into_iter().flatten();
    rules.map(|it| format!("    {}", rule(it))).collect()
}

fn rule(rule: &Value) -> String {
    let [rule, message] = ["rule", "message"].map(|key| rule[key].as_str().unwrap_or_default());
    let (rule, message) = (source::string(rule), source::string(message));
    format!("#[x_kube(validation = Rule::new({rule}).message({message}))]")
}

/// An enum of texts. Its default is that of the field.
pub(super) fn enum_(name: &str, values: &[String], default: Option<&str>) -> String {
    let values = values.iter().map(String::as_str);
    let variants = crate::types::variants(values);
    let default = default.or(variants.first().map(|(_, value)| value.as_str()));
    let mut text = String::from(
        "#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]\n",
    );
    let (rule, lines) = meta::variants(&variants, default);
    text.extend(rule.map(|rule| rule + "\n"));
    text.push_str(&format!("pub enum {name} {{\n"));
    text.extend(lines.into_iter().map(|line| line + "\n"));
    text + "}\n"
}
