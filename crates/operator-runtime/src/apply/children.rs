//! The children of an owner: created once, deleted, or applied as a set with pruning.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::ObjectReference;
use kube::{
    api::{DeleteParams, DynamicObject, ObjectMeta, PostParams, Preconditions},
    core::Status,
};

use super::{Applied, Applier, Desired, OwnerError, owner::controls};
use crate::{
    cache::Key,
    object::{AnyObject, ScopedResource},
};

/// The annotation on members of a set of children. Only objects that have it are pruned. Its value is the
/// operator's name.
const PRUNED_BY: &str = "operator-runtime/pruned-by";

/// The reason why a child was not applied, created or deleted; the source of a [`kube::Error::Service`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
#[non_exhaustive]
pub enum ChildError {
    #[error("{child} exists, and {owner} does not control it")]
    NotControlled { child: String, owner: String },
    #[error("{child} exists, and {controller} controls it")]
    OtherController { child: String, controller: String },
    #[error("{0} is in the set twice")]
    Twice(String),
    #[error("a {0} without a name is in the set: the next set would delete it")]
    NoName(String),
    #[error("{0} is being deleted, and is recreated afterwards")]
    BeingDeleted(String),
    #[error(
        "the controller of {owner} does not prune {child}: add `.prunes::<{child}>()` to it, and run `make manifests`"
    )]
    NotPruned { child: String, owner: String },
}

impl From<ChildError> for kube::Error {
    fn from(error: ChildError) -> Self {
        Self::Service(error.into())
    }
}

/// The complete set of children that one owner wants. Applying the set prunes all others.
///
/// Created by [`Applier::children`]. No request is sent before [`apply_and_prune`](Self::apply_and_prune).
#[must_use = "nothing is sent before `apply_and_prune`"]
pub struct Children<'a, O> {
    applier: &'a Applier,
    owner: &'a O,
    wanted: Vec<kube::Result<(How, Desired)>>,
}

#[derive(Clone, Copy)]
enum How {
    Apply,
    Create,
    Recreate,
}

/// The result of applying a set of [`Children`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AppliedChildren {
    /// The wanted children, in the order in which they were added.
    pub applied: Vec<Applied>,
    /// The deleted children, which the set no longer contains.
    pub pruned: Vec<ObjectReference>,
}

impl<O: AnyObject> Children<'_, O> {
    /// Adds `child`, by server-side apply. The child's namespace defaults to the owner's.
    pub fn apply<T: AnyObject>(&mut self, child: T) {
        self.want(How::Apply, child);
    }

    /// Adds `child`, which is created once and never changed, such as a Job.
    pub fn create<T: AnyObject>(&mut self, child: T) {
        self.want(How::Create, child);
    }

    /// Like [`apply`](Self::apply), but recreates a child whose update the API server refuses because of an
    /// immutable field. A recreated child loses its data: consider its volume claims.
    pub fn apply_or_recreate<T: AnyObject>(&mut self, child: T) {
        self.want(How::Recreate, child);
    }

    fn want<T: AnyObject>(&mut self, how: How, mut child: T) {
        let annotations = child.metadata_mut().annotations.get_or_insert_default();
        annotations.insert(PRUNED_BY.to_owned(), self.applier.operator.to_owned());
        let desired = Desired::owned(self.owner, child);
        self.wanted.push(desired.map(|desired| (how, desired)));
    }

    /// Applies the set in insertion order, then deletes the children of earlier sets that this set does not
    /// contain.
    ///
    /// A child is deleted only if three conditions hold: the owner controls it (by the uid in the
    /// controller reference), a set of this operator created it, and the controller
    /// [prunes](crate::Controller::prunes) its kind. After an error nothing is deleted, and the next
    /// reconcile continues.
    ///
    /// # Errors
    /// The first error of the API server, a [`ChildError`], or an [`OwnerError`].
    pub async fn apply_and_prune(self) -> kube::Result<AppliedChildren> {
        let Self {
            applier,
            owner,
            wanted,
        } = self;
        let (kind, uid) = (owner.resource(), uid(owner)?);
        let wanted: Vec<_> = wanted.into_iter().collect::<kube::Result<_>>()?;
        let mut ids = BTreeSet::new();
        for (_, desired) in &wanted {
            applier.pruned.check(&kind, &desired.kind)?;
            if desired.name().is_empty() {
                return Err(ChildError::NoName(desired.kind.resource.kind.clone()).into());
            }
            if !ids.insert(id(&desired.kind, &desired.meta)) {
                return Err(ChildError::Twice(desired.to_string()).into());
            }
        }
        let mut applied = Vec::new();
        for (how, desired) in &wanted {
            applied.push(match how {
                How::Create => applier.create(owner, desired).await?,
                How::Apply => applier.apply_member(owner, desired).await?,
                How::Recreate => applier.apply_or_recreate(owner, desired).await?,
            });
        }
        let mut pruned = Vec::new();
        let found = applier.pruned.search(&applier.cluster.cache, &kind, uid);
        for (kind, entry) in found.await {
            let meta = entry.meta();
            let stays = ids.contains(&id(&kind, meta)) || meta.deletion_timestamp.is_some();
            if !stays && applier.is_member(meta, uid) {
                applier.delete(&kind, meta).await?;
                pruned.push(reference(&kind, meta));
            }
        }
        Ok(AppliedChildren { applied, pruned })
    }
}

impl Applier {
    /// Starts the set of children that `owner` wants; the set is applied together and pruned. A controller
    /// has one set for an owner, and the set depends only on the owner's spec: a child that is left out is
    /// deleted.
    ///
    /// ```
    /// # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.rs")); }
    /// # use example::Memcached;
    /// use k8s_openapi::api::{apps::v1::Deployment, core::v1::ConfigMap};
    /// use operator_runtime::Applier;
    ///
    /// async fn reconcile(memcached: &Memcached, applier: &Applier) -> kube::Result<()> {
    ///     let mut children = applier.children(memcached);
    ///     children.apply(deployment(memcached));
    ///     if memcached.spec.secret.is_none() {
    ///         children.apply(config(memcached));
    ///     }
    ///     // If `spec.secret` was set meanwhile, the old ConfigMap is deleted.
    ///     children.apply_and_prune().await?;
    ///     Ok(())
    /// }
    /// # fn deployment(_: &Memcached) -> Deployment { Deployment::default() }
    /// # fn config(_: &Memcached) -> ConfigMap { ConfigMap::default() }
    /// ```
    pub fn children<'a, O: AnyObject>(&'a self, owner: &'a O) -> Children<'a, O> {
        Children {
            applier: self,
            owner,
            wanted: Vec::new(),
        }
    }

    /// Creates `child` with `owner` as its controller, unless it exists: for immutable objects, such as a
    /// Job. Derive the child's name from its purpose, so that a repeated reconcile creates no second one.
    /// The namespace defaults to the owner's.
    ///
    /// A child that is being deleted counts as existing: the end of the deletion reconciles the owner
    /// again.
    ///
    /// # Errors
    /// Errors of the API server, an [`OwnerError`], and [`ChildError::NotControlled`] if `owner` does not
    /// control the existing object of this name.
    pub async fn create_owned<O, T>(&self, owner: &O, child: T) -> kube::Result<Applied>
    where
        O: AnyObject,
        T: AnyObject,
    {
        self.create(owner, &Desired::owned(owner, child)?).await
    }

    /// Deletes `child` with background propagation. `owner` must control the child, and the child must be
    /// unchanged since it was read. Does nothing if the child is gone.
    ///
    /// # Errors
    /// Errors of the API server: a conflict if `child` has changed. A [`ChildError`] if `owner` does not
    /// control the child, or its controller does not [prune](crate::Controller::prunes) the type.
    pub async fn delete_owned<O, T>(&self, owner: &O, child: &T) -> kube::Result<()>
    where
        O: AnyObject,
        T: AnyObject,
    {
        let kind = child.resource();
        self.pruned.check(&owner.resource(), &kind)?;
        if !controls(uid(owner)?, child.metadata()) {
            return Err(not_controlled(owner, describe(&kind, child.metadata())));
        }
        self.delete(&kind, child.metadata()).await
    }

    async fn create<O: AnyObject>(&self, owner: &O, desired: &Desired) -> kube::Result<Applied> {
        let uid = uid(owner)?;
        // A child in the cache needs no request.
        if let Some(source) = self.cluster.cache.showing(&desired.kind, &desired.meta)
            && let Some(found) = source.content.get(&Key::of(&desired.meta))
            && controls(uid, found.meta())
        {
            return Ok(Applied::of(found.meta(), false));
        }
        let object: DynamicObject =
            serde_json::from_str(desired.text.get()).map_err(kube::Error::SerdeError)?;
        let params = PostParams {
            dry_run: self.dry_run,
            field_manager: Some(self.manager().to_string()),
        };
        let api = self.api(&desired.kind, &desired.meta);
        match api.create(&params, &object).await {
            Ok(created) => Ok(Applied::of(&created.metadata, true)),
            Err(kube::Error::Api(status)) if status.is_already_exists() => {
                let found = api.get_metadata(desired.name()).await?.metadata;
                match controls(uid, &found) {
                    true => Ok(Applied::of(&found, false)),
                    false => Err(not_controlled(owner, desired.to_string())),
                }
            }
            Err(error) => Err(error),
        }
    }

    /// Applies a member of a set. Members may be pruned later, so an object that the owner does not control
    /// is refused.
    async fn apply_member<O: AnyObject>(
        &self,
        owner: &O,
        desired: &Desired,
    ) -> kube::Result<Applied> {
        let uid = uid(owner)?;
        let cache = &self.cluster.cache;
        let source = cache.showing(&desired.kind, &desired.meta);
        let source = source.filter(|source| source.is_filled());
        let found = source
            .as_ref()
            .and_then(|it| it.content.get(&Key::of(&desired.meta)));
        let foreign = match (found, source) {
            (Some(found), _) => !controls(uid, found.meta()),
            (None, Some(source)) if source.selector.is_everything() => false,
            // A selector may hide the object that exists.
            (None, _) => {
                let api = self.api(&desired.kind, &desired.meta);
                let found = api.get_metadata_opt(desired.name()).await?;
                found.is_some_and(|found| !controls(uid, &found.metadata))
            }
        };
        match foreign {
            true => Err(not_controlled(owner, desired.to_string())),
            false => self.send(desired).await,
        }
    }

    async fn apply_or_recreate<O: AnyObject>(
        &self,
        owner: &O,
        desired: &Desired,
    ) -> kube::Result<Applied> {
        let refused = match self.apply_member(owner, desired).await {
            Err(kube::Error::Api(status)) if is_immutable(&status) => status,
            result => return result,
        };
        let api = self.api(&desired.kind, &desired.meta);
        if let Some(found) = api.get_metadata_opt(desired.name()).await? {
            if !self.is_member(&found.metadata, uid(owner)?) {
                return Err(kube::Error::Api(refused));
            }
            if self.dry_run {
                return Ok(Applied::of(&found.metadata, true));
            }
            if found.metadata.deletion_timestamp.is_none() {
                self.delete(&desired.kind, &found.metadata).await?;
            }
            // The object may still have a finalizer.
            if api.get_metadata_opt(desired.name()).await?.is_some() {
                return Err(ChildError::BeingDeleted(desired.to_string()).into());
            }
        }
        self.send(desired).await
    }

    /// Whether a set of the owner with this uid created the object.
    fn is_member(&self, meta: &ObjectMeta, uid: &str) -> bool {
        let annotations = meta.annotations.as_ref();
        let mark = annotations.and_then(|annotations| annotations.get(PRUNED_BY));
        mark.is_some_and(|mark| mark == self.operator) && controls(uid, meta)
    }

    /// Deletes the object with its uid and resource version as preconditions. An object that is already
    /// gone is a success.
    async fn delete(&self, kind: &ScopedResource, meta: &ObjectMeta) -> kube::Result<()> {
        let params = DeleteParams {
            dry_run: self.dry_run,
            preconditions: Some(Preconditions {
                uid: meta.uid.clone(),
                resource_version: meta.resource_version.clone(),
            }),
            ..DeleteParams::background()
        };
        let name = meta.name.as_deref().unwrap_or_default();
        match self.api(kind, meta).delete(name, &params).await {
            Err(kube::Error::Api(status)) if status.is_not_found() => {}
            result => {
                result?;
                if self.dry_run {
                    return Ok(());
                }
                let (kind, namespace) = (&kind.resource.kind, &meta.namespace);
                tracing::info!(kind, namespace, name, "deleted a child");
            }
        }
        self.applied
            .lock()
            .forget(&kind.to_string(), &Key::of(meta));
        Ok(())
    }
}

/// Whether immutable fields are the only reason for the refusal. Any other cause would also fail the create
/// after a delete.
fn is_immutable(status: &Status) -> bool {
    const WORDS: [&str; 3] = [
        // `FieldImmutableErrorMsg` of apimachinery, and by convention the message of CEL rules.
        "immutable",
        // A Service, a PersistentVolume.
        "may not change",
        // A StatefulSet.
        "updates to statefulset spec",
    ];
    let causes = status.details.iter().flat_map(|details| &details.causes);
    let mut causes = causes.peekable();
    status.is_invalid()
        && causes.peek().is_some()
        && causes.all(|cause| WORDS.iter().any(|word| cause.message.contains(word)))
}

fn uid<O: AnyObject>(owner: &O) -> kube::Result<&str> {
    let uid = owner.metadata().uid.as_deref();
    uid.ok_or_else(|| kube::Error::Service(OwnerError::NoUid.into()))
}

fn not_controlled<O: AnyObject>(owner: &O, child: String) -> kube::Error {
    let owner = describe(&owner.resource(), owner.metadata());
    ChildError::NotControlled { child, owner }.into()
}

/// Formats as `ConfigMap a`.
fn describe(kind: &ScopedResource, meta: &ObjectMeta) -> String {
    let name = meta.name.as_deref().unwrap_or_default();
    format!("{} {name}", kind.resource.kind)
}

/// The identity of an object, the same in every version of its type.
fn id(kind: &ScopedResource, meta: &ObjectMeta) -> (String, String, Key) {
    let resource = &kind.resource;
    (
        resource.group.clone(),
        resource.plural.clone(),
        Key::of(meta),
    )
}

fn reference(kind: &ScopedResource, meta: &ObjectMeta) -> ObjectReference {
    ObjectReference {
        api_version: Some(kind.resource.api_version.clone()),
        kind: Some(kind.resource.kind.clone()),
        name: meta.name.clone(),
        namespace: meta.namespace.clone(),
        uid: meta.uid.clone(),
        ..ObjectReference::default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json};

    use super::*;

    #[test]
    fn only_immutable_fields_cause_a_recreate() {
        let job = "Invalid value: {}: field is immutable";
        let set =
            "Forbidden: updates to statefulset spec for fields other than 'replicas' are forbidden";
        let service = "Invalid value: []: may not change once set";
        let wrong = "Invalid value: -1: must be greater than or equal to 0";
        for (code, messages, expected) in [
            (422, &[job] as &[&str], true),
            (422, &[set], true),
            (422, &[job, service], true),
            (422, &[job, wrong], false),
            (422, &[wrong], false),
            (422, &[], false),
            (409, &[job], false),
        ] {
            let reason = if code == 422 { "Invalid" } else { "Conflict" };
            let causes = messages.iter().map(|message| json!({ "message": message }));
            let status = json!({
                "status": "Failure",
                "code": code,
                "reason": reason,
                "message": job,
                "details": { "causes": causes.collect::<Vec<_>>() },
            });
            let status = from_value(status).unwrap();
            assert_eq!(is_immutable(&status), expected, "{code} {messages:?}");
        }
    }
}
