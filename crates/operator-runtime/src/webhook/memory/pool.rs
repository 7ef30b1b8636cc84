//! The sum of the memory of all requests, and whose turn it is when it is used up.

use std::{collections::BTreeMap, time::Duration};

use parking_lot::Mutex;
use tokio::{sync::Notify, time::Instant};
use tokio_util::sync::CancellationToken;

use super::{FACTOR, RESERVE, SMALL};

/// The time that a client may take for its first bytes, and for each megabyte after them, while a large request
/// counts as fast.
const FAST: Duration = Duration::from_millis(20);
const FAST_BYTES: f64 = 1e6;

/// The memory of all requests.
pub(super) struct Pool {
    /// In bytes.
    pub(super) size: usize,
    requests: Mutex<Requests>,
    /// Notified when memory is given back.
    pub(super) changed: Notify,
}

#[derive(Default)]
struct Requests {
    next: u64,
    all: BTreeMap<u64, Request>,
}

/// One request.
struct Request {
    /// The memory that it has taken, in bytes.
    taken: usize,
    /// The memory that a fast large request is going to take.
    promised: usize,
    large: bool,
    /// The bytes that have come from its client, or gone to it.
    moved: usize,
    /// The time that the server has waited for its client, and since when it waits now.
    waited: Duration,
    since: Option<Instant>,
    /// Whether it waits for memory.
    wants: bool,
    dropped: CancellationToken,
}

impl Request {
    fn waited(&self, now: Instant) -> Duration {
        let current = self.since.map(|since| now.duration_since(since));
        self.waited + current.unwrap_or_default()
    }

    /// The seconds per byte that the server has waited for the client.
    fn slowness(&self, now: Instant) -> f64 {
        self.waited(now).as_secs_f64() / self.moved.max(1) as f64
    }

    fn is_fast(&self, now: Instant) -> bool {
        let allowed = FAST.as_secs_f64() + self.moved as f64 / FAST_BYTES;
        self.waited(now).as_secs_f64() < allowed
    }

    /// Whether it may be dropped: nothing is computed for it right now.
    fn waits(&self) -> bool {
        self.since.is_some() || self.wants
    }
}

/// The answer to a request for memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Taken,
    Wait,
}

impl Pool {
    pub(super) fn new(size: usize) -> Self {
        Self {
            size,
            requests: Mutex::default(),
            changed: Notify::new(),
        }
    }

    /// The memory that large requests may take, in bytes.
    pub(super) fn large(&self) -> usize {
        self.size - self.size / RESERVE
    }

    /// Adds a request with a body of up to this length, if that is known.
    pub(super) fn add(&self, announced: Option<usize>, dropped: CancellationToken) -> u64 {
        let mut requests = self.requests.lock();
        let id = requests.next;
        requests.next += 1;
        let request = Request {
            taken: 0,
            promised: 0,
            large: announced.is_some_and(|length| length > SMALL),
            moved: 0,
            waited: Duration::ZERO,
            since: None,
            wants: false,
            dropped,
        };
        requests.all.insert(id, request);
        id
    }

    pub(super) fn remove(&self, id: u64) {
        self.requests.lock().all.remove(&id);
        self.changed.notify_waiters();
    }

    /// Notes that the server waits for the client, until [`moved`](Self::moved).
    pub(super) fn waits(&self, id: u64) {
        self.with(id, |request| request.since = Some(Instant::now()));
    }

    /// Notes that this many bytes came from the client, or went to it.
    pub(super) fn moved(&self, id: u64, bytes: usize) {
        self.with(id, |request| {
            request.waited = request.waited(Instant::now());
            request.since = None;
            request.moved += bytes;
        });
    }

    /// The time that the server has waited for the client, and the bytes that moved meanwhile.
    pub(super) fn pace(&self, id: u64) -> (Duration, usize) {
        let now = Instant::now();
        self.with(id, |request| (request.waited(now), request.moved))
    }

    fn with<T>(&self, id: u64, of: impl FnOnce(&mut Request) -> T) -> T {
        let mut requests = self.requests.lock();
        of(requests.all.get_mut(&id).expect("a claim is in its pool"))
    }

    /// Promises all the memory that a large request is going to take, unless fast ones need it first. A promise
    /// is no reservation: it only lets large requests from fast clients come one after the other.
    pub(super) fn promise(&self, id: u64, announced: usize, anyway: bool) -> Answer {
        let (mut requests, now) = (self.requests.lock(), Instant::now());
        let promised = announced.saturating_mul(FACTOR).min(self.large());
        let others = requests.all.iter().filter(|(other, _)| **other != id);
        let fast = others.filter(|(_, other)| other.large && other.is_fast(now));
        let needed: usize = fast.map(|(_, other)| other.taken.max(other.promised)).sum();
        if !anyway && needed + promised > self.large() {
            return Answer::Wait;
        }
        let request = requests.all.get_mut(&id).expect("a claim is in its pool");
        request.promised = promised;
        Answer::Taken
    }

    /// Takes memory for this many bytes of a body. If too little is free, a slower request is dropped.
    pub(super) fn take(&self, id: u64, bytes: usize) -> Answer {
        let (mut requests, now) = (self.requests.lock(), Instant::now());
        let request = requests.all.get_mut(&id).expect("a claim is in its pool");
        request.large |= request.taken + bytes * FACTOR > SMALL * FACTOR;
        let limit = if request.large {
            self.large()
        } else {
            self.size
        };
        // A conversion may be longer than the memory; it is answered object by object.
        let more = (bytes * FACTOR).min(limit - request.taken.min(limit));
        let (large, mine) = (request.large, request.slowness(now));
        // Both limits for a large request, of which the first is stricter.
        let fits = |requests: &Requests, still: bool| {
            let held = |only_large: bool| -> usize {
                let held = requests
                    .all
                    .values()
                    .filter(|other| other.large || !only_large);
                let held = held.filter(|other| still || !other.dropped.is_cancelled());
                held.map(|other| other.taken).sum()
            };
            (!large || held(true) + more <= self.large()) && held(false) + more <= self.size
        };
        if fits(&requests, true) {
            let request = requests.all.get_mut(&id).expect("a claim is in its pool");
            request.taken += more;
            request.wants = false;
            return Answer::Taken;
        }
        let request = requests.all.get_mut(&id).expect("a claim is in its pool");
        request.wants = true;
        // Those that are dropped already may be enough.
        while !fits(&requests, false) {
            let others = requests.all.iter().filter(|(other, _)| **other != id);
            let slower = others
                .filter(|(_, other)| other.waits() && !other.dropped.is_cancelled())
                .filter(|(_, other)| other.taken > 0 && (other.large || !large))
                .map(|(id, other)| (other.slowness(now), *id, other))
                .filter(|(slowness, other, _)| (*slowness, *other) > (mine, id));
            let slowest = slower.max_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            match slowest {
                Some((.., slowest)) => slowest.dropped.cancel(),
                None => break,
            }
        }
        Answer::Wait
    }

    /// Gives back the memory of all but this many bytes, which are what is left of objects that were answered.
    pub(super) fn keep(&self, id: u64, bytes: usize) {
        self.with(id, |request| {
            request.taken = request.taken.min(bytes * FACTOR)
        });
        self.changed.notify_waiters();
    }

    /// The free memory in bytes.
    #[cfg(test)]
    pub(super) fn free(&self) -> usize {
        let requests = self.requests.lock();
        let taken: usize = requests.all.values().map(|request| request.taken).sum();
        self.size - taken
    }
}
