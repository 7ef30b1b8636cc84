//! Selections of objects.

use std::collections::BTreeSet;

use kube::{
    api::ObjectMeta,
    core::{Expression, SelectorExt},
};

/// The selection of objects of a type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Selector {
    pub(crate) labels: Option<String>,
    pub(crate) fields: Option<String>,
    /// The namespaces; empty means those of the operator.
    pub(crate) namespaces: BTreeSet<String>,
}

impl Selector {
    /// Whether this selects every object that the operator watches.
    pub(crate) fn is_everything(&self) -> bool {
        *self == Self::default()
    }

    /// Whether this is known to select an object with this metadata. Of field selectors, only those of name and
    /// namespace are known.
    pub(crate) fn selects(&self, object: &ObjectMeta) -> bool {
        let labels = object.labels.clone().unwrap_or_default();
        let has_label = |term| expression(term).is_some_and(|it| it.matches(&labels));
        let has_field = |term: &str| {
            let name = object
                .name
                .as_deref()
                .map(|name| format!("metadata.name={name}"));
            let namespace = object.namespace.as_deref();
            let namespace = namespace.map(|namespace| format!("metadata.namespace={namespace}"));
            let term = term.replace("==", "=");
            [name, namespace].contains(&Some(term))
        };
        let in_namespaces = || {
            let namespace = object.namespace.as_ref();
            namespace.is_some_and(|namespace| self.namespaces.contains(namespace))
        };
        terms(self.labels.as_deref().unwrap_or_default()).all(has_label)
            && terms(self.fields.as_deref().unwrap_or_default()).all(has_field)
            && (self.namespaces.is_empty() || in_namespaces())
    }
}

/// Splits at commas outside parentheses.
pub(crate) fn terms(selector: &str) -> impl Iterator<Item = &str> {
    let mut inside = false;
    let parts = selector.split(move |c| {
        inside = (inside || c == '(') && c != ')';
        c == ',' && !inside
    });
    parts.map(str::trim).filter(|term| !term.is_empty())
}

/// A requirement of a label selector, such as `tier in (web, api)`; `None` if it does not parse.
pub(crate) fn expression(term: &str) -> Option<Expression> {
    let trimmed = |text: &str| text.trim().to_owned();
    if let Some((key, value)) = term.split_once("!=") {
        return Some(Expression::NotEqual(trimmed(key), trimmed(value)));
    }
    if let Some((key, value)) = term.split_once("==").or_else(|| term.split_once('=')) {
        return Some(Expression::Equal(trimmed(key), trimmed(value)));
    }
    if let Some((head, values)) = term.split_once('(') {
        let values = values.trim_end().strip_suffix(')');
        let values = values.map(|values| values.split(',').map(trimmed).collect());
        return match (
            head.split_whitespace().collect::<Vec<_>>().as_slice(),
            values,
        ) {
            ([key, "in"], Some(values)) => Some(Expression::In(trimmed(key), values)),
            ([key, "notin"], Some(values)) => Some(Expression::NotIn(trimmed(key), values)),
            _ => None,
        };
    }
    Some(match term.strip_prefix('!') {
        Some(key) => Expression::DoesNotExist(trimmed(key)),
        None => Expression::Exists(trimmed(term)),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json};

    use super::*;

    #[test]
    fn an_object_is_selected_by_its_metadata() {
        let object = json!({ "name": "a", "namespace": "b", "labels": { "app": "web" } });
        let object: ObjectMeta = from_value(object).unwrap();
        let labels = |labels: &str| Selector {
            labels: Some(labels.to_owned()),
            ..Selector::default()
        };
        let fields = |fields: &str| Selector {
            fields: Some(fields.to_owned()),
            ..Selector::default()
        };
        let namespaces = |namespace: &str| Selector {
            namespaces: [namespace.to_owned()].into(),
            ..labels("app")
        };
        for (selector, expected) in [
            (Selector::default(), true),
            (labels("app=web"), true),
            (labels("app in (web, api),!tier"), true),
            (labels("app=web,tier"), false),
            (labels("app in (web"), false),
            (fields("metadata.name=a"), true),
            (fields("metadata.name==a,metadata.namespace=b"), true),
            (fields("metadata.name=b"), false),
            // Another field is not known.
            (fields("status.phase=Running"), false),
            (namespaces("b"), true),
            (namespaces("c"), false),
        ] {
            assert_eq!(selector.selects(&object), expected, "{selector:?}");
        }
        let unlabelled = ObjectMeta::default();
        assert!(!labels("app").selects(&unlabelled) && labels("!app").selects(&unlabelled));
        assert!(Selector::default().is_everything() && !labels("app").is_everything());
    }
}
