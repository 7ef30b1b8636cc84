//! What surrounds the CEL of validation rules. The CEL itself is compiled by the API server alone.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    JSONSchemaProps, ValidationRule,
};

use super::{Refusals, fields, node::Around};

const RULES: &str = "`#[x_kube(validation = Rule::new(\"self.min <= self.max\").message(\"…\").field_path(\".min\"))]`";

/// The reasons that an error may have.
const REASONS: [&str; 4] = [
    "FieldValueDuplicate",
    "FieldValueForbidden",
    "FieldValueInvalid",
    "FieldValueRequired",
];

pub(super) fn check(schema: &JSONSchemaProps, around: Around, refusals: &mut Refusals) {
    for rule in schema.x_kubernetes_validations.iter().flatten() {
        if let Err(why) = check_rule(rule, schema, around) {
            let rule = &rule.rule;
            refusals.add(RULES, format!("the rule `{rule}` {why}"));
        }
    }
}

fn check_rule(
    rule: &ValidationRule,
    schema: &JSONSchemaProps,
    around: Around,
) -> Result<(), String> {
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
    match uses_old(text) {
        true if !around.has_old => wrong(
            "uses `oldSelf` in a list, whose items the API server cannot find again: it is not a list of type `map`",
        ),
        false if rule.optional_old_self.is_some() => {
            wrong("says how it uses `oldSelf`, and does not use it")
        }
        _ => Ok(()),
    }
}

fn has_lines(text: &str) -> bool {
    text.contains(['\n', '\r'])
}

/// Whether a CEL expression uses the variable `oldSelf`, and not a field of that name.
fn uses_old(rule: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    let code = without_texts(rule);
    let mut names = code.split(|c| !is_name(c));
    names.any(|name| name == "oldSelf" || name.starts_with("oldSelf."))
}

/// A CEL expression without its comments, and with its strings left empty.
fn without_texts(rule: &str) -> String {
    let mut code = String::new();
    let mut characters = rule.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '/' if characters.peek() == Some(&'/') => {
                characters.by_ref().find(|c| *c == '\n');
                code.push('\n');
            }
            '"' | '\'' => {
                code.push(c);
                while let Some(inside) = characters.next() {
                    match inside {
                        '\\' => drop(characters.next()),
                        end if end == c => break,
                        _ => {}
                    }
                }
            }
            c => code.push(c),
        }
    }
    code
}
