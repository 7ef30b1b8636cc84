//! What surrounds the CEL of validation rules.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    JSONSchemaProps, ValidationRule,
};

use super::{Refusals, fields};

const RULES: &str = "`#[x_kube(validation = Rule::new(\"self.min <= self.max\").message(\"…\").field_path(\".min\"))]`";

/// The reasons that an error may have.
const REASONS: [&str; 4] = [
    "FieldValueDuplicate",
    "FieldValueForbidden",
    "FieldValueInvalid",
    "FieldValueRequired",
];

pub(super) fn check(schema: &JSONSchemaProps, refusals: &mut Refusals) {
    for rule in schema.x_kubernetes_validations.iter().flatten() {
        if let Err(why) = check_rule(rule, schema) {
            let rule = &rule.rule;
            refusals.add(RULES, format!("the rule `{rule}` {why}"));
        }
    }
}

fn check_rule(rule: &ValidationRule, schema: &JSONSchemaProps) -> Result<(), String> {
    let wrong = |why: &str| Err(why.to_owned());
    let text = rule.rule.trim();
    let message = rule.message.as_deref().unwrap_or_default();
    if text.is_empty() {
        return wrong("is empty");
    }
    if !message.is_empty() && message.trim().is_empty() {
        return wrong("has a message of white space");
    }
    if has_lines(message.trim()) {
        return wrong("has a message of several lines");
    }
    if has_lines(text) && message.is_empty() {
        return wrong("has several lines and no message");
    }
    let expression = rule.message_expression.as_deref().unwrap_or_default();
    if !expression.is_empty() && expression.trim().is_empty() {
        return wrong("has a message expression of white space");
    }
    if let Some(reason) = rule
        .reason
        .as_deref()
        .filter(|reason| !REASONS.contains(reason))
    {
        let reasons = REASONS.join(", ");
        return Err(format!(
            "has the reason `{reason}`, which is not one of {reasons}"
        ));
    }
    let path = rule.field_path.as_deref().unwrap_or_default();
    if !path.is_empty() && fields::at(schema, path).is_none() {
        return Err(format!("names the field `{path}`, which is not there"));
    }
    Ok(())
}

fn has_lines(text: &str) -> bool {
    text.contains(['\n', '\r'])
}
