//! The permission to write under a slot: its fence.

use std::{
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use http::{Request, Response};
use kube::{Client, client::Body};
use parking_lot::Mutex;
use tokio::{
    sync::Notify,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;
use tower::BoxError;

/// The reason why a write of a sharded controller was not sent; the source of a [`kube::Error::Service`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not sent: the slot of the object does not, or may no longer, belong to this process")]
pub struct NotOwning;

tokio::task_local! {
    static PERMIT: Arc<Permit>;
}

/// The fence of one slot in one epoch. It closes once, for ever: who gets the slot back gets another one.
#[derive(Debug, Default)]
pub(crate) struct Permit {
    state: Mutex<State>,
    changed: Notify,
    closed: CancellationToken,
}

#[derive(Debug, Default)]
struct State {
    /// No reconcile begins any more.
    stopping: bool,
    /// No write begins any more.
    closed: bool,
    running: usize,
    writing: usize,
    /// When a write ended last without an answer: the API server may still carry it out.
    unanswered: Option<Instant>,
}

/// A reconcile under a permit, which does not end before.
#[derive(Debug)]
pub(crate) struct Turn(Arc<Permit>);

/// A write in flight.
struct Write<'a> {
    permit: &'a Permit,
    answered: bool,
}

impl Permit {
    /// Begins a reconcile, unless the slot stops.
    pub(crate) fn enter(self: &Arc<Self>) -> Option<Turn> {
        let mut state = self.state.lock();
        if state.stopping {
            return None;
        }
        state.running += 1;
        Some(Turn(self.clone()))
    }

    /// The permit of the running reconcile, if it has one.
    pub(crate) fn current() -> Option<Arc<Self>> {
        PERMIT.try_with(Arc::clone).ok()
    }

    /// Whether the running reconcile has lost its slot.
    pub(crate) fn is_over() -> bool {
        PERMIT
            .try_with(|permit| permit.state.lock().closed)
            .unwrap_or_default()
    }

    /// Stops the slot: waits for running reconciles, at most for `limit`, and then closes the fence for ever.
    /// Returns when no write of this epoch can arrive at the API server any more: one that ended without an
    /// answer may be on its way for `margin`.
    pub(crate) async fn stop(&self, limit: Duration, margin: Duration) {
        self.state.lock().stopping = true;
        _ = timeout(limit, self.until(|state| state.running == 0)).await;
        self.state.lock().closed = true;
        self.closed.cancel();
        self.until(|state| state.writing == 0).await;
        let unanswered = self.state.lock().unanswered;
        if let Some(at) = unanswered {
            sleep((at + margin).saturating_duration_since(Instant::now())).await;
        }
    }

    /// Sends a write, unless the fence is closed; a fence that closes meanwhile ends it.
    pub(crate) async fn send(
        &self,
        client: &Client,
        request: Request<Body>,
    ) -> Result<Response<Body>, BoxError> {
        let Some(mut write) = self.begin() else {
            return Err(NotOwning.into());
        };
        let answer = tokio::select! {
            biased;
            answer = client.send(request) => answer.map_err(BoxError::from),
            () = self.closed.cancelled() => Err(NotOwning.into()),
        };
        write.answered = answer.is_ok();
        answer
    }

    fn begin(&self) -> Option<Write<'_>> {
        let mut state = self.state.lock();
        if state.closed {
            return None;
        }
        state.writing += 1;
        Some(Write {
            permit: self,
            answered: false,
        })
    }

    async fn until(&self, is: impl Fn(&State) -> bool) {
        loop {
            let mut changed = pin!(self.changed.notified());
            // From here on, no change is missed.
            changed.as_mut().enable();
            if is(&self.state.lock()) {
                return;
            }
            changed.await;
        }
    }
}

impl Turn {
    /// Runs the reconcile: its writes go through the fence of the slot.
    pub(crate) async fn run<T>(self, reconcile: impl Future<Output = T>) -> T {
        PERMIT.scope(self.0.clone(), reconcile).await
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.state.lock().running -= 1;
        self.0.changed.notify_waiters();
    }
}

impl Drop for Write<'_> {
    fn drop(&mut self) {
        let mut state = self.permit.state.lock();
        state.writing -= 1;
        if !self.answered {
            state.unanswered = Some(Instant::now());
        }
        drop(state);
        self.permit.changed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use futures::future::pending;
    use tower::service_fn;

    use super::*;

    const LIMIT: Duration = Duration::from_millis(50);
    const MARGIN: Duration = Duration::from_millis(100);

    fn answering() -> Client {
        let answer = |_| std::future::ready(Ok::<_, BoxError>(Response::new(Body::empty())));
        Client::new(service_fn(answer), "default")
    }

    fn silent() -> Client {
        let silence = |_| pending::<Result<Response<Body>, BoxError>>();
        Client::new(service_fn(silence), "default")
    }

    fn request() -> Request<Body> {
        Request::put("/").body(Body::empty()).unwrap()
    }

    #[tokio::test]
    async fn a_slot_stops_when_its_reconciles_have_ended() {
        let permit = Arc::new(Permit::default());
        let turn = permit.enter().unwrap();
        let stopping = tokio::spawn({
            let permit = permit.clone();
            async move { permit.stop(LIMIT, MARGIN).await }
        });
        while !permit.state.lock().stopping {
            tokio::task::yield_now().await;
        }
        assert!(permit.enter().is_none(), "no reconcile begins");
        let wrote = turn.run(async {
            let permit = Permit::current().unwrap();
            let wrote = permit.send(&answering(), request()).await;
            (wrote, Permit::is_over())
        });
        let (wrote, is_over) = wrote.await;
        assert!(wrote.is_ok() && !is_over, "the running one writes");
        stopping.await.unwrap();
        let late = permit.send(&answering(), request()).await.unwrap_err();
        assert!(late.is::<NotOwning>(), "{late}");
    }

    #[tokio::test]
    async fn a_write_without_an_answer_delays_the_end_by_the_margin() {
        let permit = Arc::new(Permit::default());
        let turn = permit.enter().unwrap();
        let writing = tokio::spawn({
            let permit = permit.clone();
            turn.run(async move {
                let wrote = permit.send(&silent(), request()).await;
                (wrote, Permit::is_over())
            })
        });
        tokio::task::yield_now().await;
        let begin = Instant::now();
        permit.stop(LIMIT, MARGIN).await;
        assert!(begin.elapsed() >= LIMIT + MARGIN, "{:?}", begin.elapsed());
        let (wrote, is_over) = writing.await.unwrap();
        let error = wrote.unwrap_err();
        assert!(error.is::<NotOwning>() && is_over, "{error}");
        assert!(!Permit::is_over(), "nothing runs here");
    }
}
