//! The objects that a chart renders.

use std::fmt;

use helm_render::{chart, manifest::RESOURCE_POLICY};
use kube::core::GroupVersionKind;
use serde_json::{Map, Value};

use crate::{error::Error, status::InstalledObject};

/// The kinds whose deletion takes what others have made with them. Hooks of them are applied in place, and nothing replaces them.
pub(crate) const STAYING: [&str; 3] = [
    "CustomResourceDefinition",
    "Namespace",
    "PersistentVolumeClaim",
];

/// An object that a chart renders.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Object {
    /// The template.
    pub(crate) path: String,
    pub(crate) kind: GroupVersionKind,
    pub(crate) name: String,
    /// The namespace that it names itself.
    pub(crate) namespace: Option<String>,
    /// Whether it stays when the release goes.
    pub(crate) is_kept: bool,
    pub(crate) value: Map<String, Value>,
}

impl Object {
    /// The objects of a document, of which a list has several.
    pub(crate) fn read(path: &str, text: &str) -> Result<Vec<Self>, Error> {
        let no_object = |what: String| Error::NoObject {
            path: path.to_owned(),
            what,
        };
        let value = chart::values(text).map_err(|error| no_object(error.to_string()))?;
        // A document of comments alone.
        if value.is_empty() {
            return Ok(Vec::new());
        }
        let kind = value.get("kind").and_then(Value::as_str);
        let is_list = kind.is_some_and(|kind| kind.ends_with("List"));
        match value.get("items") {
            Some(Value::Array(items)) if is_list => {
                let object = |item: &Value| match item {
                    Value::Object(item) => Self::of(path, item.clone()),
                    _ => Err(no_object(
                        "a list with an item that is no object".to_owned(),
                    )),
                };
                items.iter().map(object).collect()
            }
            _ => Ok(vec![Self::of(path, value)?]),
        }
    }

    fn of(path: &str, mut value: Map<String, Value>) -> Result<Self, Error> {
        let no_object = |what: &str| Error::NoObject {
            path: path.to_owned(),
            what: what.to_owned(),
        };
        let text = |of: &Map<String, Value>, key: &str| {
            let text = of.get(key).and_then(Value::as_str);
            text.filter(|text| !text.is_empty()).map(str::to_owned)
        };
        let kind = text(&value, "kind").ok_or_else(|| no_object("an object without `kind`"))?;
        let version = text(&value, "apiVersion");
        let version = version.ok_or_else(|| no_object("an object without `apiVersion`"))?;
        let kind = gvk(&version, &kind);
        // The API server sets it, and a status is not applied with the object.
        value.remove("status");
        // A template without a value: Go reads null as an empty text.
        for key in ["labels", "annotations"] {
            let all = value
                .get_mut("metadata")
                .and_then(|it| it.get_mut(key)?.as_object_mut());
            for text in all.into_iter().flat_map(|all| all.values_mut()) {
                if text.is_null() {
                    *text = Value::from("");
                }
            }
        }
        let metadata = value.get("metadata").and_then(Value::as_object);
        let metadata = metadata.ok_or_else(|| no_object("an object without `metadata`"))?;
        let name = text(metadata, "name");
        let name = name.ok_or_else(|| no_object("an object without a name"))?;
        let annotations = metadata.get("annotations").and_then(Value::as_object);
        let policy = annotations.and_then(|it| it.get(RESOURCE_POLICY)?.as_str());
        let is_kept = policy.is_some_and(|it| it.trim().eq_ignore_ascii_case("keep"));
        Ok(Self {
            path: path.to_owned(),
            kind,
            name,
            namespace: text(metadata, "namespace"),
            is_kept,
            value,
        })
    }

    /// The entry of the status for it.
    pub(crate) fn installed(&self, namespace: Option<&str>) -> InstalledObject {
        InstalledObject {
            api_version: self.kind.api_version(),
            kind: self.kind.kind.clone(),
            namespace: namespace.map(str::to_owned),
            name: self.name.clone(),
            kept: self.is_kept,
        }
    }
}

/// The type of a kind in an API version, such as `apps/v1`.
pub(crate) fn gvk(api_version: &str, kind: &str) -> GroupVersionKind {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    GroupVersionKind::gvk(group, version, kind)
}

/// Formats as `ConfigMap a`.
impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind.kind, self.name)
    }
}

impl InstalledObject {
    /// The type.
    pub(crate) fn gvk(&self) -> GroupVersionKind {
        gvk(&self.api_version, &self.kind)
    }

    /// Whether both are the same object, in any version of its type.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let group = |of: &Self| of.gvk().group;
        let name = |of: &Self| (of.kind.clone(), of.namespace.clone(), of.name.clone());
        group(self) == group(other) && name(self) == name(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, wanted: Result<&[&str], &str>) {
        let read = Object::read("templates/a.yaml", text);
        let shown = read.map(|objects| {
            let shown = objects
                .iter()
                .map(|it| format!("{} {it}", it.kind.api_version()));
            shown.collect::<Vec<_>>()
        });
        let wanted = wanted.map(|lines| lines.iter().map(ToString::to_string).collect());
        assert_eq!(
            shown.map_err(|error| error.to_string()),
            wanted.map_err(|what| format!("templates/a.yaml renders {what}"))
        );
    }

    #[test]
    fn a_document_has_an_object_or_a_list() {
        check("# nothing\n", Ok(&[]));
        let one = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: a\nstatus: {}\n";
        check(one, Ok(&["apps/v1 Deployment a"]));
        let list = "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Secret\n  metadata: {name: b}\n";
        check(list, Ok(&["v1 Secret b"]));
        check(
            "kind: A\nmetadata: {name: a}",
            Err("an object without `apiVersion`"),
        );
        check(
            "apiVersion: v1\nmetadata: {name: a}",
            Err("an object without `kind`"),
        );
        check(
            "apiVersion: v1\nkind: A\n",
            Err("an object without `metadata`"),
        );
        let generated = "apiVersion: v1\nkind: A\nmetadata: {generateName: a}";
        check(generated, Err("an object without a name"));
    }

    #[test]
    fn a_label_without_a_value_is_empty() {
        let text = "apiVersion: v1\nkind: A\nmetadata: {name: a, labels: {b: null, c: d}}";
        let read = Object::read("a", text).unwrap().remove(0);
        let labels = &read.value["metadata"]["labels"];
        assert_eq!(*labels, serde_json::json!({ "b": "", "c": "d" }));
    }

    #[test]
    fn a_policy_keeps_an_object() {
        for (policy, kept) in [("keep", true), (" Keep ", true), ("delete", false)] {
            let text = format!(
                "apiVersion: v1\nkind: A\nmetadata:\n  name: a\n  annotations:\n    helm.sh/resource-policy: \"{policy}\"\n"
            );
            assert_eq!(
                Object::read("a", &text).unwrap()[0].is_kept,
                kept,
                "{policy}"
            );
        }
    }
}
