//! Owner references of children.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::api::ObjectMeta;

use crate::object::AnyObject;

/// The reason why an object cannot own another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum OwnerError {
    #[error("the owner has no uid: it did not come from the API server")]
    NoUid,
    #[error("the owner is in another namespace: garbage collection would delete the object")]
    OtherNamespace,
    #[error("the owner is in a namespace and the object is not: it would never be deleted")]
    ClusterScoped,
    #[error("the owner has no namespace: set the namespace of the object")]
    NoNamespace,
    /// <https://kubernetes.io/docs/concepts/architecture/garbage-collection/#foreground-deletion>
    #[error(
        "the owner is being deleted and waits for its children: garbage collection would delete the object"
    )]
    WaitsForChildren,
}

/// The finalizer of an object under foreground deletion, which waits for its children.
const FOREGROUND: &str = "foregroundDeletion";

/// The controller reference from `child` to `owner`.
fn reference(
    owner: &ObjectMeta,
    child: &ObjectMeta,
    namespaced: bool,
    reference: impl FnOnce() -> Option<OwnerReference>,
) -> Result<OwnerReference, OwnerError> {
    match (&owner.namespace, &child.namespace) {
        (Some(_), _) if !namespaced => return Err(OwnerError::ClusterScoped),
        (None, None) if namespaced => return Err(OwnerError::NoNamespace),
        (Some(owner), Some(child)) if owner != child => return Err(OwnerError::OtherNamespace),
        _ => {}
    }
    let mut finalizers = owner.finalizers.iter().flatten();
    if owner.deletion_timestamp.is_some() && finalizers.any(|name| name == FOREGROUND) {
        return Err(OwnerError::WaitsForChildren);
    }
    let mut reference = reference().ok_or(OwnerError::NoUid)?;
    reference.block_owner_deletion = Some(true);
    Ok(reference)
}

/// Sets the controller reference of `child` to `owner`. The child's namespace defaults to the owner's.
pub(super) fn own<O: AnyObject, T: AnyObject>(owner: &O, child: &mut T) -> Result<(), OwnerError> {
    let namespaced = child.resource().namespaced;
    let meta = child.metadata_mut();
    if namespaced && meta.namespace.is_none() {
        meta.namespace.clone_from(&owner.metadata().namespace);
    }
    let reference = reference(owner.metadata(), meta, namespaced, || {
        owner.controller_reference()
    })?;
    meta.owner_references = Some(vec![reference]);
    Ok(())
}

/// Whether the owner with this uid is the controller of `child`.
pub(super) fn controls(uid: &str, child: &ObjectMeta) -> bool {
    controller(child).is_some_and(|found| found.uid == uid)
}

/// The controller of `found`, if `desired` names another one.
pub(super) fn other_controller<'a>(
    desired: &ObjectMeta,
    found: &'a ObjectMeta,
) -> Option<&'a OwnerReference> {
    let wanted = controller(desired)?;
    controller(found).filter(|found| found.uid != wanted.uid)
}

/// The API server allows one.
fn controller(object: &ObjectMeta) -> Option<&OwnerReference> {
    let mut references = object.owner_references.iter().flatten();
    references.find(|found| found.controller == Some(true))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, from_value, json};

    use super::*;

    fn meta(value: &Value) -> ObjectMeta {
        from_value(value.clone()).unwrap()
    }

    #[test]
    fn owners_must_be_in_reach_of_garbage_collection() {
        let meta = |namespace: Option<&str>| ObjectMeta {
            namespace: namespace.map(str::to_owned),
            ..ObjectMeta::default()
        };
        let (a, b) = (Some("a"), Some("b"));
        for (owner, child, namespaced, expected) in [
            (a, a, true, Ok(())),
            (None, a, true, Ok(())),
            (None, None, false, Ok(())),
            (a, b, true, Err(OwnerError::OtherNamespace)),
            (a, None, false, Err(OwnerError::ClusterScoped)),
            (None, None, true, Err(OwnerError::NoNamespace)),
        ] {
            let given = || Some(OwnerReference::default());
            let found = reference(&meta(owner), &meta(child), namespaced, given);
            assert_eq!(
                found.map(|_| ()),
                expected,
                "{owner:?} {child:?} {namespaced}"
            );
        }
        let found = reference(&meta(a), &meta(a), true, || None);
        assert_eq!(found, Err(OwnerError::NoUid));
    }

    #[test]
    fn an_owner_under_foreground_deletion_gets_no_new_child() {
        let deleted = |finalizers: &[&str]| {
            meta(&json!({ "deletionTimestamp": "2030-01-01T00:00:00Z", "finalizers": finalizers }))
        };
        let own = |owner: &ObjectMeta| {
            let given = || Some(OwnerReference::default());
            reference(owner, &ObjectMeta::default(), false, given).err()
        };
        // A finalizer of a project, whose cleanup may need a Job.
        assert_eq!(own(&deleted(&["example.com/cleanup"])), None);
        let waits = deleted(&["example.com/cleanup", "foregroundDeletion"]);
        assert_eq!(own(&waits), Some(OwnerError::WaitsForChildren));
        let early = meta(&json!({ "finalizers": ["foregroundDeletion"] }));
        assert_eq!(own(&early), None);
    }

    #[test]
    fn only_a_controller_controls() {
        let child = |controller: Value| {
            let owner = json!({
                "apiVersion": "v1", "kind": "A", "name": "a", "uid": "u", "controller": controller,
            });
            meta(&json!({ "ownerReferences": [owner] }))
        };
        assert!(controls("u", &child(json!(true))));
        for (uid, controller) in [
            ("other", json!(true)),
            ("u", json!(false)),
            ("u", json!(null)),
        ] {
            assert!(
                !controls(uid, &child(controller.clone())),
                "{uid} {controller}"
            );
        }
        assert!(!controls("u", &ObjectMeta::default()));
    }
}
