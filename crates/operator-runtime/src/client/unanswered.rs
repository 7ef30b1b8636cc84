//! Finds connections on which a call waits in vain, so that no later call uses them.
//!
//! A connection may be dead without an error: packets are dropped, or a load balancer has forgotten it. Only
//! the caller notices, when its timeout ends the wait. The next call would use the same connection again.

use std::time::Duration;

use axum::body::Body as Answer;
use futures::{StreamExt, stream};
use http::{Request, Response};
use tokio::time::Instant;
use tower::BoxError;

/// The shortest silence that makes a connection suspect. A call that is dropped earlier says nothing: its
/// caller may have changed its mind.
const SILENCE: Duration = Duration::from_secs(1);

/// A call without its whole response. If it is dropped after some silence, its connection is discarded.
pub(super) struct Unanswered<F: FnOnce()> {
    /// The time of the last byte, or of the request.
    since: Instant,
    discard: Option<F>,
}

impl<F: FnOnce() + Send + 'static> Unanswered<F> {
    pub(super) fn new(discard: F) -> Self {
        Self {
            since: Instant::now(),
            discard: Some(discard),
        }
    }

    /// Waits for the response, and guards the call until its last byte. A stream is guarded until it begins:
    /// it may be silent, and may be dropped at any time.
    pub(super) async fn wait<B, E>(
        mut self,
        streams: bool,
        response: impl Future<Output = Result<Response<B>, E>>,
    ) -> Result<Response<Answer>, BoxError>
    where
        B: hyper::body::Body<Data = hyper::body::Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
        E: Into<BoxError>,
    {
        let response = response.await.map_err(Into::into)?;
        if streams {
            self.answered();
            return Ok(response.map(Answer::new));
        }
        self.since = Instant::now();
        Ok(response.map(|body| {
            let state = (Answer::new(body).into_data_stream(), self);
            Answer::from_stream(stream::unfold(state, async |(mut body, mut call)| {
                let Some(bytes) = body.next().await else {
                    call.answered();
                    return None;
                };
                if bytes.is_ok() {
                    call.since = Instant::now();
                }
                Some((bytes, (body, call)))
            }))
        }))
    }

    fn answered(&mut self) {
        self.discard = None;
    }
}

impl<F: FnOnce()> Drop for Unanswered<F> {
    fn drop(&mut self) {
        if let Some(discard) = self.discard.take()
            && self.since.elapsed() >= SILENCE
        {
            discard();
        }
    }
}

/// Whether the response is a stream without an end: a watch, or a log that is followed.
pub(super) fn streams<B>(request: &Request<B>) -> bool {
    let query = request.uri().query().unwrap_or_default();
    form_urlencoded::parse(query.as_bytes()).any(|(name, value)| {
        matches!(&*name, "watch" | "follow") && matches!(&*value, "true" | "1")
    })
}

#[cfg(test)]
mod tests {
    use std::{
        convert::Infallible,
        sync::{
            Arc,
            atomic::{AtomicUsize, Ordering},
        },
    };

    use futures::future::{pending, ready};
    use tokio::time::{sleep, timeout};

    use super::*;

    /// Calls with an answer, and drops the rest after a time; returns how often the connection was discarded.
    async fn discarded(
        streams: bool,
        after: Duration,
        response: impl Future<Output = Result<Response<Answer>, Infallible>>,
    ) -> usize {
        let count = Arc::new(AtomicUsize::new(0));
        let discards = count.clone();
        let call = Unanswered::new(move || _ = discards.fetch_add(1, Ordering::Relaxed));
        _ = timeout(after, async {
            let response = call.wait(streams, response).await.unwrap();
            axum::body::to_bytes(response.into_body(), usize::MAX).await
        })
        .await;
        count.load(Ordering::Relaxed)
    }

    fn answer(body: Answer) -> impl Future<Output = Result<Response<Answer>, Infallible>> {
        ready(Ok(Response::new(body)))
    }

    #[tokio::test]
    async fn a_connection_without_an_answer_is_discarded() {
        let (soon, late) = (Duration::from_millis(300), Duration::from_millis(1500));
        let silent = || Answer::from_stream(stream::pending::<Result<Vec<u8>, Infallible>>());
        let slow = || {
            Answer::from_stream(stream::unfold(6, async |left| {
                sleep(Duration::from_millis(400)).await;
                (left > 0).then(|| (Ok::<_, Infallible>(vec![0]), left - 1))
            }))
        };
        let counts = tokio::join!(
            discarded(false, late, pending()),
            discarded(true, late, pending()),
            discarded(false, late, answer(silent())),
        );
        assert_eq!(counts, (1, 1, 1));
        let counts = tokio::join!(
            // A stream may be silent.
            discarded(true, late, answer(silent())),
            // Too early to say.
            discarded(false, soon, pending()),
            discarded(false, soon, answer(silent())),
            // It answers.
            discarded(false, late, answer(Answer::from("all"))),
            discarded(false, late, answer(slow())),
            discarded(false, 3 * late, answer(slow())),
        );
        assert_eq!(counts, (0, 0, 0, 0, 0, 0));
    }

    #[test]
    fn endless_responses() {
        for (uri, expected) in [
            ("/api/v1/pods?limit=5", false),
            ("/api/v1/pods?limit=5&watch=true", true),
            ("/api/v1/pods?watch=1", true),
            ("/api/v1/pods?watch=false", false),
            ("/api/v1/namespaces/a/pods/b/log?&follow=true", true),
            ("/api/v1/namespaces/watch/pods", false),
        ] {
            let request = Request::get(uri).body(()).unwrap();
            assert_eq!(streams(&request), expected, "{uri}");
        }
    }
}
