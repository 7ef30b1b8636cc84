//! A client for watches: it starts them one at a time, with a pause in between, and streams current lists.

use std::{sync::Arc, time::Duration};

use kube::{Client, client::Body};
use parking_lot::Mutex;
use tokio::time::{Instant, sleep_until};
use tower::service_fn;

/// The time between the starts of two watches. kube restarts a watch without a pause after a regular end,
/// and an API server that shuts down, or a proxy, may end each watch at once.
const PAUSE: Duration = Duration::from_secs(1);

/// The client for one watch; lists are not delayed.
pub(crate) fn paced(client: Client) -> Client {
    let namespace = client.default_namespace().to_owned();
    let next = Arc::new(Mutex::new(Instant::now()));
    let service = service_fn(move |request: http::Request<Body>| {
        let (client, next) = (client.clone(), next.clone());
        let request = current(request);
        async move {
            let query = request.uri().query().unwrap_or_default();
            if query.split('&').any(|pair| pair.starts_with("watch=")) {
                let now = Instant::now();
                let begin = {
                    let mut next = next.lock();
                    let begin = now.max(*next);
                    *next = begin + PAUSE;
                    begin
                };
                sleep_until(begin).await;
            }
            client.send(request).await
        }
    });
    Client::new(service, namespace)
}

/// Makes a streamed list as current as other lists. kube asks for version 0, for which an API server may
/// answer from a cache that lags behind: objects that the store has already would vanish for a moment.
fn current(mut request: http::Request<Body>) -> http::Request<Body> {
    let uri = request.uri().to_string();
    if uri.contains("sendInitialEvents=true") {
        let uri = uri.replace("&resourceVersion=0", "");
        *request.uri_mut() = uri.parse().expect("a part of a URI");
    }
    request
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures::future::ok;

    use super::*;

    #[tokio::test]
    async fn watches_wait_and_lists_do_not() {
        let answer = |_| ok::<_, Infallible>(http::Response::new(Body::empty()));
        let client = paced(Client::new(service_fn(answer), "default"));
        let send = async |uri: &str| {
            let begin = Instant::now();
            let request = http::Request::get(uri).body(Body::empty()).unwrap();
            client.send(request).await.unwrap();
            begin.elapsed()
        };
        let short = Duration::from_millis(500);
        assert!(send("/pods?limit=1&watch=true").await < short);
        assert!(send("/pods?limit=1").await < short);
        assert!(send("/pods?limit=1&watch=true").await > short);
    }

    #[test]
    fn streamed_lists_are_current() {
        for (uri, expected) in [
            (
                "/pods?&watch=true&sendInitialEvents=true&resourceVersion=0",
                "/pods?&watch=true&sendInitialEvents=true",
            ),
            (
                "/pods?&watch=true&resourceVersion=0",
                "/pods?&watch=true&resourceVersion=0",
            ),
        ] {
            let request = http::Request::get(uri).body(Body::empty()).unwrap();
            assert_eq!(current(request).uri(), expected);
        }
    }
}
