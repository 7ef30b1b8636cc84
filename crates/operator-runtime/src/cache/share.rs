//! The key of an object's share.

use std::{
    marker::PhantomData,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use kube::{Resource, api::ObjectMeta};

use super::Entry;
use crate::{
    client::selector,
    error::panic_message,
    slots::{Slot, Slots},
};

/// What decides which replica reconciles an object: objects with the same key are always in the same replica.
///
/// A key must not change as long as the object exists. It is hashed, so all that matters is that there are many more
/// keys than replicas.
///
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use operator_runtime::ShardKey;
///
/// let each_object_alone = ShardKey::<ConfigMap>::uid();
/// let a_namespace_together = ShardKey::<ConfigMap>::namespace();
/// let a_tenant_together = ShardKey::field(|config: &ConfigMap| {
///     let labels = config.metadata.labels.as_ref();
///     labels.and_then(|labels| labels.get("tenant")).cloned().unwrap_or_default()
/// });
/// ```
pub struct ShardKey<K> {
    pub(crate) key: ShareKey,
    objects: PhantomData<fn() -> K>,
}

/// A [`ShardKey`] without its type parameter.
#[derive(Clone)]
pub(crate) enum ShareKey {
    Uid,
    Namespace,
    Field(Arc<Text>),
}

/// The text of an object, unless it does not decode.
type Text = dyn Fn(&Entry) -> Option<String> + Send + Sync;

/// How the objects of one watch find their slots.
#[derive(Clone)]
pub(crate) enum Share {
    /// By the key of the object itself.
    Own(ShareKey),
    /// By the UID of its controller, of this kind and group.
    Owner { kind: String, group: String },
}

impl<K> ShardKey<K> {
    fn new(key: ShareKey) -> Self {
        Self {
            key,
            objects: PhantomData,
        }
    }

    /// Each object by itself. Use this one, unless objects have to be reconciled together.
    pub fn uid() -> Self {
        Self::new(ShareKey::Uid)
    }

    /// The objects of a namespace together. Namespaces whose names differ in the last one or two characters
    /// only may share a slot, and always do so.
    pub fn namespace() -> Self {
        Self::new(ShareKey::Namespace)
    }
}

impl<K: Resource + Send + Sync + 'static> ShardKey<K> {
    /// The objects with the same text together, such as those of a tenant. The text must come from a field that
    /// cannot change: freeze it in the schema with the rule `self == oldSelf`. Objects
    /// without the field may all return the same text, such as the empty one: one replica reconciles them then.
    /// A `key` that panics is logged as an error, and its object is reconciled by nobody.
    pub fn field(key: impl Fn(&K) -> String + Send + Sync + 'static) -> Self {
        let key = move |entry: &Entry| entry.as_ref().map(&key);
        Self::new(ShareKey::Field(Arc::new(key)))
    }
}

impl ShareKey {
    /// The slot of an object.
    pub(crate) fn slot(&self, entry: &Entry) -> Option<Slot> {
        let Self::Field(key) = self else {
            return self.slot_of_head(entry.meta());
        };
        if let Entry::Invalid(_) = entry {
            // Nobody reconciles it. One replica reports it.
            return Self::Uid.slot_of_head(entry.meta());
        }
        let text = catch_unwind(AssertUnwindSafe(|| key(entry)));
        let text = text.unwrap_or_else(|panic| {
            let error = panic_message(&*panic);
            tracing::error!(error, "the key of a share panicked: the object is in none");
            None
        });
        text.as_deref().map(Slot::of)
    }

    fn slot_of_head(&self, head: &ObjectMeta) -> Option<Slot> {
        match self {
            Self::Uid => head.uid.as_deref().map(Slot::of),
            Self::Namespace => Some(Slot::of(head.namespace.as_deref().unwrap_or_default())),
            Self::Field(_) => None,
        }
    }
}

impl Share {
    /// The share of the children of objects of this kind, if each child shows its slot.
    pub(crate) fn of_children(key: &ShareKey, kind: &str, group: &str) -> Option<Self> {
        match key {
            ShareKey::Uid => Some(Self::Owner {
                kind: kind.to_owned(),
                group: group.to_owned(),
            }),
            // A child may also have an owner without a namespace, and then be in any.
            ShareKey::Namespace | ShareKey::Field(_) => None,
        }
    }

    /// The slot of an object of the watch; `None` if no controller here asks for it.
    pub(crate) fn slot(&self, entry: &Entry) -> Option<Slot> {
        match self {
            Self::Own(key) => key.slot(entry),
            Self::Owner { kind, group } => {
                let owners = entry.meta().owner_references.iter().flatten();
                let mut owners = owners.filter(|owner| owner.controller == Some(true));
                let owner = owners.find(|owner| {
                    let (of, _) = owner.api_version.split_once('/').unwrap_or_default();
                    owner.kind == *kind && of == group
                });
                owner.map(|owner| Slot::of(&owner.uid))
            }
        }
    }

    /// The slot of an object, if the head of its metadata tells it: its names and its UID.
    pub(crate) fn slot_of_head(&self, head: &ObjectMeta) -> Option<Slot> {
        match self {
            Self::Own(key) => key.slot_of_head(head),
            Self::Owner { .. } => None,
        }
    }

    /// The selector by which the API server lists the objects in these slots, if it can.
    pub(crate) fn selector(&self, slots: Slots) -> Option<String> {
        match self {
            Self::Own(ShareKey::Uid) => slots.selector(selector::UID),
            Self::Own(ShareKey::Namespace) => slots.selector(selector::NAMESPACE),
            Self::Own(ShareKey::Field(_)) | Self::Owner { .. } => None,
        }
    }

    /// Whether both find the same slots.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Own(ShareKey::Uid), Self::Own(ShareKey::Uid))
            | (Self::Own(ShareKey::Namespace), Self::Own(ShareKey::Namespace)) => true,
            (Self::Own(ShareKey::Field(own)), Self::Own(ShareKey::Field(other))) => {
                Arc::ptr_eq(own, other)
            }
            (
                Self::Owner { kind, group },
                Self::Owner {
                    kind: other,
                    group: its,
                },
            ) => kind == other && group == its,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::{
        api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::OwnerReference,
    };

    use super::*;
    use crate::cache::{Form, entry::Raw};

    fn owned_by(api_version: &str, kind: &str, controller: bool) -> Entry {
        let owner = OwnerReference {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            uid: "owner".to_owned(),
            controller: Some(controller),
            ..OwnerReference::default()
        };
        let metadata = ObjectMeta {
            uid: Some("child".to_owned()),
            namespace: Some("default".to_owned()),
            owner_references: Some(vec![owner]),
            ..ObjectMeta::default()
        };
        Entry::Valid(Arc::new(ConfigMap {
            metadata,
            ..ConfigMap::default()
        }))
    }

    #[test]
    fn keys() {
        let entry = owned_by("v1", "Node", true);
        let field = |text: &'static str| ShardKey::field(move |_: &ConfigMap| text.to_owned()).key;
        for (key, slot) in [
            (ShardKey::<ConfigMap>::uid().key, Some(Slot::of("child"))),
            (
                ShardKey::<ConfigMap>::namespace().key,
                Some(Slot::of("default")),
            ),
            (field("tenant"), Some(Slot::of("tenant"))),
        ] {
            assert_eq!(key.slot(&entry), slot);
        }
        let panics = ShardKey::field(|config: &ConfigMap| match &config.data {
            Some(_) => String::new(),
            None => panic!("no data"),
        });
        assert_eq!(panics.key.slot(&entry), None);
    }

    #[test]
    fn an_object_that_does_not_decode_is_reported_by_one_replica() {
        let text = r#"{"metadata":{"name":"a","uid":"child"},"data":1}"#;
        let raw: Raw<false> = serde_json::from_str(text).unwrap();
        let entry = raw.decode(&Form::of::<ConfigMap>().decode());
        assert!(matches!(entry, Entry::Invalid(_)));
        let key = ShardKey::field(|_: &ConfigMap| String::new()).key;
        assert_eq!(key.slot(&entry), Some(Slot::of("child")));
    }

    #[test]
    fn a_child_is_in_the_slot_of_its_controller() {
        let share = Share::of_children(&ShareKey::Uid, "Cache", "cache.example.com").unwrap();
        for (api_version, kind, controller, found) in [
            ("cache.example.com/v1", "Cache", true, true),
            ("cache.example.com/v2", "Cache", true, true),
            ("cache.example.com/v1", "Cache", false, false),
            ("cache.example.com/v1", "Other", true, false),
            ("example.com/v1", "Cache", true, false),
            ("v1", "Cache", true, false),
        ] {
            let slot = share.slot(&owned_by(api_version, kind, controller));
            assert_eq!(
                slot,
                found.then(|| Slot::of("owner")),
                "{api_version} {kind}"
            );
        }
        // The core group has no name.
        let share = Share::of_children(&ShareKey::Uid, "ConfigMap", "").unwrap();
        let slot = share.slot(&owned_by("v1", "ConfigMap", true));
        assert_eq!(slot, Some(Slot::of("owner")));
        assert!(Share::of_children(&ShareKey::Namespace, "Cache", "").is_none());
    }
}
