//! Keeps what a process without leadership would change from leaving it.
//!
//! Two checks, because time passes between them: a request is refused before it is handed to a
//! connection, and a connection refuses every byte once a deadline has passed. A process that is stopped
//! in between, and continued when another one leads, sends nothing.
//!
//! What works in every replica, such as a webhook, may change things without leadership. The same client serves
//! it: [`in_every_replica`] marks the work, and [`either`] looks for the mark.
//!
//! What the fence cannot know is how long the network and the API server take with a request that
//! left in time: [`connect`] bounds the first, and admission webhooks that are slower than the
//! lease duration minus the renew deadline may outlast the second.

mod connect;

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use futures::future::{Either, Ready, ready};
use http::{Method, Request};
use kube::Client;
use tower::{BoxError, Layer, Service, service_fn};

pub(crate) use connect::client;

use crate::clock::since_boot;

/// Until when changes may leave, in nanoseconds since boot, or one of the constants.
#[derive(Clone, Debug)]
pub(crate) struct Fence(Arc<AtomicU64>);

/// Changes have never been allowed; reading is.
const NOT_YET: u64 = 0;
/// A time that has passed.
const OVER: u64 = 1;
/// There is no election.
const ALWAYS: u64 = u64::MAX;

impl Fence {
    /// Lets everything pass, for ever.
    pub(crate) fn open() -> Self {
        Self(Arc::new(AtomicU64::new(ALWAYS)))
    }

    /// Lets no change pass until [`hold`](Self::hold).
    pub(crate) fn closed() -> Self {
        Self(Arc::new(AtomicU64::new(NOT_YET)))
    }

    /// Lets changes pass until this time since boot.
    pub(crate) fn hold(&self, until: Duration) {
        let nanos = u64::try_from(until.as_nanos()).unwrap_or(ALWAYS - 1);
        self.0.store(nanos.max(OVER), Ordering::Release);
    }

    /// Lets no change pass any more, if any ever did.
    pub(crate) fn close(&self) {
        let close = |until| (until != NOT_YET && until != ALWAYS).then_some(OVER);
        _ = self
            .0
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, close);
    }

    /// Whether changes may leave at this time since boot.
    pub(crate) fn permits(&self, now: Duration) -> bool {
        now.as_nanos() < u128::from(self.0.load(Ordering::Acquire))
    }

    /// Whether changes could leave once and may not at this time since boot.
    pub(crate) fn is_over(&self, now: Duration) -> bool {
        self.0.load(Ordering::Acquire) != NOT_YET && !self.permits(now)
    }

    /// Whether there is no election.
    pub(crate) fn is_always_open(&self) -> bool {
        self.0.load(Ordering::Acquire) == ALWAYS
    }
}

/// Why a change was not sent; found in [`kube::Error::Service`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not sent: this process does not lead, or may not be the leader any more")]
pub struct NotLeading;

tokio::task_local! {
    static EVERY_REPLICA: ();
}

/// Runs work that needs no leadership: the fence does not bind it.
pub(crate) async fn in_every_replica<T>(work: impl Future<Output = T>) -> T {
    EVERY_REPLICA.scope((), work).await
}

/// A client that is `unfenced` [`in_every_replica`], and `fenced` elsewhere.
pub(crate) fn either(fenced: Client, unfenced: Client) -> Client {
    let namespace = fenced.default_namespace().to_owned();
    let service = service_fn(move |request| {
        let (fenced, unfenced) = (fenced.clone(), unfenced.clone());
        // A task of the client's own calls this. The task that asked polls what it returns, and has the mark.
        async move {
            let marked = EVERY_REPLICA.try_with(|()| ()).is_ok();
            let client = if marked { unfenced } else { fenced };
            client.send(request).await
        }
    });
    Client::new(service, namespace)
}

/// Refuses requests that change something while the fence does not permit it.
impl<S> Layer<S> for Fence {
    type Service = Fenced<S>;

    fn layer(&self, inner: S) -> Fenced<S> {
        let fence = self.clone();
        Fenced { inner, fence }
    }
}

/// See [`Fence`].
#[derive(Clone, Debug)]
pub(crate) struct Fenced<S> {
    inner: S,
    fence: Fence,
}

impl<S, B> Service<Request<B>> for Fenced<S>
where
    S: Service<Request<B>, Error = BoxError>,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = Either<S::Future, Ready<Result<S::Response, BoxError>>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        if !changes(request.method(), request.uri().path()) || self.fence.permits(since_boot()) {
            Either::Left(self.inner.call(request))
        } else {
            Either::Right(ready(Err(NotLeading.into())))
        }
    }
}

/// Whether a request changes something. A websocket into a container, as `exec` opens, is a GET.
fn changes(method: &Method, path: &str) -> bool {
    let mut path = path.trim_start_matches('/').split('/');
    let in_pod = path.by_ref().take(3).eq(["api", "v1", "namespaces"])
        && path.nth(1) == Some("pods")
        && matches!(path.nth(1), Some("attach" | "exec" | "portforward"));
    in_pod || !method.is_safe()
}

#[cfg(test)]
mod tests {
    use futures::{FutureExt, future::ok};
    use kube::client::Body;

    use super::*;

    #[test]
    fn when_changes_may_leave() {
        let second = Duration::from_secs;
        let (open, closed, held, passed, given_up) = (
            Fence::open(),
            Fence::closed(),
            Fence::closed(),
            Fence::closed(),
            Fence::closed(),
        );
        held.hold(second(20));
        passed.hold(second(10));
        given_up.hold(second(20));
        // Those that never held stay as they are.
        for fence in [&open, &closed, &given_up] {
            fence.close();
        }
        let cases = [
            (&open, true, false),
            (&closed, false, false),
            (&held, true, false),
            (&passed, false, true),
            (&given_up, false, true),
        ];
        for (fence, permits, is_over) in cases {
            assert_eq!(fence.permits(second(10)), permits, "{fence:?}");
            assert_eq!(fence.is_over(second(10)), is_over, "{fence:?}");
        }
    }

    #[tokio::test]
    async fn what_runs_in_every_replica_is_not_fenced() {
        let answering = |text: &'static str| {
            let answer = move |_| {
                ok::<_, BoxError>(http::Response::new(Body::from(text.as_bytes().to_vec())))
            };
            Client::new(service_fn(answer), "default")
        };
        let client = either(answering("fenced"), answering("unfenced"));
        let ask = async || {
            let request = Request::get("/").body(Vec::new()).unwrap();
            client.request_text(request).await.unwrap()
        };
        assert_eq!(ask().await, "fenced");
        assert_eq!(in_every_replica(ask()).await, "unfenced");
    }

    #[test]
    fn what_changes_something() {
        let pod = "/api/v1/namespaces/a/pods/b";
        for (path, expected) in [
            (pod.to_owned(), false),
            (format!("{pod}/exec"), true),
            (format!("{pod}/attach"), true),
            (format!("{pod}/portforward"), true),
            (format!("{pod}/log"), false),
            ("/api/v1/namespaces/pods/configmaps/exec".to_owned(), false),
            ("/apis/a/v1/namespaces/a/pods/b/exec".to_owned(), false),
        ] {
            assert_eq!(changes(&Method::GET, &path), expected, "{path}");
            assert!(changes(&Method::POST, &path), "{path}");
        }
    }

    #[test]
    fn requests() {
        let sent = |fence: &Fence, method: &Method| {
            let mut service = fence.layer(service_fn(|_: Request<()>| ok::<_, BoxError>(())));
            let request = Request::builder().method(method).body(()).unwrap();
            let result = service.call(request).now_or_never().unwrap();
            result.map_err(|error| *error.downcast::<NotLeading>().unwrap())
        };
        let (closed, held, passed) = (Fence::closed(), Fence::closed(), Fence::closed());
        held.hold(since_boot() + Duration::from_secs(60));
        passed.hold(since_boot());
        for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
            assert_eq!(sent(&Fence::open(), &method), Ok(()), "{method}");
            assert_eq!(sent(&held, &method), Ok(()), "{method}");
            assert_eq!(sent(&closed, &method), Err(NotLeading), "{method}");
            assert_eq!(sent(&passed, &method), Err(NotLeading), "{method}");
        }
        assert_eq!(sent(&closed, &Method::GET), Ok(()));
        assert_eq!(sent(&passed, &Method::GET), Ok(()));
    }
}
