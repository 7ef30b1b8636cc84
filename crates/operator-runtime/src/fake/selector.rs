//! The label and field selectors of a list.

use std::collections::BTreeMap;

use http::Uri;
use kube::core::{Selector, SelectorExt};
use serde_json::Value;

use super::refusal::Refusal;
use crate::{
    fake::request::parameter,
    object::{expression, terms},
};

/// The label selector and the field selector of a request.
pub(super) struct Selection {
    labels: Selector,
    fields: Vec<Field>,
}

/// A term such as `metadata.name=a`.
struct Field {
    path: String,
    value: String,
    /// Whether the term requires or excludes the value.
    equal: bool,
}

impl Selection {
    pub(super) fn read(uri: &Uri) -> Result<Self, Refusal> {
        let labels = parameter(uri, "labelSelector").unwrap_or_default();
        let fields = parameter(uri, "fieldSelector").unwrap_or_default();
        Self::parse(&labels, &fields)
    }

    pub(super) fn parse(labels: &str, fields: &str) -> Result<Self, Refusal> {
        Ok(Self {
            labels: terms(labels)
                .map(|term| expression(term).ok_or_else(|| unparsable(term)))
                .collect::<Result<_, _>>()?,
            fields: terms(fields).map(Field::parse).collect::<Result<_, _>>()?,
        })
    }

    pub(super) fn matches(&self, object: &Value) -> bool {
        let metadata = &object["metadata"];
        let labels = metadata["labels"].as_object().into_iter().flatten();
        let labels: BTreeMap<_, _> = labels
            .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
            .collect();
        self.labels.matches(&labels) && self.fields.iter().all(|field| field.matches(object))
    }
}

impl Field {
    fn parse(term: &str) -> Result<Self, Refusal> {
        let (path, value) = term
            .split_once('=')
            .ok_or_else(|| bad(&format!("invalid field selector: `{term}`")))?;
        let (path, equal) = match path.strip_suffix('!') {
            Some(path) => (path, false),
            None => (path, true),
        };
        let value = value.strip_prefix('=').unwrap_or(value);
        Ok(Self {
            path: path.trim().to_owned(),
            value: value.trim().to_owned(),
            equal,
        })
    }

    /// A missing field counts as empty, as in the API server.
    fn matches(&self, object: &Value) -> bool {
        let found = self.path.split('.').fold(object, |at, field| &at[field]);
        let text = match found {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        (text == self.value) == self.equal
    }
}

fn unparsable(term: &str) -> Refusal {
    bad(&format!("unable to parse requirement: `{term}`"))
}

fn bad(message: &str) -> Refusal {
    Refusal::new(400, message)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn selects(query: &str) -> Option<bool> {
        let object = json!({
            "metadata": { "name": "a", "namespace": "b", "labels": { "app": "web", "tier": "x" } },
        });
        let query: String = form_urlencoded::byte_serialize(query.as_bytes()).collect();
        let query = query.replacen("%3D", "=", 1);
        let selection = Selection::read(&format!("/?{query}").parse().unwrap());
        selection.ok().map(|selection| selection.matches(&object))
    }

    #[test]
    fn selectors_are_those_of_the_api_server() {
        for (selector, expected) in [
            ("", Some(true)),
            ("app=web", Some(true)),
            ("app==web,tier=x", Some(true)),
            ("app = other", Some(false)),
            ("app!=web", Some(false)),
            ("none!=web", Some(true)),
            ("app", Some(true)),
            ("none", Some(false)),
            ("!none", Some(true)),
            ("!app", Some(false)),
            ("app in (web, api),tier", Some(true)),
            ("app in (api)", Some(false)),
            ("app notin (api,web)", Some(false)),
            ("none notin (api)", Some(true)),
            ("app among (web)", None),
            ("app in (web", None),
        ] {
            assert_eq!(
                selects(&format!("labelSelector={selector}")),
                expected,
                "{selector}"
            );
        }
        for (selector, expected) in [
            ("metadata.name=a", Some(true)),
            ("metadata.name=a,metadata.namespace=c", Some(false)),
            ("metadata.name!=a", Some(false)),
            ("metadata.name==a", Some(true)),
            ("spec.nodeName=a", Some(false)),
            ("spec.nodeName=", Some(true)),
            ("spec.nodeName", None),
        ] {
            assert_eq!(
                selects(&format!("fieldSelector={selector}")),
                expected,
                "{selector}"
            );
        }
    }
}
