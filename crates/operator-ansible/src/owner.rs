//! The custom resource of a run, as the owner of what the run creates.

use kube::api::ObjectMeta;
use serde_json::{Map, Value, json};

use crate::marks;

/// A custom resource whose role or playbook runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) api_version: String,
    pub(crate) group: String,
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) namespace: Option<String>,
    pub(crate) uid: String,
    /// The name of its controller.
    pub(crate) controller: String,
}

impl Owner {
    /// Marks a new object as one of this owner, as operator-sdk does: by an owner reference, or by annotations where the scopes forbid one.
    /// `namespace` is that of the object, if its kind is namespaced.
    pub(crate) fn mark(&self, object: &mut Value, namespace: Option<&str>) {
        let Some(metadata) = object
            .as_object_mut()
            .and_then(|it| part(it, "metadata", json!({})).as_object_mut())
        else {
            return;
        };
        if let Some(labels) = part(metadata, "labels", json!({})).as_object_mut() {
            labels.insert(marks::CONTROLLER.to_owned(), self.controller.clone().into());
        }
        let may_refer = self.namespace.is_none() || self.namespace.as_deref() == namespace;
        if !may_refer {
            if let Some(annotations) = part(metadata, "annotations", json!({})).as_object_mut() {
                annotations.insert(marks::PRIMARY.to_owned(), self.primary().into());
                annotations.insert(marks::PRIMARY_TYPE.to_owned(), self.primary_type().into());
            }
        } else if let Some(references) = part(metadata, "ownerReferences", json!([])).as_array_mut()
            && !references.iter().any(|it| it["uid"] == *self.uid)
        {
            references.push(json!({
                "apiVersion": self.api_version,
                "kind": self.kind,
                "name": self.name,
                "uid": self.uid,
            }));
        }
    }

    /// Whether an object is marked as one of this owner.
    pub(crate) fn owns(&self, object: &Value) -> bool {
        let metadata = &object["metadata"];
        let mut references = metadata["ownerReferences"].as_array().into_iter().flatten();
        let annotations = &metadata["annotations"];
        references.any(|it| it["uid"] == *self.uid)
            || (annotations[marks::PRIMARY] == self.primary()
                && annotations[marks::PRIMARY_TYPE] == self.primary_type())
    }

    fn primary(&self) -> String {
        format!(
            "{}/{}",
            self.namespace.as_deref().unwrap_or_default(),
            self.name
        )
    }

    fn primary_type(&self) -> String {
        primary_type(&self.kind, &self.group)
    }
}

fn primary_type(kind: &str, group: &str) -> String {
    format!("{kind}.{group}")
}

/// A field, which becomes `empty` if it is missing or null.
fn part<'a>(map: &'a mut Map<String, Value>, key: &str, empty: Value) -> &'a mut Value {
    let part = map.entry(key).or_insert(Value::Null);
    if part.is_null() {
        *part = empty;
    }
    part
}

/// The namespace and the name of the custom resource of this kind that an object belongs to.
pub(crate) fn owner_of(
    metadata: &ObjectMeta,
    (group, kind): (&str, &str),
    is_namespaced: bool,
) -> Option<(Option<String>, String)> {
    let references = metadata.owner_references.iter().flatten();
    let mut references = references.filter(|it| {
        let (of, _) = it.api_version.rsplit_once('/').unwrap_or(("", ""));
        it.kind == kind && of == group
    });
    if let Some(found) = references.next() {
        let namespace = metadata.namespace.clone().filter(|_| is_namespaced);
        return Some((namespace, found.name.clone()));
    }
    let annotations = metadata.annotations.as_ref()?;
    if *annotations.get(marks::PRIMARY_TYPE)? != primary_type(kind, group) {
        return None;
    }
    let (namespace, name) = annotations.get(marks::PRIMARY)?.split_once('/')?;
    let namespace = Some(namespace.to_owned()).filter(|it| !it.is_empty());
    Some((namespace, name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(namespace: Option<&str>) -> Owner {
        Owner {
            api_version: "cache.example.com/v1".to_owned(),
            group: "cache.example.com".to_owned(),
            kind: "Memcached".to_owned(),
            name: "sample".to_owned(),
            namespace: namespace.map(str::to_owned),
            uid: "uid".to_owned(),
            controller: "memcached".to_owned(),
        }
    }

    #[test]
    fn an_object_is_marked_by_a_reference_where_the_scopes_allow_it() {
        for (of, namespace, refers) in [
            (Some("ns"), Some("ns"), true),
            (Some("ns"), Some("other"), false),
            (Some("ns"), None, false),
            (None, Some("ns"), true),
            (None, None, true),
        ] {
            let owner = owner(of);
            let mut object = json!({ "metadata": { "name": "a", "labels": null } });
            assert!(!owner.owns(&object));
            owner.mark(&mut object, namespace);
            owner.mark(&mut object, namespace);
            let metadata = &object["metadata"];
            assert!(owner.owns(&object));
            assert_eq!(metadata["labels"][marks::CONTROLLER], "memcached");
            assert_eq!(metadata["ownerReferences"].is_array(), refers, "{object}");
            assert_eq!(metadata["annotations"].is_object(), !refers, "{object}");
            let mut metadata: ObjectMeta = serde_json::from_value(metadata.clone()).unwrap();
            metadata.namespace = namespace.map(str::to_owned);
            let kind = ("cache.example.com", "Memcached");
            let expected = Some((of.map(str::to_owned), "sample".to_owned()));
            assert_eq!(owner_of(&metadata, kind, of.is_some()), expected);
            assert_eq!(
                owner_of(&metadata, ("example.com", "Memcached"), true),
                None
            );
            if refers {
                assert_eq!(metadata.owner_references.unwrap().len(), 1);
            }
        }
    }
}
