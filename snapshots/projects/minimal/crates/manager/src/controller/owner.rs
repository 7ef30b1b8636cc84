//! Which object controls another.

use kube::{
    api::{DynamicObject, ObjectMeta},
    runtime::reflector::ObjectRef,
};

use crate::object::Type;

/// The object of type `owner` that controls the one with this metadata.
///
/// Matched by group and kind, not by version: owner references keep the version that wrote them.
pub(super) fn of(child: &ObjectMeta, owner: &Type) -> Option<ObjectRef<DynamicObject>> {
    let controller = child.owner_references.iter().flatten().find(|found| {
        let group = found
            .api_version
            .rsplit_once('/')
            .map_or("", |(group, _)| group);
        found.controller == Some(true)
            && found.kind == owner.resource.kind
            && group == owner.resource.group
    });
    controller.map(|found| owner.reference(&found.name, child.namespace.as_deref()))
}

#[cfg(test)]
mod tests {
    use k8s_openapi::{
        api::{apps::v1::Deployment, core::v1::Node},
        apimachinery::pkg::apis::meta::v1::OwnerReference,
    };

    use super::*;

    fn owned_by(api_version: &str, kind: &str, controller: Option<bool>) -> ObjectMeta {
        ObjectMeta {
            namespace: Some("ns".into()),
            owner_references: Some(vec![OwnerReference {
                api_version: api_version.into(),
                kind: kind.into(),
                name: "owner".into(),
                controller,
                ..OwnerReference::default()
            }]),
            ..ObjectMeta::default()
        }
    }

    #[test]
    fn an_owner_is_matched_by_group_and_kind() {
        let deployment = Type::of::<Deployment>();
        let found = Some(deployment.reference("owner", Some("ns")));
        let none = None;
        let cases = [
            ("apps/v1", "Deployment", Some(true), &found),
            ("apps/v2", "Deployment", Some(true), &found),
            ("apps/v1", "Deployment", None, &none),
            ("apps/v1", "ReplicaSet", Some(true), &none),
            ("other/v1", "Deployment", Some(true), &none),
            ("v1", "Deployment", Some(true), &none),
        ];
        for (api_version, kind, controller, expected) in cases {
            let owner = of(&owned_by(api_version, kind, controller), &deployment);
            assert_eq!(&owner, expected, "{api_version} {kind} {controller:?}");
        }
    }

    #[test]
    fn a_cluster_scoped_owner_has_no_namespace() {
        let node = Type::of::<Node>();
        let owner = of(&owned_by("v1", "Node", Some(true)), &node);
        assert_eq!(owner, Some(node.reference("owner", None)));
        assert_eq!(owner.and_then(|owner| owner.namespace), None);
    }
}
