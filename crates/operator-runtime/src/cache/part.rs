//! The part of its objects that a source keeps: all, or those in the slots of this process.

use std::{
    collections::{BTreeMap, BTreeSet},
    future::pending,
    sync::atomic::Ordering,
};

use kube::{Client, Resource, api::ObjectMeta};
use tokio::sync::watch::Receiver;

use super::{
    Entry, Key, Shards, Share, Source,
    entry::{Decode, Raw},
};
use crate::{client::selector::selected, slots::Slots};

/// What the users of a source need.
#[derive(Default)]
pub(super) struct Part {
    /// The same part for all of them, if there is one.
    shared: Option<Shared>,
    whole: bool,
}

struct Shared {
    shards: Shards,
    share: Share,
    /// The number of this source among those that have to be listed before a slot begins.
    number: usize,
    /// The slots whose objects are listed, by namespace.
    listed: BTreeMap<Option<String>, Slots>,
}

/// What a watch of one namespace keeps.
pub(super) struct Kept {
    by: Option<(Share, Receiver<Slots>)>,
    shards: Option<Shards>,
    slots: Slots,
}

impl Source {
    /// One more user needs only the objects in the slots of this process; with `None`, it needs them all.
    pub(crate) fn needs(&self, share: Option<(Shards, Share)>) {
        let mut part = self.part.lock();
        match (&part.shared, share) {
            (None, Some((shards, share))) => {
                part.shared = Some(Shared {
                    number: shards.add_watch(self.kind.to_string()),
                    shards,
                    share,
                    listed: BTreeMap::new(),
                });
            }
            (Some(shared), Some((_, share))) if shared.share.is_same(&share) => {}
            _ => part.whole = true,
        }
    }

    /// There are no objects: no slot waits for them.
    pub(super) fn has_none(&self) {
        if let Some(shared) = &self.part.lock().shared {
            shared.shards.listed(shared.number, Slots::all());
        }
    }

    /// Begins to watch these namespaces.
    pub(super) fn begin(&self, namespaces: &[Option<String>]) {
        let mut part = self.part.lock();
        part.whole |= self.read.load(Ordering::Relaxed);
        let whole = part.whole;
        if let Some(shared) = &mut part.shared {
            let none = |name: &Option<String>| (name.clone(), Slots::NONE);
            shared.listed = namespaces.iter().map(none).collect();
            // What keeps all objects holds no slot up: the controllers wait until it is filled.
            let slots = if whole { Slots::all() } else { Slots::NONE };
            shared.shards.listed(shared.number, slots);
        }
    }

    /// What a watch keeps from now on.
    pub(super) fn kept(&self) -> Kept {
        let part = self.part.lock();
        let shared = part.shared.as_ref().filter(|_| !part.whole);
        let by = shared.map(|shared| (shared.share.clone(), shared.shards.cached()));
        Kept {
            slots: match by {
                Some(_) => Slots::NONE,
                None => Slots::all(),
            },
            shards: shared.map(|shared| shared.shards.clone()),
            by,
        }
    }

    /// All objects of the namespace in these slots are here.
    pub(super) fn listed(&self, namespace: Option<&str>, slots: Slots) {
        let mut part = self.part.lock();
        if let Some(shared) = part.shared.as_mut() {
            shared.listed.insert(namespace.map(str::to_owned), slots);
            let everywhere = Slots::of_all(shared.listed.values());
            if !part.whole
                && let Some(shared) = &part.shared
            {
                shared.shards.listed(shared.number, everywhere);
            }
        }
    }

    /// Removes the objects of the namespace that are not kept any more.
    pub(super) fn shed(&self, namespace: Option<&str>, kept: &Kept) {
        self.listed(namespace, kept.slots);
        let entries = self.content.entries();
        let keys: BTreeSet<_> = entries
            .iter()
            .filter(|entry| kept.keeps(entry))
            .map(|entry| Key::of(entry.meta()))
            .collect();
        self.retain(namespace, &keys);
    }
}

impl Kept {
    /// Takes the slots of this process for the next list; none, if there is nothing to list.
    pub(super) fn renew(&mut self) -> Slots {
        if let Some((_, cached)) = &mut self.by {
            self.slots = *cached.borrow_and_update();
        }
        self.slots
    }

    /// The client of a list and its watch: the API server leaves out what is not kept, if it can.
    pub(super) fn client(&self, client: Client) -> Client {
        let shards = self.shards.as_ref().filter(|shards| shards.selects());
        let selector = shards.zip(self.by.as_ref());
        let selector = selector.and_then(|(_, (share, _))| share.selector(self.slots));
        match selector {
            Some(selector) => selected(client, &selector),
            None => client,
        }
    }

    pub(super) fn slots(&self) -> Slots {
        self.slots
    }

    /// Waits until the slots change. Returns whether there are new ones, whose objects have to be listed.
    pub(super) async fn changed(&mut self) -> bool {
        let Some((_, cached)) = &mut self.by else {
            return pending().await;
        };
        if cached.changed().await.is_err() {
            return pending().await;
        }
        let now = *cached.borrow_and_update();
        let grows = !now.without(self.slots).is_empty();
        // New slots count when they are listed.
        self.slots = self.slots.within(now);
        grows
    }

    /// The decoded object, unless it is not kept.
    pub(super) fn decode<const METADATA: bool>(
        &self,
        raw: Raw<METADATA>,
        decode: &Decode,
    ) -> Option<Entry> {
        if self.drops(raw.meta()) {
            return None;
        }
        Some(raw.decode(decode)).filter(|entry| self.keeps(entry))
    }

    /// Whether an object is certainly not kept, as far as the head of its metadata tells.
    pub(super) fn drops(&self, head: &ObjectMeta) -> bool {
        let share = self.by.as_ref().map(|(share, _)| share);
        let slot = share.and_then(|share| share.slot_of_head(head));
        slot.is_some_and(|slot| !self.slots.contains(slot))
    }

    pub(super) fn keeps(&self, entry: &Entry) -> bool {
        match &self.by {
            Some((share, _)) => share
                .slot(entry)
                .is_some_and(|slot| self.slots.contains(slot)),
            None => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, time::Duration};

    use http::{Request, Response};
    use k8s_openapi::api::core::v1::ConfigMap;
    use kube::{api::ObjectMeta, client::Body};
    use parking_lot::Mutex;
    use serde_json::json;
    use tokio::time::timeout;
    use tower::{BoxError, service_fn};

    use super::*;
    use crate::{
        cache::{Cache, Form, ShareKey as By, Watching},
        object::{ScopedResource, Selector},
        server::probes::Readiness,
        slots::Slot,
    };

    fn source() -> Arc<Source> {
        let kind = ScopedResource::of::<ConfigMap>();
        Cache::default().source(&kind, &Selector::default(), Form::Metadata, false)
    }

    fn object(name: &str, uid: &str) -> (Key, Entry) {
        let metadata = ObjectMeta {
            name: Some(name.to_owned()),
            uid: Some(uid.to_owned()),
            ..ObjectMeta::default()
        };
        let key = Key::of(&metadata);
        let object = ConfigMap {
            metadata,
            ..ConfigMap::default()
        };
        (key, Entry::Valid(Arc::new(object)))
    }

    fn share(shards: &Shards) -> Option<(Shards, Share)> {
        Some((shards.clone(), Share::Own(By::Uid)))
    }

    /// The slots of which the only watch of these shards has all objects.
    fn listed(shards: &Shards) -> Slots {
        Slots::of_all(&*shards.watches().borrow())
    }

    #[tokio::test]
    async fn a_watch_keeps_the_objects_in_the_slots_of_this_process() {
        let (source, shards) = (source(), Shards::default());
        source.needs(share(&shards));
        source.begin(&[None]);
        let mut kept = source.kept();
        assert!(kept.renew().is_empty());
        assert_eq!(listed(&shards), Slots::NONE);

        let (ours, others) = (object("ours", "ours"), object("others", "others"));
        let slot = |uid| Slots::from_iter([Slot::of(uid)]);
        assert_ne!(slot("ours"), slot("others"));
        shards.cache(slot("ours"));
        assert!(kept.changed().await, "there is something to list");
        kept.renew();
        for (key, entry) in [&ours, &others] {
            assert_eq!(kept.drops(entry.meta()), !kept.keeps(entry));
            source.change(key, Some(entry.clone()).filter(|entry| kept.keeps(entry)));
        }
        assert_eq!(shards.unlisted(slot("ours")), [source.kind.to_string()]);
        source.listed(None, kept.slots());
        assert!(shards.unlisted(slot("ours")).is_empty());
        assert_eq!(source.content.keys(), std::slice::from_ref(&ours.0));
        assert_eq!(listed(&shards), slot("ours"));

        // The slot moves away, and another one comes.
        shards.cache(slot("others"));
        assert!(kept.changed().await);
        source.shed(None, &kept);
        assert!(source.content.keys().is_empty());
        assert_eq!(listed(&shards), Slots::NONE);
        assert_eq!(kept.renew(), slot("others"));
    }

    #[test]
    fn a_watch_that_somebody_needs_whole_keeps_all() {
        let shards = Shards::default();
        let namespaces = Some((shards.clone(), Share::Own(By::Namespace)));
        for other in [None, namespaces] {
            let source = source();
            source.needs(share(&shards));
            source.needs(share(&shards));
            source.needs(other);
            source.begin(&[None]);
            let mut kept = source.kept();
            assert_eq!(kept.renew(), Slots::all());
            assert!(kept.keeps(&object("any", "any").1));
        }
        // A store shows all objects.
        let source = source();
        source.needs(share(&shards));
        source.is_read();
        source.begin(&[None]);
        assert_eq!(source.kept().renew(), Slots::all());
        assert_eq!(
            listed(&shards),
            Slots::all(),
            "none of them holds a slot up"
        );
    }

    /// An API server that serves these resources, and lists no object; with what it was asked for.
    fn server(resources: serde_json::Value) -> (Client, Arc<Mutex<Vec<String>>>) {
        let asked = Arc::<Mutex<Vec<String>>>::default();
        let record = asked.clone();
        let answer = service_fn(move |request: Request<Body>| {
            let uri = request.uri().to_string();
            let is_list = uri.contains("/configmaps") && !uri.contains("watch=");
            let is_watch = uri.contains("sendInitialEvents=") || uri.contains("watch=");
            record.lock().push(uri);
            let body = match is_list {
                true => json!({
                    "apiVersion": "v1",
                    "kind": "ConfigMapList",
                    "metadata": { "resourceVersion": "1" },
                    "items": [],
                }),
                false => json!({
                    "kind": "APIResourceList",
                    "groupVersion": "v1",
                    "resources": resources,
                }),
            };
            async move {
                match is_watch {
                    true => pending().await,
                    false => {
                        Ok::<_, BoxError>(Response::new(Body::from(body.to_string().into_bytes())))
                    }
                }
            }
        });
        (Client::new(answer, "default"), asked)
    }

    fn watching(client: Client, is_own: bool) -> Watching {
        Watching {
            client,
            namespaces: vec![None],
            is_own,
            readiness: Readiness::default(),
            check: "configmaps".to_owned(),
            filled: false,
        }
    }

    #[tokio::test]
    async fn no_slot_waits_for_a_type_that_is_optional_and_missing() {
        let kind = ScopedResource::of::<ConfigMap>();
        let cache = Cache::default();
        let source = cache.source(&kind, &Selector::default(), Form::Metadata, true);
        let shards = Shards::default();
        source.needs(share(&shards));
        let mut watches = shards.watches();
        let all = watches.wait_for(|all| Slots::of_all(all) == Slots::all());
        tokio::select! {
            () = source.clone().watch(watching(server(json!([])).0, true)) => unreachable!(),
            all = timeout(Duration::from_secs(5), all) => drop(all.unwrap().unwrap()),
        }
    }

    #[tokio::test]
    async fn only_the_api_server_that_was_tried_is_asked_for_a_part() {
        for is_own in [true, false] {
            let (source, shards) = (source(), Shards::default());
            source.needs(share(&shards));
            shards.select(true);
            shards.cache("0-3".parse().unwrap());
            let resource = json!({
                "name": "configmaps",
                "singularName": "configmap",
                "namespaced": true,
                "kind": "ConfigMap",
                "verbs": ["list", "watch"],
            });
            let (client, asked) = server(json!([resource]));
            let listing = async {
                let lists = |uri: &String| uri.contains("/configmaps");
                while !asked.lock().iter().any(lists) {
                    tokio::task::yield_now().await;
                }
            };
            tokio::select! {
                () = source.clone().watch(watching(client, is_own)) => unreachable!(),
                listing = timeout(Duration::from_secs(5), listing) => listing.unwrap(),
            }
            let selected = asked
                .lock()
                .iter()
                .any(|uri| uri.contains("shardSelector="));
            assert_eq!(selected, is_own, "{asked:?}");
        }
    }

    #[test]
    fn a_slot_is_listed_when_every_namespace_is() {
        let (source, shards) = (source(), Shards::default());
        source.needs(share(&shards));
        source.begin(&[Some("a".to_owned()), Some("b".to_owned())]);
        let slots: Slots = "0-3".parse().unwrap();
        source.listed(Some("a"), slots);
        assert_eq!(listed(&shards), Slots::NONE);
        source.listed(Some("b"), "2-9".parse().unwrap());
        assert_eq!(listed(&shards), "2-3".parse().unwrap());
    }
}
