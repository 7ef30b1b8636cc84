//! Defaults, which have to be values of their own schema.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    JSONSchemaProps, JSONSchemaPropsOrBool,
};
use regex::Regex;
use serde_json::{Map, Value};

use super::{
    Refusals,
    node::{HEAD, is_true, items, type_of},
};

const DEFAULT: &str = "`#[serde(default = \"…\")]` with another value, or other limits in `#[schemars(range(min = …), length(max = …), …)]`";

/// Judges the defaults of a schema and below it.
pub(super) fn check(schema: &JSONSchemaProps, is_root: bool, refusals: &mut Refusals) {
    let is_resource = is_root || is_true(schema.x_kubernetes_embedded_resource);
    if let Some(default) = schema.default.as_ref().map(|default| &default.0) {
        if let Some(name) = unknown(default, Some(schema), false) {
            refusals.add(
                DEFAULT,
                format!("its default has the field `{name}`, which has no schema"),
            );
        } else if let Err(why) = valid(default, schema) {
            refusals.add(DEFAULT, format!("its default is `{default}`, {why}"));
        }
    }
    for (name, field) in schema.properties.iter().flatten() {
        // In metadata there is no default of ours.
        if !(is_resource && HEAD.contains(&name.as_str())) {
            refusals.field(name, |refusals| check(field, false, refusals));
        }
    }
    if let Some(items) = items(schema) {
        refusals.below("[]", |refusals| check(items, false, refusals));
    }
}

/// The first field that the API server would drop. `is_kept`: the list around it keeps unknown fields.
fn unknown(value: &Value, schema: Option<&JSONSchemaProps>, is_kept: bool) -> Option<String> {
    let keeps = schema.and_then(|schema| schema.x_kubernetes_preserve_unknown_fields);
    let is_kept = is_kept || is_true(keeps);
    match value {
        Value::Array(values) => {
            let items = schema.and_then(items);
            let mut values = values.iter();
            values.find_map(|value| unknown(value, items, is_kept))
        }
        Value::Object(fields) => fields.iter().find_map(|(name, value)| {
            let is_resource = schema.is_some_and(|it| is_true(it.x_kubernetes_embedded_resource));
            if is_resource && HEAD.contains(&name.as_str()) {
                return None;
            }
            let field = schema.and_then(|schema| schema.properties.as_ref()?.get(name));
            let values = schema.and_then(|schema| schema.additional_properties.as_ref());
            match (field, values) {
                (Some(field), _) => unknown(value, Some(field), false),
                (None, Some(JSONSchemaPropsOrBool::Schema(values))) => {
                    unknown(value, Some(values), false)
                }
                (None, Some(JSONSchemaPropsOrBool::Bool(_))) => unknown(value, None, false),
                (None, None) if is_kept => None,
                (None, None) => Some(name.clone()),
            }
        }),
        _ => None,
    }
}

/// Why a value is not one of the schema, to follow the value.
fn valid(value: &Value, schema: &JSONSchemaProps) -> Result<(), String> {
    let values = schema.enum_.as_deref().unwrap_or_default();
    let is_one = || values.is_empty() || values.iter().any(|one| equal(&one.0, value));
    if value.is_null() && (is_true(schema.nullable) || type_of(schema).is_none()) {
        // The API server takes no null beside an enum, even where null is one of the values.
        return match values {
            [] => Ok(()),
            _ => Err("which has an enum".to_owned()),
        };
    }
    let fits = match type_of(schema) {
        Some("integer") => is_whole(value),
        Some("number") => value.is_number(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        // An integer or a string, too: the API server takes any default for it.
        _ => true,
    };
    if !fits {
        let type_ = type_of(schema).unwrap_or_default();
        return Err(format!("which is not of type `{type_}`"));
    }
    if !is_one() {
        return Err("which is not one of the values of its enum".to_owned());
    }
    match value {
        Value::String(text) => valid_text(text, schema)?,
        Value::Number(number) => valid_number(number.as_f64().unwrap_or_default(), schema)?,
        Value::Array(values) => {
            within(values.len(), schema.min_items, schema.max_items, "items")?;
            let items = items(schema);
            let mut pairs = values.iter().filter_map(|value| Some((value, items?)));
            pairs.try_for_each(|(value, items)| valid(value, items))?;
        }
        Value::Object(fields) => valid_fields(fields, schema)?,
        _ => {}
    }
    let matching = |all: &Option<Vec<JSONSchemaProps>>| {
        let all = all.iter().flatten();
        all.filter(|branch| valid(value, branch).is_ok()).count()
    };
    let is_given =
        |all: &Option<Vec<JSONSchemaProps>>| all.as_ref().is_some_and(|all| !all.is_empty());
    for branch in schema.all_of.iter().flatten() {
        valid(value, branch)?;
    }
    if is_given(&schema.any_of) && matching(&schema.any_of) == 0 {
        return Err("which fits no branch of `anyOf`".to_owned());
    }
    if is_given(&schema.one_of) && matching(&schema.one_of) != 1 {
        return Err("which does not fit exactly one branch of `oneOf`".to_owned());
    }
    match schema.not.as_deref().map(|not| valid(value, not)) {
        Some(Ok(())) => Err("which fits what `not` excludes".to_owned()),
        _ => Ok(()),
    }
}

fn valid_text(text: &str, schema: &JSONSchemaProps) -> Result<(), String> {
    let length = text.chars().count();
    within(length, schema.min_length, schema.max_length, "characters")?;
    let pattern = schema
        .pattern
        .as_deref()
        .filter(|pattern| !pattern.is_empty());
    // Of other texts and with these, a pattern means something else in Rust than in Go, so the API server judges it alone.
    let odd = ["\\<", "\\>", "\\b{", "&&", "--", "~~"];
    let alike = |pattern: &&str| text.is_ascii() && !odd.iter().any(|odd| pattern.contains(odd));
    let pattern = pattern.filter(alike);
    match pattern.map(|pattern| (pattern, Regex::new(pattern))) {
        Some((pattern, Ok(compiled))) if !compiled.is_match(text) => {
            Err(format!("which does not match the pattern `{pattern}`"))
        }
        _ => Ok(()),
    }
}

fn valid_number(number: f64, schema: &JSONSchemaProps) -> Result<(), String> {
    // The API server cuts off the fraction of a bound, if the number is an integer.
    let bound = |bound: f64| match number.fract() == 0.0 {
        true => bound.trunc(),
        false => bound,
    };
    if let Some(least) = schema.minimum.map(bound) {
        let is_exclusive = is_true(schema.exclusive_minimum);
        if number < least || (is_exclusive && number <= least) {
            return Err(format!("which is below the minimum {least}"));
        }
    }
    if let Some(most) = schema.maximum.map(bound) {
        let is_exclusive = is_true(schema.exclusive_maximum);
        if number > most || (is_exclusive && number >= most) {
            return Err(format!("which is above the maximum {most}"));
        }
    }
    let is_multiple = |step: f64| (number / step - (number / step).round()).abs() < 1e-9;
    match schema.multiple_of.map(bound) {
        Some(step) if step > 0.0 && !is_multiple(step) => {
            Err(format!("which is not a multiple of {step}"))
        }
        _ => Ok(()),
    }
}

fn valid_fields(fields: &Map<String, Value>, schema: &JSONSchemaProps) -> Result<(), String> {
    within(
        fields.len(),
        schema.min_properties,
        schema.max_properties,
        "fields",
    )?;
    let required = schema.required.as_deref().unwrap_or_default();
    if let Some(name) = required.iter().find(|name| !fields.contains_key(*name)) {
        return Err(format!("which lacks the required field `{name}`"));
    }
    for (name, value) in fields {
        let field = schema.properties.as_ref().and_then(|all| all.get(name));
        match (field, &schema.additional_properties) {
            (Some(schema), _) => valid(value, schema)?,
            (None, Some(JSONSchemaPropsOrBool::Schema(schema))) => valid(value, schema)?,
            (None, Some(JSONSchemaPropsOrBool::Bool(false))) => {
                return Err(format!(
                    "which has the field `{name}`, and only some are allowed"
                ));
            }
            (None, _) => {}
        }
    }
    Ok(())
}

fn within(count: usize, least: Option<i64>, most: Option<i64>, what: &str) -> Result<(), String> {
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    match (least, most) {
        (Some(least), _) if count < least => Err(format!("which has fewer than {least} {what}")),
        (_, Some(most)) if count > most => Err(format!("which has more than {most} {what}")),
        _ => Ok(()),
    }
}

fn is_whole(value: &Value) -> bool {
    value.as_f64().is_some_and(|number| number.fract() == 0.0)
}

/// Whether two values are equal, where `1.0` is `1`.
fn equal(a: &Value, b: &Value) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => a == b,
        _ => a == b,
    }
}
