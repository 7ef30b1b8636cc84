//! The work queue: first in, first out, each object once, never two reconciles of one object at a time.
//! Changed objects come before the objects that the start and each resync add.

#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, HashMap, VecDeque, hash_map::Entry as Slot},
    hash::Hash,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};

use crate::metrics::{QueueMetrics, Work};

/// The pure part of the queue: every method takes the current time.
///
/// An object is *queued* (at most once), *delayed* until a time (at most once), *running*, or both running
/// and queued or delayed. An object that is queued while it runs enters the queue when it is done.
struct Line<K> {
    order: VecDeque<K>,
    /// Objects with low priority, including stale entries of objects that were taken or promoted since.
    background: VecDeque<K>,
    /// The number of stale entries in `background`.
    stale: usize,
    /// Ordered by time, then by insertion. The flag tells whether the object is urgent at that time.
    delayed: BTreeMap<(Instant, u64), (K, bool)>,
    objects: HashMap<K, State>,
    serial: u64,
}

#[derive(Default)]
struct State {
    /// The time since which it is queued.
    queued: Option<Instant>,
    /// Whether it is queued with low priority.
    background: bool,
    /// Whether something other than a change of the object itself has queued it.
    urgent: bool,
    /// Its key in `delayed`.
    due: Option<(Instant, u64)>,
    running: bool,
}

/// An object that a worker has taken.
pub(crate) struct Taken<K> {
    pub(crate) object: K,
    /// Whether something other than a change of the object itself has queued it: a change of another object,
    /// or the end of a delay.
    pub(crate) urgent: bool,
    waited: Duration,
}

impl<K: Clone + Eq + Hash> Line<K> {
    fn new() -> Self {
        Self {
            order: VecDeque::new(),
            background: VecDeque::new(),
            stale: 0,
            delayed: BTreeMap::new(),
            objects: HashMap::new(),
            serial: 0,
        }
    }

    /// Queues an object; returns false if it was queued already.
    fn add(&mut self, object: &K, urgent: bool, now: Instant) -> bool {
        let state = self.objects.entry(object.clone()).or_default();
        state.urgent |= urgent;
        let is_new = state.queued.is_none();
        state.queued.get_or_insert(now);
        if is_new || state.background {
            if state.background && !state.running {
                self.stale += 1;
            }
            state.background = false;
            if !state.running {
                self.order.push_back(object.clone());
            }
        }
        is_new
    }

    /// Queues an object with low priority; returns false if it was queued already.
    fn add_background(&mut self, object: &K, now: Instant) -> bool {
        let state = self.objects.entry(object.clone()).or_default();
        state.urgent = true;
        if state.queued.is_some() {
            return false;
        }
        state.queued = Some(now);
        state.background = true;
        if !state.running {
            self.background.push_back(object.clone());
        }
        true
    }

    /// Queues an object at a time, or at the earlier time of a previous call.
    fn add_at(&mut self, object: &K, at: Instant, urgent: bool) {
        let state = self.objects.entry(object.clone()).or_default();
        if state.due.is_some_and(|(due, _)| due <= at) {
            return;
        }
        if let Some(due) = state.due.take() {
            self.delayed.remove(&due);
        }
        let due = (at, self.serial);
        self.serial += 1;
        state.due = Some(due);
        self.delayed.insert(due, (object.clone(), urgent));
    }

    /// Queues the due objects; returns their number.
    fn advance(&mut self, now: Instant) -> usize {
        let mut added = 0;
        while let Some(first) = self.delayed.first_entry() {
            if first.key().0 > now {
                break;
            }
            let (object, urgent) = first.remove();
            if let Some(state) = self.objects.get_mut(&object) {
                state.due = None;
            }
            added += usize::from(self.add(&object, urgent, now));
        }
        added
    }

    /// Takes the first object. It runs until [`done`](Self::done), and its delay is dropped: the result of
    /// its reconcile sets a new one.
    fn take(&mut self, now: Instant) -> Option<Taken<K>> {
        let object = self
            .order
            .pop_front()
            .or_else(|| self.first_of_background())?;
        let state = self.objects.get_mut(&object)?;
        let since = state.queued.take().unwrap_or(now);
        state.background = false;
        let urgent = std::mem::take(&mut state.urgent);
        state.running = true;
        if let Some(due) = state.due.take() {
            self.delayed.remove(&due);
        }
        Some(Taken {
            object,
            urgent,
            waited: now.saturating_duration_since(since),
        })
    }

    fn first_of_background(&mut self) -> Option<K> {
        loop {
            let object = self.background.pop_front()?;
            let state = self.objects.get(&object);
            if state.is_some_and(|state| state.background && !state.running) {
                return Some(object);
            }
            self.stale -= 1;
        }
    }

    /// The number of objects that could be taken.
    fn depth(&self) -> usize {
        self.order.len() + self.background.len() - self.stale
    }

    /// Ends the run of an object. If it was queued meanwhile, it enters the queue at the end.
    fn done(&mut self, object: &K) {
        if let Slot::Occupied(mut slot) = self.objects.entry(object.clone()) {
            let state = slot.get_mut();
            state.running = false;
            if state.queued.is_some() {
                match state.background {
                    true => self.background.push_back(object.clone()),
                    false => self.order.push_back(object.clone()),
                }
            } else if state.due.is_none() {
                slot.remove();
            }
        }
    }

    fn next_due(&self) -> Option<Instant> {
        self.delayed.first_key_value().map(|((at, _), _)| *at)
    }
}

/// A [`Line`] with waiting workers.
pub(crate) struct Queue<K> {
    line: Mutex<Line<K>>,
    changed: Notify,
    metrics: QueueMetrics,
    open: AtomicBool,
}

impl<K: Clone + Eq + Hash> Queue<K> {
    pub(crate) fn new(metrics: QueueMetrics) -> Self {
        Self {
            line: Mutex::new(Line::new()),
            changed: Notify::new(),
            metrics,
            open: AtomicBool::new(false),
        }
    }

    /// Accepts objects from now on. Earlier additions are dropped: the caller adds every object after
    /// opening.
    pub(crate) fn open(&self) {
        self.open.store(true, Ordering::Relaxed);
    }

    /// Queues an object.
    pub(crate) fn add(&self, object: &K) {
        self.queue(object, true);
    }

    /// Queues an object with low priority.
    pub(crate) fn add_background(&self, object: &K) {
        if !self.open.load(Ordering::Relaxed) {
            return;
        }
        let mut line = self.line.lock();
        if line.add_background(object, Instant::now()) {
            self.metrics.added();
            self.changed(&line);
        }
    }

    /// Queues an object that has changed.
    pub(crate) fn add_changed(&self, object: &K) {
        self.queue(object, false);
    }

    fn queue(&self, object: &K, urgent: bool) {
        if !self.open.load(Ordering::Relaxed) {
            return;
        }
        let mut line = self.line.lock();
        if line.add(object, urgent, Instant::now()) {
            self.metrics.added();
            self.changed(&line);
        }
    }

    /// Queues an object after a delay.
    pub(crate) fn add_after(&self, object: &K, delay: Duration) {
        self.metrics.retried();
        self.delay(object, delay, true);
    }

    /// Checks an object again after a delay. The check alone does not reconcile it.
    pub(crate) fn look_after(&self, object: &K, delay: Duration) {
        self.delay(object, delay, false);
    }

    fn delay(&self, object: &K, delay: Duration, urgent: bool) {
        let Some(at) = Instant::now().checked_add(delay) else {
            return;
        };
        let mut line = self.line.lock();
        line.add_at(object, at, urgent);
        self.changed(&line);
    }

    /// Waits for the next object; the caller must call [`done`](Self::done).
    pub(crate) async fn next(&self) -> Taken<K> {
        loop {
            let changed = self.changed.notified();
            let due = match self.take() {
                Ok(taken) => return taken,
                Err(due) => due,
            };
            match due {
                Some(due) => tokio::select! {
                    () = changed => {}
                    () = sleep_until(due) => {}
                },
                None => changed.await,
            }
        }
    }

    /// Counts as work until the returned value is dropped.
    pub(crate) fn work(&self) -> Work {
        self.metrics.work()
    }

    /// Ends the run of an object.
    pub(crate) fn done(&self, object: &K) {
        let mut line = self.line.lock();
        line.done(object);
        self.changed(&line);
    }

    fn take(&self) -> Result<Taken<K>, Option<Instant>> {
        let now = Instant::now();
        let mut line = self.line.lock();
        for _ in 0..line.advance(now) {
            self.metrics.added();
        }
        let Some(taken) = line.take(now) else {
            return Err(line.next_due());
        };
        self.metrics.waited(taken.waited);
        self.changed(&line);
        Ok(taken)
    }

    /// Updates the metrics, and wakes a worker for the next object or for an earlier due time.
    fn changed(&self, line: &Line<K>) {
        self.metrics.depth(line.depth());
        if line.depth() > 0 || !line.delayed.is_empty() {
            self.changed.notify_one();
        }
    }
}
