//! A limit on what the API server can make this process keep in memory at once.
//!
//! kube buffers a line of a watch, and a page of a list, until its end. Without a limit, a response without an
//! end would take all memory.

use axum::body::Body as Answer;
use futures::{StreamExt, TryStreamExt, future};
use http::Request;
use kube::{Client, client::Body};
use tower::{BoxError, service_fn};

use super::unanswered::streams;

/// The limit for one event of a watch, for one page of a list, and for any other response, in bytes: 16 MiB.
///
/// kube-apiserver accepts requests of 3 MiB, and etcd 1.5 MiB by default (`--max-request-bytes`). An object
/// may grow by its JSON: Go escapes `<`, `>` and `&` as six bytes.
const LIMIT: usize = 16 << 20;

/// The reason why a response was given up; the innermost source of a [`kube::Error`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, thiserror::Error)]
#[error("{what} is longer than {} MiB", LIMIT >> 20)]
pub(crate) struct TooLong {
    what: &'static str,
}

impl TooLong {
    /// Whether it is the cause of an error.
    pub(crate) fn caused(error: &(dyn std::error::Error + 'static)) -> bool {
        let mut error = Some(error);
        while let Some(cause) = error {
            if cause.is::<Self>() {
                return true;
            }
            error = cause.source();
        }
        false
    }
}

/// The client with this limit. It is for the runtime's own lists and watches: other calls may return more,
/// such as a log, or a list that is not paged.
pub(crate) fn limited(client: Client) -> Client {
    let namespace = client.default_namespace().to_owned();
    let service = service_fn(move |request: Request<Body>| {
        let client = client.clone();
        async move {
            let watches = streams(&request);
            let response = client.send(request).await?;
            let lines = watches && response.status().is_success();
            Ok::<_, BoxError>(response.map(|body| limit(Answer::new(body), lines)))
        }
    });
    Client::new(service, namespace)
}

/// Ends the body with an error after [`LIMIT`] bytes, or only after as many in one of its lines.
fn limit(body: Answer, lines: bool) -> Answer {
    let mut length = 0;
    let mut check = move |bytes: &[u8]| {
        let first = bytes.iter().position(|byte| lines && *byte == b'\n');
        length += first.unwrap_or(bytes.len());
        if length > LIMIT {
            let what = if lines { "an event" } else { "a response" };
            return Err(TooLong { what });
        }
        if first.is_some() {
            let rest = bytes.iter().rev().take_while(|byte| **byte != b'\n');
            length = rest.count();
        }
        Ok(())
    };
    let bytes = body.into_data_stream().map_err(BoxError::from);
    Answer::from_stream(bytes.scan(false, move |ended, bytes| {
        let bytes = bytes.and_then(|bytes| {
            check(&bytes)?;
            Ok(bytes)
        });
        // Nothing follows an error.
        let ended = std::mem::replace(ended, bytes.is_err());
        future::ready((!ended).then_some(bytes))
    }))
}

#[cfg(test)]
mod tests {
    use std::{convert::Infallible, iter::repeat_n};

    use axum::body::to_bytes;
    use futures::stream;
    use http::Response;
    use k8s_openapi::api::core::v1::ConfigMap;
    use kube::{Api, api::WatchParams};

    use super::*;

    fn body<I>(chunks: I) -> Answer
    where
        I: IntoIterator<Item = Vec<u8>, IntoIter: Send + 'static>,
    {
        Answer::from_stream(stream::iter(chunks).map(Ok::<_, Infallible>))
    }

    fn chunk(end: &str) -> Vec<u8> {
        [&[b'a'; 1 << 20][..], end.as_bytes()].concat()
    }

    #[tokio::test]
    async fn the_length_of_a_line_or_of_all_is_limited() {
        let many = LIMIT >> 20;
        for (lines, count, end, expected) in [
            (false, many, "", ""),
            (false, many + 1, "", "a response is longer than 16 MiB"),
            (false, many, "\n", "a response is longer than 16 MiB"),
            (true, many, "", ""),
            (true, many + 1, "", "an event is longer than 16 MiB"),
            (true, 3 * many, "\n", ""),
            (true, 3 * many, "\nb", ""),
            (true, 3 * many, "\nb\nc", ""),
        ] {
            let all = limit(body(repeat_n(chunk(end), count)), lines);
            let error = to_bytes(all, usize::MAX).await.err();
            let error = error.map(|error| error.to_string()).unwrap_or_default();
            assert_eq!(error, expected, "{lines} {count} {end:?}");
        }
    }

    #[tokio::test]
    async fn the_cause_is_found_in_the_errors_of_kube() {
        let endless =
            |_| future::ok::<_, Infallible>(Response::new(body(std::iter::repeat(chunk("")))));
        let client = limited(Client::new(service_fn(endless), "default"));
        let get = |uri| http::Request::get(uri).body(Vec::new()).unwrap();
        let error = client
            .request_text(get("/pods?limit=250"))
            .await
            .unwrap_err();
        assert!(TooLong::caused(&error), "{error:?}");
        let objects: Api<ConfigMap> = Api::all(client);
        let Ok(events) = objects.watch(&WatchParams::default(), "1").await else {
            panic!("the watch begins");
        };
        let events: Vec<_> = events.collect().await;
        let error = events.into_iter().find_map(Result::err).unwrap();
        assert!(TooLong::caused(&error), "{error:?}");
        assert!(!TooLong::caused(
            &kube::Error::LinesCodecMaxLineLengthExceeded
        ));
    }
}
