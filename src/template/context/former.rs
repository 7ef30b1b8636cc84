//! The variables of the templates for kinds that the project takes over from a Helm or Ansible operator: what that one did beyond the
//! chart, role or playbook.

use std::collections::BTreeMap;

use serde_json::json;

use super::Subject;

/// The widest line, and the widest arguments of a call on one line, as rustfmt has them.
const MAX_WIDTH: usize = 100;
const MAX_ARGUMENTS: usize = 60;

/// The function that the templates define where a value comes from the environment.
const VARIABLE: &str = "env_or_empty";

/// What the operator before this one did with the objects of a kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Former {
    /// The label selector of the objects that it saw, if it did not see all.
    pub selector: Option<String>,
    /// Labels that it selects.
    pub labels: BTreeMap<String, String>,
    /// The values that it set: the path of each, and the text.
    pub values: Vec<(String, Vec<Part>)>,
    /// The body of the function that makes the `Automation` of a role or playbook; `None` for a chart.
    pub automation: Option<String>,
}

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// As it is.
    Text(String),
    /// What an environment variable has; nothing if it is not set.
    Variable(String),
}

/// The subject of a kind whose objects `former` had.
pub fn taken_over(subject: &Subject, former: &Former) -> Subject {
    let mut subject = subject.clone();
    let values: String = former
        .values
        .iter()
        .map(|(path, parts)| statement(path, parts))
        .collect();
    let parts = former.values.iter().flat_map(|(_, parts)| parts);
    let has_variables = parts.clone().any(|it| matches!(it, Part::Variable(_)));
    let of_former = json!({
        // The selector as a literal of Rust; null without one.
        "selector": former.selector.as_ref().map(|it| literal(it)),
        // Labels that it selects.
        "labels": former.labels.iter().map(|(key, value)| json!({ "key": key, "value": value })).collect::<Vec<_>>(),
        // The statements that set the values; empty without any.
        "statements": values,
        "has_variables": has_variables,
        // The body of the function that makes the `Automation` of a role or playbook, and which names it needs.
        "automation": former.automation,
        "has_finalizer": has(former, "Finalizer::"),
        "has_json": has(former, "json!("),
        "has_duration": has(former, "Duration::"),
    });
    subject.value["former"] = of_former;
    subject
}

/// Whether the function of a role or playbook has a text.
fn has(former: &Former, text: &str) -> bool {
    let body = former.automation.as_ref();
    body.is_some_and(|body| body.contains(text))
}

fn literal(text: &str) -> String {
    format!("{text:?}")
}

/// `values.set(…);`, as rustfmt lays it out.
fn statement(path: &str, parts: &[Part]) -> String {
    let path = literal(path);
    let (start, arguments) = expression(parts);
    let whole = match start {
        "" => arguments.join(""),
        start => format!("{start}{})", arguments.join(", ")),
    };
    let fits = |indent: usize, width: usize, text: &str| {
        width <= MAX_ARGUMENTS && indent + text.chars().count() <= MAX_WIDTH
    };
    let line = format!("values.set({path}, {whole});");
    let width = line.chars().count() - "values.set();".len();
    if fits(4, width, &line) {
        return format!("    {line}\n");
    }
    let width = arguments.join(", ").chars().count();
    let value = match start != "format!(" || fits(8, width, &format!("{whole},")) {
        true => whole,
        false => format!(
            "{start}\n            {}\n        )",
            arguments.join(",\n            ")
        ),
    };
    format!("    values.set(\n        {path},\n        {value},\n    );\n")
}

/// The start of a call, empty for a literal, and its arguments.
fn expression(parts: &[Part]) -> (&'static str, Vec<String>) {
    match parts {
        [] => ("", vec![literal("")]),
        [Part::Text(text)] => ("", vec![literal(text)]),
        [Part::Variable(name)] => ("env_or_empty(", vec![literal(name)]),
        parts => {
            let mut text = String::new();
            let mut arguments = vec![String::new()];
            for part in parts {
                match part {
                    Part::Text(part) => text += &part.replace('{', "{{").replace('}', "}}"),
                    Part::Variable(name) => {
                        text += "{}";
                        arguments.push(format!("{VARIABLE}({})", literal(name)));
                    }
                }
            }
            arguments[0] = literal(&text);
            ("format!(", arguments)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_statements() {
        let text = |text: &str| Part::Text(text.to_owned());
        let variable = |name: &str| Part::Variable(name.to_owned());
        for (path, parts, expected) in [
            ("a.b", vec![], r#"    values.set("a.b", "");"#),
            (
                "a",
                vec![text("\"{x}\"")],
                r#"    values.set("a", "\"{x}\"");"#,
            ),
            (
                "a",
                vec![variable("TAG")],
                r#"    values.set("a", env_or_empty("TAG"));"#,
            ),
            (
                "a",
                vec![text("{"), variable("A"), text(":"), variable("B")],
                "    values.set(\n        \"a\",\n        format!(\"{{{}:{}\", env_or_empty(\"A\"), env_or_empty(\"B\")),\n    );",
            ),
            (
                "metrics.exporter.image.repository",
                vec![variable("RELATED_IMAGE_MEMCACHED_EXPORTER")],
                "    values.set(\n        \"metrics.exporter.image.repository\",\n        \
                 env_or_empty(\"RELATED_IMAGE_MEMCACHED_EXPORTER\"),\n    );",
            ),
            (
                "image",
                vec![
                    variable("REGISTRY_OF_IMAGES"),
                    text("/a:"),
                    variable("TAG_OF_IMAGES"),
                ],
                "    values.set(\n        \"image\",\n        format!(\n            \"{}/a:{}\",\n            \
                 env_or_empty(\"REGISTRY_OF_IMAGES\"),\n            env_or_empty(\"TAG_OF_IMAGES\")\n        ),\n    );",
            ),
        ] {
            assert_eq!(statement(path, &parts), format!("{expected}\n"));
        }
    }
}
