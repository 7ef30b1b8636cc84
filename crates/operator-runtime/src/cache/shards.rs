//! What this process serves: shared by its controllers, its watches and the task that follows the assignment.

use std::{
    collections::BTreeMap,
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use parking_lot::Mutex;
use tokio::sync::{
    broadcast::{self, error::RecvError},
    watch,
};

use crate::{
    client::permit::{Permit, Turn},
    slots::{Slot, Slots},
};

/// The shards of this process. Clones share the state.
#[derive(Clone, Default)]
pub(crate) struct Shards(Arc<Inner>);

struct Inner {
    permits: Mutex<BTreeMap<Slot, Arc<Permit>>>,
    /// The slots whose objects are kept in memory.
    cached: watch::Sender<Slots>,
    /// The slots of which each watch has all objects.
    listed: watch::Sender<Vec<Slots>>,
    /// The types of these watches.
    kinds: Mutex<Vec<String>>,
    moved: broadcast::Sender<Slots>,
    /// Whether the API server leaves out what is in other slots.
    selects: AtomicBool,
}

/// The slots that begin or have stopped.
pub(crate) struct Moves(broadcast::Receiver<Slots>);

impl Moves {
    /// The next ones; all, if this was called too late for some.
    pub(crate) async fn next(&mut self) -> Slots {
        match self.0.recv().await {
            Ok(slots) => slots,
            Err(RecvError::Lagged(_)) => Slots::all(),
            Err(RecvError::Closed) => pending().await,
        }
    }
}

/// How many moves a busy controller may still have to learn of; each slot moves at most once at a time.
const MOVES: usize = 128;

impl Default for Inner {
    fn default() -> Self {
        Self {
            permits: Mutex::default(),
            cached: watch::channel(Slots::NONE).0,
            listed: watch::channel(Vec::new()).0,
            kinds: Mutex::default(),
            moved: broadcast::channel(MOVES).0,
            selects: AtomicBool::new(false),
        }
    }
}

impl Shards {
    /// Begins a reconcile of an object in this slot, if this process serves it.
    pub(crate) fn enter(&self, slot: Slot) -> Option<Turn> {
        self.0.permits.lock().get(&slot)?.enter()
    }

    /// Begins to serve a slot.
    pub(crate) fn start(&self, slot: Slot) {
        self.0.permits.lock().insert(slot, Arc::default());
        self.notify(Slots::from_iter([slot]));
    }

    /// Ends to serve a slot: no reconcile begins any more. The caller stops the fence.
    pub(crate) fn end(&self, slot: Slot) -> Option<Arc<Permit>> {
        self.0.permits.lock().remove(&slot)
    }

    /// Tells the controllers that a slot has begun, or has stopped.
    pub(crate) fn notify(&self, slots: Slots) {
        // Without a controller, nobody listens.
        _ = self.0.moved.send(slots);
    }

    /// Receives the slots that begin or have stopped, from now on.
    pub(crate) fn observe(&self) -> Moves {
        Moves(self.0.moved.subscribe())
    }

    pub(crate) fn cache(&self, slots: Slots) {
        let change = |old: &mut Slots| std::mem::replace(old, slots) != slots;
        self.0.cached.send_if_modified(change);
    }

    /// The slots whose objects must be in memory.
    pub(crate) fn cached(&self) -> watch::Receiver<Slots> {
        self.0.cached.subscribe()
    }

    /// Notes whether the API server can leave out what is in other slots.
    pub(crate) fn select(&self, selects: bool) {
        self.0.selects.store(selects, Ordering::Relaxed);
    }

    /// Whether lists and watches may carry a selector of slots.
    pub(crate) fn selects(&self) -> bool {
        self.0.selects.load(Ordering::Relaxed)
    }

    /// Adds a watch of this type, which has listed nothing yet; returns its number for [`listed`](Self::listed).
    pub(crate) fn add_watch(&self, kind: String) -> usize {
        self.0.kinds.lock().push(kind);
        let mut number = 0;
        self.0.listed.send_modify(|all| {
            number = all.len();
            all.push(Slots::NONE);
        });
        number
    }

    /// A watch has all objects in these slots.
    pub(crate) fn listed(&self, watch: usize, slots: Slots) {
        self.0.listed.send_modify(|all| all[watch] = slots);
    }

    /// The types of which a watch has not listed all objects in these slots.
    pub(crate) fn unlisted(&self, slots: Slots) -> Vec<String> {
        let (kinds, listed) = (self.0.kinds.lock(), self.0.listed.borrow());
        let all = kinds.iter().zip(&*listed);
        let lacks = |(_, listed): &(&String, &Slots)| !slots.without(**listed).is_empty();
        all.filter(lacks).map(|(kind, _)| kind.clone()).collect()
    }

    /// The slots that this process serves.
    pub(crate) fn served(&self) -> Slots {
        self.0.permits.lock().keys().copied().collect()
    }

    /// The slots of which each watch has all objects.
    pub(crate) fn watches(&self) -> watch::Receiver<Vec<Slots>> {
        self.0.listed.subscribe()
    }
}
