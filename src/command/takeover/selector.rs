//! The label selector of an entry of `watches.yaml`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_yaml::Mapping;

/// A label selector, as Kubernetes has it in objects.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Selector {
    match_labels: Option<BTreeMap<String, String>>,
    match_expressions: Option<Vec<Expression>>,
    #[serde(flatten)]
    unknown: Mapping,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
struct Expression {
    key: String,
    operator: String,
    values: Option<Vec<String>>,
}

impl Selector {
    /// The selector as one text, and labels that it selects; an empty text selects everything.
    ///
    /// Errors: why the API server would refuse it.
    pub fn text(&self) -> Result<(String, BTreeMap<String, String>), String> {
        if !self.unknown.is_empty() {
            return Err("it has an unknown field".to_owned());
        }
        let (mut texts, mut labels) = (Vec::new(), BTreeMap::new());
        for (key, value) in self.match_labels.iter().flatten() {
            texts.push(format!("{}={}", name(key)?, word(value)?));
            labels.insert(key.clone(), value.clone());
        }
        for expression in self.match_expressions.iter().flatten() {
            let key = name(&expression.key)?;
            let values = expression.values.iter().flatten();
            let values: Vec<&str> = values.map(|it| word(it)).collect::<Result<_, _>>()?;
            let list = values.join(",");
            let value = match (expression.operator.as_str(), values.first()) {
                ("In", Some(first)) => {
                    texts.push(format!("{key} in ({list})"));
                    Some(*first)
                }
                ("NotIn", Some(_)) => {
                    texts.push(format!("{key} notin ({list})"));
                    None
                }
                ("Exists", None) => {
                    texts.push(key.to_owned());
                    Some("")
                }
                ("DoesNotExist", None) => {
                    texts.push(format!("!{key}"));
                    None
                }
                ("In" | "NotIn", None) => return Err(format!("`{key}` has no values")),
                ("Exists" | "DoesNotExist", Some(_)) => {
                    return Err(format!("`{key}` has values"));
                }
                (other, _) => return Err(format!("`{other}` is no operator")),
            };
            if let Some(value) = value {
                let label = labels.entry(key.to_owned());
                label.or_insert_with(|| value.to_owned());
            }
        }
        Ok((texts.join(","), labels))
    }
}

/// A label's key: a name, perhaps behind a domain and `/`.
fn name(text: &str) -> Result<&str, String> {
    let (domain, name) = text.rsplit_once('/').unwrap_or(("a", text));
    match is_word(domain) && is_word(name) {
        true => Ok(text),
        false => Err(format!("`{text}` is no key of a label")),
    }
}

fn word(text: &str) -> Result<&str, String> {
    match text.is_empty() || is_word(text) {
        true => Ok(text),
        false => Err(format!("`{text}` is no value of a label")),
    }
}

fn is_word(text: &str) -> bool {
    let is_end = |c: char| c.is_ascii_alphanumeric();
    let is_inner = |c: char| is_end(c) || "-_.".contains(c);
    text.starts_with(is_end) && text.ends_with(is_end) && text.chars().all(is_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_are_texts() {
        let check = |yaml: &str, expected: Result<&str, &str>| {
            let selector: Selector = guarded_yaml::read(yaml).unwrap();
            let text = selector.text().map(|(text, labels)| {
                let labels: Vec<_> = labels.iter().map(|(k, v)| format!("{k}={v}")).collect();
                format!("{text} {}", labels.join(","))
            });
            assert_eq!(text.as_deref().map_err(String::as_str), expected);
        };
        check("{}", Ok(" "));
        check(
            "matchLabels: {b: c, a.b/c: ''}",
            Ok("a.b/c=,b=c a.b/c=,b=c"),
        );
        check(
            "matchExpressions: [{key: a, operator: In, values: [b, c]}, {key: d, operator: NotIn, values: [e]}, \
             {key: f, operator: Exists}, {key: g, operator: DoesNotExist}]",
            Ok("a in (b,c),d notin (e),f,!g a=b,f="),
        );
        check(
            "matchLabels: {a: 'b,c'}",
            Err("`b,c` is no value of a label"),
        );
        check(
            "matchExpressions: [{key: a, operator: Gt, values: ['1']}]",
            Err("`Gt` is no operator"),
        );
        check("matchFields: []", Err("it has an unknown field"));
    }
}
