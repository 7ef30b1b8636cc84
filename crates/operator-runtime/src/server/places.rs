//! The places of a server's connections. Any client that reaches the port may connect, so a newcomer takes
//! the place of the connection that has waited longest for its client.

use std::{
    convert::Infallible,
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use tokio::{
    sync::{Notify, OwnedSemaphorePermit, Semaphore},
    time::sleep,
};
use tokio_util::sync::CancellationToken;

use crate::metrics::ConnectionMetrics;

/// The time that every client has for its next bytes, however many newcomers there are.
const YOUNG: Duration = Duration::from_millis(50);

/// The time after which another connection is closed, because the chosen one has not ended yet.
const ENDS: Duration = Duration::from_millis(100);

/// The time between two looks for a connection to close.
const LOOKS: Duration = Duration::from_millis(10);

/// The time between two log lines about closed connections.
const LOGGED: Duration = Duration::from_secs(60);

/// The reason why the server closes a connection, as a label of the metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// A newcomer takes its place.
    Full,
    /// Its first request did not arrive in time.
    Late,
    /// Its client does not read.
    Unread,
}

impl Reason {
    pub(crate) const ALL: [Self; 3] = [Self::Full, Self::Late, Self::Unread];

    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Late => "late",
            Self::Unread => "unread",
        }
    }
}

/// The connections of a server: at most as many as there are places.
pub(super) struct Places {
    server: String,
    most: usize,
    free: Arc<Semaphore>,
    taken: Mutex<Vec<Arc<Connection>>>,
    closed: Mutex<[u64; Reason::ALL.len()]>,
    /// Notified when a connection is closed.
    closes: Notify,
    metrics: ConnectionMetrics,
}

/// A connection, from its acceptance on: the TLS handshake counts, too.
pub(super) struct Connection {
    places: Arc<Places>,
    /// Cancelled when another one gets the place.
    pub(super) closing: CancellationToken,
    state: Mutex<State>,
}

struct State {
    /// Held until the connection has ended.
    place: Option<OwnedSemaphorePermit>,
    /// The requests whose response is being made: they have arrived whole.
    running: usize,
    /// Whether a request has arrived, up to its body.
    asked: bool,
    /// Whether a request was answered with success, as those of the API server, a scraper or a kubelet are.
    served: bool,
    /// When it was accepted, or its last request was answered.
    since: Instant,
}

impl Places {
    pub(super) fn new(server: &str, most: usize, metrics: ConnectionMetrics) -> Arc<Self> {
        Arc::new(Self {
            server: server.to_owned(),
            most,
            free: Arc::new(Semaphore::new(most)),
            taken: Mutex::default(),
            closed: Mutex::default(),
            closes: Notify::new(),
            metrics,
        })
    }

    /// A place for a new connection. If all are taken, another connection is closed. If every connection has
    /// a running request, the newcomer waits until one has ended; further ones wait in the kernel's queue.
    pub(super) async fn enter(self: &Arc<Self>) -> Arc<Connection> {
        let mut closed: Option<Instant> = None;
        let place = loop {
            if let Ok(place) = self.free.clone().try_acquire_owned() {
                break place;
            }
            if closed.is_none_or(|at| at.elapsed() > ENDS) && self.close_one() {
                closed = Some(Instant::now());
            }
            tokio::select! {
                place = self.free.clone().acquire_owned() => break place.expect("it is never closed"),
                () = sleep(LOOKS) => {}
            }
        };
        let state = State {
            place: Some(place),
            running: 0,
            asked: false,
            served: false,
            since: Instant::now(),
        };
        let connection = Arc::new(Connection {
            places: self.clone(),
            closing: CancellationToken::new(),
            state: Mutex::new(state),
        });
        self.taken.lock().push(connection.clone());
        self.metrics.opened();
        connection
    }

    /// Whether there is no connection.
    pub(super) fn are_free(&self) -> bool {
        self.taken.lock().is_empty()
    }

    /// Closes the connection that has waited longest for its client. A quarter of the places is for clients
    /// that were served: their idle connections outlast a flood of those that ask nothing, and those that keep
    /// more idle connections outlast no newcomer. Returns whether there was one to close.
    fn close_one(&self) -> bool {
        let taken = self.taken.lock();
        let waiting: Vec<_> = taken
            .iter()
            .filter_map(|connection| {
                let state = connection.state.lock();
                let waits = state.running == 0 && !connection.closing.is_cancelled();
                waits.then_some((state.served, state.since, connection))
            })
            .collect();
        let served = waiting.iter().filter(|(served, ..)| *served).count();
        let spared = served <= self.most / 4;
        let oldest = waiting
            .iter()
            .min_by_key(|(served, since, _)| (spared && *served, *since))
            .filter(|(_, since, _)| since.elapsed() > YOUNG);
        let Some((.., oldest)) = oldest else {
            return false;
        };
        oldest.closing.cancel();
        self.count(Reason::Full);
        true
    }

    fn count(&self, reason: Reason) {
        self.closed.lock()[reason as usize] += 1;
        self.metrics.closed(reason.label());
        self.closes.notify_one();
    }

    /// Logs closed connections, at most once a minute.
    pub(super) async fn log(&self) -> Infallible {
        loop {
            self.closes.notified().await;
            let [full, late, unread] = std::mem::take(&mut *self.closed.lock());
            let (server, places) = (&self.server, self.most);
            tracing::warn!(
                full,
                late,
                unread,
                "closed connections to {server}: {full} because all {places} places were taken, {late} because \
                 their first request took too long, {unread} because they did not read"
            );
            sleep(LOGGED).await;
        }
    }
}

impl Connection {
    /// Whether a request has arrived, up to its body.
    pub(super) fn is_asked(&self) -> bool {
        self.state.lock().asked
    }

    /// Notes that a request has arrived, up to its body.
    pub(super) fn asked(&self) {
        self.state.lock().asked = true;
    }

    /// Notes that a request has arrived whole. The connection is not closed until it is answered.
    pub(super) fn running(self: &Arc<Self>) -> Running {
        self.state.lock().running += 1;
        Running(self.clone())
    }

    /// Notes that a request was answered with success.
    pub(super) fn served(&self) {
        self.state.lock().served = true;
    }

    /// Closes it for this reason.
    pub(super) fn close(&self, reason: Reason) {
        self.closing.cancel();
        self.places.count(reason);
    }

    /// Gives the place to others: the connection has ended.
    pub(super) fn leave(self: &Arc<Self>) {
        if self.state.lock().place.take().is_some() {
            let mut taken = self.places.taken.lock();
            taken.retain(|other| !Arc::ptr_eq(other, self));
            self.places.metrics.ended();
        }
    }
}

/// A running request, until it is dropped.
pub(super) struct Running(Arc<Connection>);

impl Drop for Running {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.running -= 1;
        state.since = Instant::now();
    }
}
