//! One watch and one store a type, however many controllers use them.

mod content;
mod entry;
mod pace;
mod store;
pub(crate) mod watch;

use std::{
    any::TypeId,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use kube::api::ObjectMeta;
use parking_lot::Mutex;
use tokio::sync::watch::{self as latch, Receiver, Sender};

pub(crate) use content::Content;
pub(crate) use entry::{Decode, Entry, Key, Stored, decode, decode_dynamic, downcast};
pub(crate) use pace::paced;
pub use store::{Index, Store};
pub(crate) use watch::Watching;

use crate::{
    error::panic_message,
    object::{ScopedResource, Selector, TypedObject},
};

/// Everything that is watched in one cluster.
#[derive(Clone, Default)]
pub(crate) struct Cache(Arc<Mutex<Vec<Arc<Source>>>>);

/// What a source keeps of its objects.
#[derive(Clone, Copy)]
pub(crate) enum Form {
    /// Their metadata, which is all that an owner reference needs.
    Metadata,
    /// All of them, as this Rust type.
    Objects(TypeId, Decode),
}

impl Form {
    pub(crate) fn of<K: TypedObject>() -> Self {
        Self::Objects(TypeId::of::<K>(), decode::<K>)
    }

    pub(crate) fn dynamic() -> Self {
        Self::Objects(TypeId::of::<kube::api::DynamicObject>(), decode_dynamic)
    }

    /// What serves both, if anything does.
    pub(crate) fn and(self, other: Self) -> Option<Self> {
        match (self, other) {
            (form, Self::Metadata) | (Self::Metadata, form) => Some(form),
            (Self::Objects(own, _), Self::Objects(other, _)) => (own == other).then_some(self),
        }
    }
}

/// A change of one object that a watch has shown; at least one of both is there.
pub struct ObjectEvent<'a> {
    pub(crate) old: Option<&'a Entry>,
    pub(crate) new: Option<&'a Entry>,
}

impl<'a> ObjectEvent<'a> {
    /// As of an object that has just come.
    pub(crate) fn created(entry: &'a Entry) -> Self {
        Self {
            old: None,
            new: Some(entry),
        }
    }

    /// The metadata before: none for an object that was created, or is new to this process.
    pub fn before(&self) -> Option<&'a ObjectMeta> {
        self.old.map(Entry::meta)
    }

    /// The metadata after: none for an object that is gone.
    pub fn after(&self) -> Option<&'a ObjectMeta> {
        self.new.map(Entry::meta)
    }

    /// The object before, if the watch is of `K`.
    pub(crate) fn object_before<K: TypedObject>(&self) -> Option<&'a K> {
        self.old.and_then(Entry::as_ref)
    }

    /// The object after, if the watch is of `K`.
    pub(crate) fn object_after<K: TypedObject>(&self) -> Option<&'a K> {
        self.new.and_then(Entry::as_ref)
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = &'a Entry> {
        self.old.into_iter().chain(self.new)
    }
}

/// Called for each change, in order for each object; it must not wait.
pub(crate) type Handler = Box<dyn Fn(&ObjectEvent<'_>) + Send + Sync>;

/// The objects of one type that match a selector.
pub(crate) struct Source {
    pub(crate) kind: ScopedResource,
    pub(crate) content: Content,
    selector: Selector,
    form: Mutex<Form>,
    handlers: Mutex<Vec<Handler>>,
    /// Whether somebody reads it beside those who are told of changes.
    read: AtomicBool,
    /// How many namespaces are not listed yet, once that is known.
    unlisted: Sender<Option<usize>>,
}

impl Cache {
    /// The source of these objects, made if nobody has asked for it yet.
    pub(crate) fn source(
        &self,
        kind: &ScopedResource,
        selector: &Selector,
        form: Form,
    ) -> Arc<Source> {
        let mut sources = self.0.lock();
        let fits = |source: &&Arc<Source>| {
            source.kind == *kind && source.selector == *selector && source.widen(form)
        };
        if let Some(source) = sources.iter().find(fits) {
            return source.clone();
        }
        let source = Arc::new(Source {
            kind: kind.clone(),
            selector: selector.clone(),
            content: Content::default(),
            form: Mutex::new(form),
            handlers: Mutex::default(),
            read: AtomicBool::new(false),
            unlisted: latch::channel(None).0,
        });
        sources.push(source.clone());
        source
    }

    /// A source of all objects of a type, if there is one.
    pub(crate) fn any(&self, kind: &ScopedResource) -> Option<Arc<Source>> {
        let all =
            |source: &&Arc<Source>| source.kind == *kind && source.selector == Selector::default();
        self.0.lock().iter().find(all).cloned()
    }

    /// The sources that somebody reads.
    pub(crate) fn read(&self) -> Vec<Arc<Source>> {
        let mut sources = self.sources();
        sources.retain(|source| source.read.load(Ordering::Relaxed));
        sources
    }

    pub(crate) fn sources(&self) -> Vec<Arc<Source>> {
        self.0.lock().clone()
    }
}

impl Source {
    /// Calls `handler` for each change; has no effect on what was shown before.
    pub(crate) fn subscribe(&self, handler: Handler) {
        self.handlers.lock().push(handler);
    }

    /// As [`subscribe`](Self::subscribe), before those who subscribed already.
    pub(crate) fn subscribe_first(&self, handler: Handler) {
        self.handlers.lock().insert(0, handler);
    }

    /// Makes controllers wait until this source is filled.
    pub(crate) fn is_read(&self) {
        self.read.store(true, Ordering::Relaxed);
    }

    /// Whether every namespace was listed.
    pub(crate) fn is_filled(&self) -> bool {
        *self.unlisted.borrow() == Some(0)
    }

    /// Returns once every namespace was listed.
    pub(crate) async fn filled(&self) {
        let mut unlisted: Receiver<_> = self.unlisted.subscribe();
        // The sender lives as long as `self`.
        _ = unlisted.wait_for(|unlisted| *unlisted == Some(0)).await;
    }

    /// Whether this source also serves who wants `form`, keeping more if it must.
    fn widen(&self, form: Form) -> bool {
        let mut own = self.form.lock();
        let both = own.and(form);
        *own = both.unwrap_or(*own);
        both.is_some()
    }

    /// Keeps `new`, and tells who is concerned unless nothing changed.
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
            // Another object of the same name: nobody saw the first one go.
            (Some(first), Some(second)) if first.meta().uid != second.meta().uid => {
                self.tell(key, &ObjectEvent { old, new: None });
                self.tell(key, &ObjectEvent { old: None, new });
            }
            _ => self.tell(key, &ObjectEvent { old, new }),
        }
    }

    fn tell(&self, key: &Key, change: &ObjectEvent<'_>) {
        for handler in &*self.handlers.lock() {
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| handler(change))) {
                let (kind, error) = (&self.kind.resource.kind, panic_message(&*panic));
                tracing::error!(kind, ?key, error, "what maps or filters a change panicked");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{ConfigMap, Secret};
    use serde_json::json;

    use super::*;

    fn source(cache: &Cache, form: Form) -> Arc<Source> {
        cache.source(
            &ScopedResource::of::<ConfigMap>(),
            &Selector::default(),
            form,
        )
    }

    fn entry(uid: &str, version: &str) -> Entry {
        let object = json!({ "metadata": { "uid": uid, "resourceVersion": version } });
        let object: ConfigMap = serde_json::from_value(object).unwrap();
        Entry::Valid(Arc::new(object))
    }

    #[test]
    fn who_wants_the_same_shares_a_source() {
        let cache = Cache::default();
        let metadata = source(&cache, Form::Metadata);
        // Whoever asked for metadata gets it from whole objects, too.
        let objects = source(&cache, Form::of::<ConfigMap>());
        assert!(Arc::ptr_eq(&metadata, &objects));
        assert!(Arc::ptr_eq(&objects, &source(&cache, Form::Metadata)));
        assert!(Arc::ptr_eq(
            &objects,
            &source(&cache, Form::of::<ConfigMap>())
        ));
        assert!(!Arc::ptr_eq(&objects, &source(&cache, Form::dynamic())));

        let labels = Some("app=web".to_owned());
        let some = Selector {
            labels,
            fields: None,
        };
        let some = cache.source(&ScopedResource::of::<ConfigMap>(), &some, Form::Metadata);
        let others = cache.source(
            &ScopedResource::of::<Secret>(),
            &Selector::default(),
            Form::Metadata,
        );
        assert_eq!(cache.sources().len(), 4);
        assert!(
            cache
                .any(&some.kind)
                .is_some_and(|any| Arc::ptr_eq(&any, &objects))
        );
        assert!(
            cache
                .any(&others.kind)
                .is_some_and(|any| Arc::ptr_eq(&any, &others))
        );
    }

    #[test]
    fn handlers_see_what_changed_even_if_one_panics() {
        let source = source(&Cache::default(), Form::of::<ConfigMap>());
        let seen: Arc<Mutex<Vec<String>>> = Arc::default();
        let log = seen.clone();
        source.subscribe(Box::new(|_| panic!("as it must not")));
        source.subscribe(Box::new(move |change| {
            let part = |meta: Option<&ObjectMeta>| {
                meta.and_then(|meta| meta.resource_version.clone())
                    .unwrap_or_default()
            };
            let line = format!("{}>{}", part(change.before()), part(change.after()));
            log.lock().push(line);
        }));
        let key = Key::new(Some("ns"), "a");
        for new in [
            Some(entry("u", "1")),
            Some(entry("u", "1")),
            Some(entry("u", "2")),
            // Deleted and made again, both unseen.
            Some(entry("v", "3")),
            None,
            None,
        ] {
            source.change(&key, new);
        }
        assert_eq!(*seen.lock(), [">1", "1>2", "2>", ">3", "3>"]);
    }
}
