//! The part of its objects that a source keeps: all, or those in the slots of this process.

use std::{
    collections::{BTreeMap, BTreeSet},
    future::pending,
    sync::atomic::Ordering,
};

use kube::{Client, api::ObjectMeta};
use tokio::sync::watch::Receiver;

use super::{Entry, Key, Source};
use crate::shards::{Shards, Share, Slots, selected};

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
                    number: shards.add_watch(),
                    shards,
                    share,
                    listed: BTreeMap::new(),
                });
            }
            (Some(shared), Some((_, share))) if shared.share.is_same(&share) => {}
            _ => part.whole = true,
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
            let all: Vec<_> = shared.listed.values().copied().collect();
            if !part.whole
                && let Some(shared) = &part.shared
            {
                shared.shards.listed(shared.number, Shards::full(&all));
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
        self.slots = self.slots.without(self.slots.without(now));
        grows
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
