//! The work queue: each object once, never two reconciles of one object at a time. Objects with a higher
//! priority come first, but none waits for ever; those of one priority are first in, first out.

#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, HashMap, hash_map::Entry as Slot},
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

/// The priority of the objects that the start and each resync add, as in controller-runtime. Changes of
/// objects have 0.
pub const LOW_PRIORITY: i32 = -100;

/// The number of times in a row that objects with a higher priority are taken before the one that has waited
/// longest.
const PASSES: u32 = 4;

/// The pure part of the queue: every method takes the current time.
///
/// An object is *queued* (at most once), *delayed* until a time (at most once), *running*, or both running
/// and queued or delayed. An object that is queued while it runs enters the queue when it is done.
struct Line<K> {
    /// The objects that could be taken, by priority and then by their turns. No level is empty.
    levels: BTreeMap<i32, BTreeMap<u64, K>>,
    /// The number of takes since one of the object that had waited longest.
    passes: u32,
    /// Ordered by time, then by insertion.
    delayed: BTreeMap<(Instant, u64), (K, Cause)>,
    objects: HashMap<K, State>,
    serial: u64,
}

#[derive(Default)]
struct State {
    queued: Option<Queued>,
    /// Its key in `delayed`.
    due: Option<(Instant, u64)>,
    running: bool,
}

struct Queued {
    since: Instant,
    cause: Cause,
    /// The order in which objects entered the queue; `None` while the object runs.
    turn: Option<u64>,
}

/// The cause of a reconcile, which a delay keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cause {
    priority: i32,
    /// Whether something other than a change of the object itself has queued it.
    urgent: bool,
}

impl Cause {
    fn and(self, other: Self) -> Self {
        Self {
            priority: self.priority.max(other.priority),
            urgent: self.urgent || other.urgent,
        }
    }
}

/// An object that a worker has taken.
pub(crate) struct Taken<K> {
    pub(crate) object: K,
    /// Whether something other than a change of the object itself has queued it: a change of another object,
    /// or the end of a delay.
    pub(crate) urgent: bool,
    /// The highest priority with which it was queued or delayed.
    pub(crate) priority: i32,
    waited: Duration,
}

impl<K: Clone + Eq + Hash> Line<K> {
    fn new() -> Self {
        Self {
            levels: BTreeMap::new(),
            passes: 0,
            delayed: BTreeMap::new(),
            objects: HashMap::new(),
            serial: 0,
        }
    }

    /// Queues an object, or raises the priority of a queued one, which keeps its turn; returns false if it
    /// was queued already.
    fn add(&mut self, object: &K, cause: Cause, now: Instant) -> bool {
        let state = self.objects.entry(object.clone()).or_default();
        let Some(queued) = &mut state.queued else {
            let turn = (!state.running).then_some(self.serial);
            let since = now;
            state.queued = Some(Queued { since, cause, turn });
            self.enter(object, cause.priority, turn);
            return true;
        };
        let before = queued.cause.priority;
        queued.cause = queued.cause.and(cause);
        let (after, turn) = (queued.cause.priority, queued.turn);
        if let Some(turn) = turn.filter(|_| before != after) {
            self.leave(before, turn);
            self.enter(object, after, Some(turn));
        }
        false
    }

    fn enter(&mut self, object: &K, priority: i32, turn: Option<u64>) {
        if let Some(turn) = turn {
            let level = self.levels.entry(priority).or_default();
            level.insert(turn, object.clone());
            self.serial += 1;
        }
    }

    fn leave(&mut self, priority: i32, turn: u64) -> Option<K> {
        let level = self.levels.get_mut(&priority)?;
        let object = level.remove(&turn);
        if level.is_empty() {
            self.levels.remove(&priority);
        }
        object
    }

    /// Queues an object at a time, or at the earlier time of a previous call.
    fn add_at(&mut self, object: &K, at: Instant, cause: Cause) {
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
        self.delayed.insert(due, (object.clone(), cause));
    }

    /// Queues the due objects; returns their number.
    fn advance(&mut self, now: Instant) -> usize {
        let mut added = 0;
        while let Some(first) = self.delayed.first_entry() {
            if first.key().0 > now {
                break;
            }
            let (object, cause) = first.remove();
            if let Some(state) = self.objects.get_mut(&object) {
                state.due = None;
            }
            added += usize::from(self.add(&object, cause, now));
        }
        added
    }

    /// Takes the next object. It runs until [`done`](Self::done), and its delay is dropped: the result of
    /// its reconcile sets a new one.
    fn take(&mut self, now: Instant) -> Option<Taken<K>> {
        let (priority, turn) = self.next()?;
        let object = self.leave(priority, turn)?;
        let state = self.objects.get_mut(&object)?;
        let queued = state.queued.take()?;
        state.running = true;
        let delayed = state.due.take().and_then(|due| self.delayed.remove(&due));
        let delayed = delayed.map_or(priority, |(_, cause)| cause.priority);
        Some(Taken {
            object,
            urgent: queued.cause.urgent,
            priority: priority.max(delayed),
            waited: now.saturating_duration_since(queued.since),
        })
    }

    /// The priority and the turn of the next object: the first of the highest priority, unless too many have
    /// passed the one that has waited longest.
    ///
    /// So the latter is taken at least every `PASSES + 1` times, whatever is added meanwhile, and a new
    /// object has at most as many before it as there are others. It waits no longer than `PASSES + 1` times
    /// the time that these need in a row.
    fn next(&mut self) -> Option<(i32, u64)> {
        let first = |(priority, level): (&i32, &BTreeMap<u64, K>)| {
            level.first_key_value().map(|(turn, _)| (*priority, *turn))
        };
        let highest = self.levels.last_key_value().and_then(first)?;
        let oldest = self.levels.iter().filter_map(first);
        let oldest = oldest.min_by_key(|(_, turn)| *turn)?;
        if highest == oldest || self.passes == PASSES {
            self.passes = 0;
            return Some(oldest);
        }
        self.passes += 1;
        Some(highest)
    }

    /// The number of objects that could be taken, by priority.
    fn depths(&self) -> impl Iterator<Item = (i32, usize)> {
        let levels = self.levels.iter();
        levels.map(|(priority, level)| (*priority, level.len()))
    }

    /// Ends the run of an object. If it was queued meanwhile, it enters the queue at the end.
    fn done(&mut self, object: &K) {
        let Slot::Occupied(mut slot) = self.objects.entry(object.clone()) else {
            return;
        };
        let state = slot.get_mut();
        state.running = false;
        if let Some(queued) = &mut state.queued {
            queued.turn = Some(self.serial);
            let (priority, turn) = (queued.cause.priority, queued.turn);
            self.enter(object, priority, turn);
        } else if state.due.is_none() {
            slot.remove();
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
    pub(crate) fn add(&self, object: &K, priority: i32) {
        let urgent = true;
        self.queue(object, Cause { priority, urgent });
    }

    /// Queues an object that has changed.
    pub(crate) fn add_changed(&self, object: &K, priority: i32) {
        let urgent = false;
        self.queue(object, Cause { priority, urgent });
    }

    fn queue(&self, object: &K, cause: Cause) {
        if !self.open.load(Ordering::Relaxed) {
            return;
        }
        let mut line = self.line.lock();
        if line.add(object, cause, Instant::now()) {
            self.metrics.added();
        }
        self.changed(&line);
    }

    /// Queues a taken object after a delay, with its priority unless there is another one.
    pub(crate) fn requeue(&self, taken: &Taken<K>, delay: Duration, priority: Option<i32>) {
        self.metrics.retried();
        let priority = priority.unwrap_or(taken.priority);
        let urgent = true;
        self.delay(&taken.object, delay, Cause { priority, urgent });
    }

    /// Checks a taken object again after a delay, with its priority unless there is another one. The check
    /// alone does not reconcile it.
    pub(crate) fn look_after(&self, taken: &Taken<K>, delay: Duration, priority: Option<i32>) {
        let priority = priority.unwrap_or(taken.priority);
        let urgent = false;
        self.delay(&taken.object, delay, Cause { priority, urgent });
    }

    fn delay(&self, object: &K, delay: Duration, cause: Cause) {
        let Some(at) = Instant::now().checked_add(delay) else {
            return;
        };
        let mut line = self.line.lock();
        line.add_at(object, at, cause);
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
        self.metrics.depths(line.depths());
        if !line.levels.is_empty() || !line.delayed.is_empty() {
            self.changed.notify_one();
        }
    }
}
