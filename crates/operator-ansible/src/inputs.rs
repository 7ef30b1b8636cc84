//! What a run depends on.

use operator_runtime::kube::api::ObjectMeta;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::{
    automation::{Automation, Found},
    marks,
};

/// A digest of what a run depends on: the files of the role, the options, and the object but for its status and most of its metadata.
pub(crate) fn digest(
    automation: &Automation,
    found: &Found,
    metadata: &ObjectMeta,
    object: &Value,
) -> String {
    let mut parts = object.clone();
    if let Some(parts) = parts.as_object_mut() {
        parts.remove("metadata");
        parts.remove("status");
    }
    let annotations = metadata.annotations.iter().flatten();
    // What kubectl notes is the object itself.
    let counts = |key: &String| {
        automation.watch_annotations
            && !key.starts_with("kubectl.kubernetes.io/")
            && key != marks::RECONCILE_PERIOD
    };
    let annotations: Vec<_> = annotations.filter(|(key, _)| counts(key)).collect();
    let all = json!([
        found.path,
        found.digest,
        automation.vars,
        automation.snake_case,
        automation.evaluates_objects,
        parts,
        annotations,
    ]);
    let hash = Sha256::digest(all.to_string());
    data_encoding::HEXLOWER.encode(&hash[..16])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_counts() {
        let found = Found {
            kind: "role",
            path: "/roles/a".to_owned(),
            digest: "d".to_owned(),
        };
        let metadata = |annotation: &str| ObjectMeta {
            annotations: Some([(annotation.to_owned(), "x".to_owned())].into()),
            ..ObjectMeta::default()
        };
        let object = json!({ "metadata": { "labels": {} }, "spec": { "a": 1 }, "status": {} });
        let automation = Automation::role("a");
        let of = |automation: &Automation, annotation: &str, object: &Value| {
            digest(automation, &found, &metadata(annotation), object)
        };
        let first = of(&automation, "a", &object);
        let mut other = object.clone();
        other["status"] = json!({ "phase": "x" });
        other["metadata"]["labels"]["x"] = "y".into();
        assert_eq!(of(&automation, "b", &other), first);
        other["spec"]["a"] = 2.into();
        assert_ne!(of(&automation, "a", &other), first);
        assert_ne!(
            of(&automation.clone().vars(json!({ "b": 1 })), "a", &object),
            first
        );
        let watching = automation.watch_annotations_changes(true);
        assert_ne!(of(&watching, "a", &object), of(&watching, "b", &object));
        let own = "kubectl.kubernetes.io/last-applied-configuration";
        assert_eq!(
            of(&watching, own, &object),
            of(&watching, marks::RECONCILE_PERIOD, &object)
        );
    }
}
