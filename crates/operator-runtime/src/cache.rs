//! One watch and one store per type and selector, shared by all controllers.

mod content;
mod entry;
mod listing;
mod options;
mod pace;
mod part;
#[cfg_attr(not(feature = "leader-election"), allow(dead_code))]
mod shards;
mod share;
mod store;
#[cfg(test)]
mod tests;
pub(crate) mod watch;

use std::{
    any::TypeId,
    future::pending,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use kube::api::{DynamicObject, ObjectMeta};
use parking_lot::Mutex;
use tokio::{
    sync::watch::{self as latch, Receiver, Sender},
    time::timeout,
};

pub(crate) use content::Content;
use entry::{Decode, decode, decode_dynamic, decode_metadata, decode_transformed};
pub(crate) use entry::{Entry, Key, Metadata, Stored, downcast};
pub use options::StoreOptions;
pub(crate) use pace::paced;
use part::Part;
pub(crate) use shards::Shards;
pub use share::ShardKey;
pub(crate) use share::{Share, ShareKey};
pub use store::{Index, Store};
pub(crate) use watch::Watching;

use crate::{
    error::panic_message,
    object::{ScopedResource, Selector, TypedObject},
};

/// The watches of one cluster.
#[derive(Clone, Default)]
pub(crate) struct Cache {
    sources: Arc<Mutex<Vec<Arc<Source>>>>,
    #[cfg(feature = "testing")]
    fill: Arc<OnceLock<Fill>>,
}

/// Fills a source where there are no watches.
#[cfg(feature = "testing")]
pub(crate) type Fill = Box<dyn Fn(&Source) + Send + Sync>;

/// The form in which a source caches its objects.
#[derive(Clone)]
pub(crate) enum Form {
    /// Metadata, which is enough for owner references.
    Metadata,
    /// Whole objects, as this Rust type.
    Objects(TypeId, Decode),
    /// Transformed objects; the type id names both the type and the transform.
    Transformed(TypeId, Decode),
}

impl Form {
    pub(crate) fn of<K: TypedObject>() -> Self {
        Self::Objects(TypeId::of::<K>(), Arc::new(decode::<K>))
    }

    pub(crate) fn dynamic() -> Self {
        Self::Objects(TypeId::of::<DynamicObject>(), Arc::new(decode_dynamic))
    }

    /// Objects of type `K` after `transform`, which its own type identifies.
    pub(crate) fn transformed<K: TypedObject, F>(transform: F) -> Self
    where
        F: Fn(&mut K) + Send + Sync + 'static,
    {
        let decode = move |text: &str| decode_transformed(text, &transform);
        Self::Transformed(TypeId::of::<(K, F)>(), Arc::new(decode))
    }

    /// The form that serves both, if there is one.
    pub(crate) fn and(&self, other: &Self) -> Option<Self> {
        match (self, other) {
            (Self::Objects(own, _), Self::Objects(other, _))
            | (Self::Transformed(own, _), Self::Transformed(other, _)) => {
                (own == other).then(|| self.clone())
            }
            // A reader without the transform must not miss the dropped parts.
            (Self::Transformed(..), _) | (_, Self::Transformed(..)) => None,
            (form, Self::Metadata) | (Self::Metadata, form) => Some(form.clone()),
        }
    }

    fn decode(&self) -> Decode {
        match self {
            Self::Metadata => Arc::new(decode_metadata),
            Self::Objects(_, decode) | Self::Transformed(_, decode) => decode.clone(),
        }
    }
}

/// A change of one object that a watch has shown. At least one of before and after is present.
pub struct ObjectEvent<'a> {
    pub(crate) old: Option<&'a Entry>,
    pub(crate) new: Option<&'a Entry>,
}

impl<'a> ObjectEvent<'a> {
    /// The event of a created object.
    pub(crate) fn created(entry: &'a Entry) -> Self {
        Self {
            old: None,
            new: Some(entry),
        }
    }

    /// The metadata before the change; `None` for an object that was created, or is new to this process.
    pub fn before(&self) -> Option<&'a ObjectMeta> {
        self.old.map(Entry::meta)
    }

    /// The metadata after the change; `None` for a deleted object.
    pub fn after(&self) -> Option<&'a ObjectMeta> {
        self.new.map(Entry::meta)
    }

    /// The object before the change, if the watch caches `K`.
    pub(crate) fn object_before<K: TypedObject>(&self) -> Option<&'a K> {
        self.old.and_then(Entry::as_ref)
    }

    /// The object after the change, if the watch caches `K`.
    pub(crate) fn object_after<K: TypedObject>(&self) -> Option<&'a K> {
        self.new.and_then(Entry::as_ref)
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = &'a Entry> {
        self.old.into_iter().chain(self.new)
    }
}

/// A callback for each change, in order per object. It must not block.
pub(crate) type Handler = Box<dyn Fn(&ObjectEvent<'_>) + Send + Sync>;

/// The cached objects of one type and selector.
pub(crate) struct Source {
    pub(crate) kind: ScopedResource,
    pub(crate) content: Content,
    pub(crate) selector: Selector,
    /// The index by the uid of the controller, created on first use.
    controllers: OnceLock<usize>,
    form: Mutex<Form>,
    handlers: Mutex<Vec<Handler>>,
    /// Whether the source has readers beside its subscribers.
    read: AtomicBool,
    part: Mutex<Part>,
    /// Whether a user needs the type; otherwise, the source is empty while the API server does not serve it.
    required: AtomicBool,
    /// The number of namespaces that are not listed yet, once known.
    unlisted: Sender<Option<usize>>,
    /// Why a namespace is not listed yet.
    hindrance: Mutex<String>,
}

impl Cache {
    /// The source of these objects, created on first use. An optional type may be missing, unless another user needs it.
    pub(crate) fn source(
        &self,
        kind: &ScopedResource,
        selector: &Selector,
        form: Form,
        optional: bool,
    ) -> Arc<Source> {
        let source = self.shared(kind, selector, form);
        source.required.fetch_or(!optional, Ordering::Relaxed);
        self.filled_here(source)
    }

    /// The source, which the fake fills at once.
    fn filled_here(&self, source: Arc<Source>) -> Arc<Source> {
        #[cfg(feature = "testing")]
        if let Some(fill) = self.fill.get() {
            fill(&source);
        }
        source
    }

    fn shared(&self, kind: &ScopedResource, selector: &Selector, form: Form) -> Arc<Source> {
        let mut sources = self.sources.lock();
        let fits = |source: &&Arc<Source>| {
            source.kind == *kind && source.selector == *selector && source.widen(&form)
        };
        if let Some(source) = sources.iter().find(fits) {
            return source.clone();
        }
        let source = Source::new(kind.clone(), selector.clone(), form);
        sources.push(source.clone());
        source
    }

    /// A source of its own of the selected objects of a type, until it is [removed](Self::remove).
    pub(crate) fn add(&self, kind: ScopedResource, selector: Selector, form: Form) -> Arc<Source> {
        let source = Source::new(kind, selector, form);
        source.required.store(true, Ordering::Relaxed);
        self.sources.lock().push(source.clone());
        self.filled_here(source)
    }

    pub(crate) fn remove(&self, source: &Arc<Source>) {
        let mut sources = self.sources.lock();
        sources.retain(|other| !Arc::ptr_eq(other, source));
    }

    /// Makes `fill` fill each source that is created from now on.
    #[cfg(feature = "testing")]
    pub(crate) fn fill_by(&self, fill: Fill) {
        // Only the fake calls this, once per manager.
        _ = self.fill.set(fill);
    }

    /// A source that shows this object with its whole metadata: preferably one of all objects of the type.
    pub(crate) fn showing(
        &self,
        kind: &ScopedResource,
        object: &ObjectMeta,
    ) -> Option<Arc<Source>> {
        let fits = |source: &&Arc<Source>| {
            source.kind == *kind && source.is_whole() && source.selector.selects(object)
        };
        let some = || self.sources.lock().iter().find(fits).cloned();
        self.find(kind, &Selector::default()).or_else(some)
    }

    /// A source of these objects with their whole metadata, if there is one.
    pub(crate) fn find(&self, kind: &ScopedResource, selector: &Selector) -> Option<Arc<Source>> {
        let fits = |source: &&Arc<Source>| {
            source.kind == *kind && source.selector == *selector && source.is_whole()
        };
        self.sources.lock().iter().find(fits).cloned()
    }

    /// The sources that have readers.
    pub(crate) fn read(&self) -> Vec<Arc<Source>> {
        let mut sources = self.sources();
        sources.retain(|source| source.read.load(Ordering::Relaxed));
        sources
    }

    pub(crate) fn sources(&self) -> Vec<Arc<Source>> {
        self.sources.lock().clone()
    }
}

impl Source {
    fn new(kind: ScopedResource, selector: Selector, form: Form) -> Arc<Self> {
        Arc::new(Self {
            kind,
            selector,
            content: Content::default(),
            controllers: OnceLock::new(),
            form: Mutex::new(form),
            handlers: Mutex::default(),
            read: AtomicBool::new(false),
            part: Mutex::default(),
            required: AtomicBool::new(false),
            unlisted: latch::channel(None).0,
            hindrance: Mutex::new("not started".to_owned()),
        })
    }

    /// Calls `handler` for each change from now on.
    pub(crate) fn subscribe(&self, handler: Handler) {
        self.handlers.lock().push(handler);
    }

    /// Like [`subscribe`](Self::subscribe), ahead of the existing subscribers.
    pub(crate) fn subscribe_first(&self, handler: Handler) {
        self.handlers.lock().insert(0, handler);
    }

    /// Marks the source as read: controllers then wait until it is filled.
    pub(crate) fn is_read(&self) {
        self.read.store(true, Ordering::Relaxed);
    }

    /// Whether the metadata of its objects is whole.
    fn is_whole(&self) -> bool {
        !matches!(self.form(), Form::Transformed(..))
    }

    /// The objects that the owner with this uid controls.
    pub(crate) fn controlled_by(&self, uid: &str) -> Vec<Entry> {
        let index = || self.content.index(Box::new(controllers));
        self.content.find(*self.controllers.get_or_init(index), uid)
    }

    /// Whether every namespace was listed.
    pub(crate) fn is_filled(&self) -> bool {
        *self.unlisted.borrow() == Some(0)
    }

    /// Waits until every namespace was listed.
    pub(crate) async fn filled(&self) {
        let mut unlisted: Receiver<_> = self.unlisted.subscribe();
        // The sender lives as long as `self`.
        _ = unlisted.wait_for(|unlisted| *unlisted == Some(0)).await;
    }

    /// Returns the reason if not every namespace was listed within `limit`, and never otherwise.
    pub(crate) async fn overdue(&self, limit: Duration) -> String {
        match timeout(limit, self.filled()).await {
            Ok(()) => pending().await,
            Err(_) => self.hindrance.lock().clone(),
        }
    }

    /// Sets the reason why a namespace is not listed yet.
    pub(crate) fn is_hindered(&self, reason: &str) {
        reason.clone_into(&mut self.hindrance.lock());
    }

    /// Whether this source also serves `form`, caching more if it must.
    fn widen(&self, form: &Form) -> bool {
        let mut own = self.form.lock();
        match own.and(form) {
            Some(both) => *own = both,
            None => return false,
        }
        true
    }

    pub(crate) fn form(&self) -> Form {
        self.form.lock().clone()
    }

    /// Replaces the content with these objects, as JSON, in place of a watch.
    #[cfg(feature = "testing")]
    pub(crate) fn fill<'a>(&self, objects: impl Iterator<Item = (Key, &'a str)>) {
        for (key, text) in objects {
            self.show(&key, Some(text));
        }
        self.unlisted.send_replace(Some(0));
    }

    /// Replaces one object, as JSON, in place of a watch; `None` deletes it.
    ///
    /// # Panics
    /// If the JSON is not an object.
    #[cfg(feature = "testing")]
    pub(crate) fn show(&self, key: &Key, object: Option<&str>) {
        let raw = |text| serde_json::from_str::<entry::Raw<false>>(text).expect("an object");
        let decode = self.form().decode();
        self.change(key, object.map(|text| raw(text).decode(&decode)));
    }

    /// Stores `new`, and notifies the subscribers unless nothing changed.
    fn change(&self, key: &Key, new: Option<Entry>) {
        let old = self.content.replace(key, new.clone());
        let version = |entry: &Option<Entry>| {
            let meta = entry.as_ref().map(Entry::meta);
            meta.map(|meta| (meta.uid.clone(), meta.resource_version.clone()))
        };
        if version(&old) == version(&new) {
            return;
        }
        let (old, new) = (old.as_ref(), new.as_ref());
        if let Some(Entry::Invalid(invalid)) = new {
            let (kind, error) = (&self.kind.resource.kind, &invalid.error);
            let (namespace, name) = (key.namespace(), key.name());
            let text = "skipping an object that does not decode";
            tracing::warn!(kind, namespace, name, error, "{text}");
        }
        match (old, new) {
            // An object recreated under the same name: the deletion in between was missed.
            (Some(first), Some(second)) if first.meta().uid != second.meta().uid => {
                self.notify(key, &ObjectEvent { old, new: None });
                self.notify(key, &ObjectEvent { old: None, new });
            }
            _ => self.notify(key, &ObjectEvent { old, new }),
        }
    }

    fn notify(&self, key: &Key, change: &ObjectEvent<'_>) {
        for handler in &*self.handlers.lock() {
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| handler(change))) {
                let (kind, error) = (&self.kind.resource.kind, panic_message(&*panic));
                tracing::error!(kind, ?key, error, "a mapper or predicate panicked");
            }
        }
    }
}

/// The uid of the controller of an object; the API server allows one.
fn controllers(entry: &Entry) -> Vec<String> {
    let references = entry.meta().owner_references.iter().flatten();
    let controllers = references.filter(|owner| owner.controller == Some(true));
    controllers.map(|owner| owner.uid.clone()).collect()
}
