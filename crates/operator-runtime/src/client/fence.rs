//! Prevents writes of a process without leadership.
//!
//! There are two checks, because time passes between them. A request is refused before it reaches a
//! connection, and a connection refuses every byte after the deadline. A process that is paused in between,
//! and resumed when another replica leads, sends nothing.
//!
//! Work that runs in every replica, such as a webhook, may write without leadership. It uses the same
//! client: [`in_every_replica`] marks the task, and [`either`] checks the mark.
//!
//! The fence cannot know how long the network and the API server take with a request that was sent in time.
//! [`connect`] bounds the network. An admission webhook that is slower than the lease duration minus the
//! renew deadline may still let a late write through.

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
use kube::{Client, client::Body};
use tower::{BoxError, Layer, Service, service_fn};

pub(crate) use connect::client;

use super::permit::Permit;
use crate::clock::since_boot;

/// The end of the permission to write, in nanoseconds since boot, or one of the constants.
#[derive(Clone, Debug)]
pub(crate) struct Fence(Arc<AtomicU64>);

/// Writes have never been permitted; reads are.
const NOT_YET: u64 = 0;
/// A time in the past.
const OVER: u64 = 1;
/// There is no leader election.
const ALWAYS: u64 = u64::MAX;

impl Fence {
    /// A fence that permits everything, forever.
    pub(crate) fn open() -> Self {
        Self(Arc::new(AtomicU64::new(ALWAYS)))
    }

    /// A fence that permits no write until [`hold`](Self::hold).
    pub(crate) fn closed() -> Self {
        Self(Arc::new(AtomicU64::new(NOT_YET)))
    }

    /// Permits writes until this time since boot.
    pub(crate) fn hold(&self, until: Duration) {
        let nanos = u64::try_from(until.as_nanos()).unwrap_or(ALWAYS - 1);
        self.0.store(nanos.max(OVER), Ordering::Release);
    }

    /// Ends the permission to write, if there ever was one.
    pub(crate) fn close(&self) {
        let close = |until| (until != NOT_YET && until != ALWAYS).then_some(OVER);
        _ = self
            .0
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, close);
    }

    /// Whether writes are permitted at this time since boot.
    pub(crate) fn permits(&self, now: Duration) -> bool {
        now.as_nanos() < u128::from(self.0.load(Ordering::Acquire))
    }

    /// Whether writes were permitted once and are not at this time since boot.
    pub(crate) fn is_over(&self, now: Duration) -> bool {
        self.0.load(Ordering::Acquire) != NOT_YET && !self.permits(now)
    }

    /// Whether there is no leader election.
    pub(crate) fn is_always_open(&self) -> bool {
        self.0.load(Ordering::Acquire) == ALWAYS
    }
}

/// The reason why a write was not sent; the source of a [`kube::Error::Service`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not sent: this process does not hold its Lease, or may no longer do so")]
pub struct NotLeading;

tokio::task_local! {
    static EVERY_REPLICA: ();
}

/// Marks work that needs no leadership: the fence does not apply.
pub(crate) async fn in_every_replica<T>(work: impl Future<Output = T>) -> T {
    EVERY_REPLICA.scope((), work).await
}

/// A client that is `unfenced` inside [`in_every_replica`], `sharded` in the reconciles of a sharded controller,
/// where the fence of the slot applies, too, and `fenced` elsewhere.
pub(crate) fn either(fenced: Client, unfenced: Client, sharded: Option<Client>) -> Client {
    let namespace = fenced.default_namespace().to_owned();
    let service = service_fn(move |request: Request<Body>| {
        let (fenced, unfenced) = (fenced.clone(), unfenced.clone());
        let sharded = sharded.clone();
        // A task of the client polls this service. The calling task polls the returned future, and has the
        // mark.
        async move {
            if EVERY_REPLICA.try_with(|()| ()).is_ok() {
                return unfenced.send(request).await.map_err(BoxError::from);
            }
            match sharded.zip(Permit::current()) {
                Some((sharded, permit)) if changes(request.method(), request.uri().path()) => {
                    permit.send(&sharded, request).await
                }
                Some((sharded, _)) => sharded.send(request).await.map_err(BoxError::from),
                None => fenced.send(request).await.map_err(BoxError::from),
            }
        }
    });
    Client::new(service, namespace)
}

/// Refuses writes while the fence does not permit them.
impl<S> Layer<S> for Fence {
    type Service = Fenced<S>;

    fn layer(&self, inner: S) -> Fenced<S> {
        let fence = self.clone();
        Fenced { inner, fence }
    }
}

/// The service of a [`Fence`].
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

/// Whether a request writes. A websocket into a container, as `exec` opens, is a GET.
fn changes(method: &Method, path: &str) -> bool {
    let mut path = path.trim_start_matches('/').split('/');
    let in_pod = path.by_ref().take(3).eq(["api", "v1", "namespaces"])
        && path.nth(1) == Some("pods")
        && matches!(path.nth(1), Some("attach" | "exec" | "portforward"));
    in_pod || !method.is_safe()
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::{FutureExt, future::ok};

    #[test]
    fn writes_are_permitted_until_the_deadline() {
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
        // Fences that never held stay unchanged.
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
    async fn work_of_every_replica_is_not_fenced() {
        let answering = |text: &'static str| {
            let answer = move |_| {
                ok::<_, BoxError>(http::Response::new(Body::from(text.as_bytes().to_vec())))
            };
            Client::new(service_fn(answer), "default")
        };
        let client = either(answering("fenced"), answering("unfenced"), None);
        let ask = async || {
            let request = Request::get("/").body(Vec::new()).unwrap();
            client.request_text(request).await.unwrap()
        };
        assert_eq!(ask().await, "fenced");
        assert_eq!(in_every_replica(ask()).await, "unfenced");
    }

    #[tokio::test]
    async fn a_reconcile_writes_under_the_fence_of_its_slot() {
        let answering = |text: &'static str| {
            let answer = move |_| {
                ok::<_, BoxError>(http::Response::new(Body::from(text.as_bytes().to_vec())))
            };
            Client::new(service_fn(answer), "default")
        };
        let [fenced, unfenced, sharded] = ["fenced", "unfenced", "sharded"].map(answering);
        let client = either(fenced, unfenced, Some(sharded));
        let ask = async |method: &str| {
            let request = Request::builder().method(method).uri("/");
            client.request_text(request.body(Vec::new()).unwrap()).await
        };
        let permit = Arc::new(Permit::default());
        let turn = permit.enter().unwrap();
        let during = turn.run(async {
            assert_eq!(ask("GET").await.unwrap(), "sharded");
            assert_eq!(ask("PUT").await.unwrap(), "sharded");
            assert_eq!(in_every_replica(ask("PUT")).await.unwrap(), "unfenced");
            permit.stop(Duration::ZERO, Duration::ZERO).await;
            assert_eq!(ask("GET").await.unwrap(), "sharded");
            let error = ask("PUT").await.unwrap_err();
            assert!(
                crate::error::chain(&error).contains("belong to this process"),
                "{error}"
            );
        });
        during.await;
        assert_eq!(ask("PUT").await.unwrap(), "fenced");
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
