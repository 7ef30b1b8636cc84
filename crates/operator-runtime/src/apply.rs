//! Server-side apply that skips unchanged objects.

mod answer;
mod change;
mod children;
pub mod conditions;
pub mod finalizer;
mod managed;
mod owned;
mod owner;
mod ownership;
mod parts;
mod pruned;
mod record;
pub mod status;
pub(crate) mod writer;
pub(crate) mod written;

use std::{
    fmt,
    hash::{DefaultHasher, Hash, Hasher},
    ptr,
    sync::{Arc, Weak},
};

use kube::{
    Api,
    api::{DynamicObject, ObjectMeta, Patch, PatchParams},
};
use parking_lot::Mutex;
use serde_json::value::RawValue;

use answer::Answer;
pub use children::{AppliedChildren, ChildError, Children};
use managed::Manager;
pub use owner::OwnerError;
#[cfg(feature = "testing")]
pub(crate) use pruned::Everything;

use crate::{
    cache::{Key, Metadata, ObjectEvent, Source},
    cluster::Cluster,
    object::{AnyObject, ScopedResource, Selector},
};
use pruned::Pruned;
pub use record::Applied;
use record::{Record, Records};
use writer::Writer;

/// Applies objects by server-side apply. Clones are cheap and share state.
///
/// An object is not sent again if the watch of its type shows it unchanged since the last apply. After a
/// start, everything is sent once.
///
/// ```
/// # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.rs")); }
/// # use example::Memcached;
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kube::ResourceExt;
/// use operator_runtime::Applier;
/// use serde_json::json;
///
/// async fn config(applier: &Applier, memcached: &Memcached) -> kube::Result<()> {
///     let config: ConfigMap = serde_json::from_value(json!({
///         "metadata": { "name": memcached.name_any() },
///         "data": { "replicas": memcached.spec.replicas.to_string() },
///     }))
///     .map_err(kube::Error::SerdeError)?;
///     let applied = applier.owned(memcached, config).await?;
///     if applied.sent {
///         tracing::info!(generation = applied.generation, "applied the configuration");
///     }
///     Ok(())
/// }
/// ```
#[derive(Clone)]
pub struct Applier {
    cluster: Cluster,
    /// The operator's name: the field manager of earlier versions.
    operator: &'static str,
    /// The field manager of the operator that this one replaces.
    former: Option<Arc<str>>,
    /// The field manager; `None` means that of the running controller.
    manager: Option<Arc<str>>,
    dry_run: bool,
    applied: Arc<Mutex<Records>>,
    /// The sources whose deletions are subscribed to. Those of [dynamic watches](crate::DynamicWatches) end.
    followed: Arc<Mutex<Vec<Weak<Source>>>>,
    pruned: Pruned,
}

/// The type-erased object of an apply.
struct Desired {
    kind: ScopedResource,
    meta: ObjectMeta,
    text: Box<RawValue>,
}

impl Desired {
    fn of<T: AnyObject>(object: &T) -> kube::Result<Self> {
        Ok(Self {
            kind: object.resource(),
            meta: object.metadata().clone(),
            text: object.to_json().map_err(kube::Error::SerdeError)?,
        })
    }

    /// The desired state of a child of `owner`.
    fn owned<O: AnyObject, T: AnyObject>(owner: &O, mut child: T) -> kube::Result<Self> {
        let owned = owner::own(owner, &mut child);
        owned.map_err(|error| kube::Error::Service(error.into()))?;
        Self::of(&child)
    }

    fn name(&self) -> &str {
        self.meta.name.as_deref().unwrap_or_default()
    }
}

/// Formats as `ConfigMap a`.
impl fmt::Display for Desired {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind.resource.kind, self.name())
    }
}

impl Applier {
    pub(crate) fn new(cluster: Cluster, operator: &'static str) -> Self {
        Self {
            cluster,
            operator,
            former: None,
            manager: None,
            dry_run: false,
            applied: Arc::default(),
            followed: Arc::default(),
            pruned: Pruned::default(),
        }
    }

    /// Takes over what the operator with this field manager wrote.
    pub(crate) fn replace(&mut self, former: Option<String>) {
        self.former = former.map(Into::into);
    }

    /// An applier with this field manager, of at most 128 bytes. Default: `<operator>/<controller>` in the
    /// reconciles of a controller, and `<operator>/manager` elsewhere, such as in a task that a reconcile
    /// spawns.
    ///
    /// The API server removes a field that its manager applied before and no longer sets. So what is applied
    /// under one name must be complete, and after a change of the name, older fields stay.
    #[must_use]
    pub fn with_manager(&self, field_manager: &str) -> Self {
        Self {
            manager: Some(field_manager.into()),
            ..self.clone()
        }
    }

    /// An applier that takes over what `former`, the field manager of another program, wrote in the objects that it applies: the first
    /// apply of an object removes those fields of `former` that it does not set.
    #[must_use]
    pub fn taking_over(&self, former: &str) -> Self {
        Self {
            former: Some(former.into()),
            ..self.clone()
        }
    }

    /// An applier of another [cluster](crate::Manager::cluster). Owners and children are in that cluster:
    /// garbage collection deletes a child whose owner it does not find.
    #[must_use]
    pub fn for_cluster(&self, cluster: &Cluster) -> Self {
        Self {
            cluster: cluster.clone(),
            applied: Arc::default(),
            followed: Arc::default(),
            ..self.clone()
        }
    }

    /// An applier whose requests change nothing: the API server validates and answers them as usual. It sends
    /// every object.
    #[must_use]
    pub fn dry_run(&self) -> Self {
        Self {
            dry_run: true,
            ..self.clone()
        }
    }

    /// Applies `child` with `owner` as its controller. The child's namespace defaults to the owner's.
    ///
    /// An existing object of that name is adopted, unless the watch of its type shows another controller.
    ///
    /// # Errors
    /// Errors of the API server; in [`kube::Error::Service`], [`ChildError::OtherController`], or an
    /// [`OwnerError`], for example for an owner under foreground deletion, which gets no new children.
    pub async fn owned<O, T>(&self, owner: &O, child: T) -> kube::Result<Applied>
    where
        O: AnyObject,
        T: AnyObject,
    {
        self.send(&Desired::owned(owner, child)?).await
    }

    /// Applies `object` with force: its fields are taken over from other field managers.
    ///
    /// # Errors
    /// Errors of the API server.
    pub async fn apply<T: AnyObject>(&self, object: &T) -> kube::Result<Applied> {
        self.send(&Desired::of(object)?).await
    }

    async fn send(&self, desired: &Desired) -> kube::Result<Applied> {
        let Desired { kind, meta, text } = desired;
        let mut hasher = DefaultHasher::new();
        text.get().hash(&mut hasher);
        let hash = hasher.finish();
        let key = Key::of(meta);
        let id = (self.manager(), kind.to_string(), key.clone());
        let is_first = self.applied.lock().get(&id).is_none();

        // Without a watch, changes by others would go unnoticed.
        if let Some(source) = self.cluster.cache.showing(kind, meta) {
            self.follow(&source);
            let found = source.content.get(&key);
            let found = found.as_ref().map(crate::cache::Entry::meta);
            if let Some(owner) = found.and_then(|found| owner::other_controller(meta, found)) {
                return Err(ChildError::OtherController {
                    child: desired.to_string(),
                    controller: format!("{} {}", owner.kind, owner.name),
                }
                .into());
            }
            if !self.dry_run {
                let mut applied = self.applied.lock();
                if let Some(record) = applied.get(&id)
                    && record.hash == hash
                    && record.holds(found, meta)
                {
                    return Ok(record.newest(found));
                }
                applied.expect(&id);
            }
        }
        let result = self
            .request(desired, &id.0, is_first)
            .await
            .inspect_err(|_| {
                self.applied.lock().remove(&id);
            })?;
        let answer = Applied::of(&result, true);
        if !self.dry_run {
            let record = Record::new(hash, answer.clone());
            self.applied.lock().note(&id, record);
        }
        Ok(answer)
    }

    async fn request(
        &self,
        desired: &Desired,
        manager: &str,
        is_first: bool,
    ) -> kube::Result<ObjectMeta> {
        type Found = Answer<Metadata>;
        let api = self.api(&desired.kind, &desired.meta);
        let params = PatchParams {
            dry_run: self.dry_run,
            ..PatchParams::apply(manager).force()
        };
        let patch = Patch::Apply(&desired.text);
        let apply = async || -> kube::Result<Found> {
            answer::patch_metadata(&api, desired.name(), &params, &patch).await
        };
        let own = Manager::of(manager, "Apply");
        let hand_over = async |old: &Manager<'_>, found: &Found| -> kube::Result<Option<Found>> {
            let Some(patch) = old.handed_to(&own, found)? else {
                return Ok(None);
            };
            let params = PatchParams::default();
            let handed = answer::patch_metadata(&api, desired.name(), &params, &patch).await;
            handed.map(Some)
        };
        // The former manager may have the name that others have, too: an operator in Go by kubebuilder is `manager`. With each apply, the
        // two would take the fields from each other for ever. They still may for a type without a watch, of which no apply is recorded.
        if let Some(former) = self.former.as_deref().filter(|_| is_first && !self.dry_run) {
            // Before the apply, which may be invalid beside what the other wrote: two sources of one volume, for example.
            let mut found = answer::get_metadata(&api, desired.name()).await?;
            for operation in ["Update", "Apply"] {
                if let Some(before) = &found
                    && let Some(handed) = hand_over(&Manager::of(former, operation), before).await?
                {
                    found = Some(handed);
                }
            }
        }
        let applied = apply().await?;
        // An earlier version of this operator had one manager for all controllers.
        let earlier = Manager::of(self.operator, "Apply");
        if self.dry_run
            || self.operator == manager
            || hand_over(&earlier, &applied).await?.is_none()
        {
            return Ok(applied.object.metadata);
        }
        // Removes what was written before, and is not part of this apply.
        Ok(apply().await?.object.metadata)
    }

    /// The name of the field manager.
    fn manager(&self) -> Arc<str> {
        let running = || writer::current().map(|writer| writer.manager.clone());
        let manager = self.manager.clone().or_else(running);
        manager.unwrap_or_else(|| writer::manager(self.operator, "manager").into())
    }

    /// Declares that a controller of `owner` prunes children of type `child`.
    pub(crate) fn prune(
        &self,
        controller: &str,
        owner: &ScopedResource,
        child: &ScopedResource,
        of: &Selector,
    ) {
        let manager = writer::manager(self.operator, controller);
        self.pruned.declare(manager, owner, child, of);
    }

    /// A controller of this operator as the owner of what it writes; `alone` if no other one has its type.
    pub(crate) fn writer(&self, controller: &str, alone: bool) -> Writer {
        Writer::new(self.operator, self.former.clone(), controller, alone)
    }

    /// Prunes children of every type, found by `everything`.
    #[cfg(feature = "testing")]
    pub(crate) fn prune_everything(&mut self, everything: Everything) {
        self.pruned = Pruned::of_everything(everything);
    }

    /// Drops the records of deleted objects, so that they are applied again.
    fn follow(&self, source: &Arc<Source>) {
        let (applied, kind) = (self.applied.clone(), source.kind.to_string());
        let mut followed = self.followed.lock();
        followed.retain(|source| source.strong_count() > 0);
        if followed
            .iter()
            .any(|it| ptr::eq(it.as_ptr(), Arc::as_ptr(source)))
        {
            return;
        }
        followed.push(Arc::downgrade(source));
        // Subscribed first, so that the record is gone before the owner is reconciled.
        source.subscribe_first(Box::new(move |change: &ObjectEvent<'_>| {
            if let (Some(old), None) = (change.before(), change.after()) {
                applied.lock().forget(&kind, &Key::of(old));
            }
        }));
    }

    /// The API for the type and namespace of an object.
    fn api(&self, kind: &ScopedResource, meta: &ObjectMeta) -> Api<DynamicObject> {
        let namespace = meta.namespace.as_deref().unwrap_or_default();
        kind.api(self.cluster.client(), Some(namespace))
    }
}

impl fmt::Debug for Applier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Applier of {}", self.operator)
    }
}
