//! A conversion review that is answered while it arrives: object by object, from the request to the
//! response.

use std::{io, sync::Arc, time::Duration};

use axum::{
    body::{Body, BodyDataStream, Bytes, HttpBody},
    extract::Request,
    http::{StatusCode, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use futures::{
    StreamExt,
    stream::{self, poll_fn},
};
use tokio::{sync::mpsc, task::spawn_blocking, time::timeout};

use super::{PART, PARTING, busy, drain, length, refuse};
use crate::{
    metrics::Counter,
    webhook::{
        conversion::{Conversion, Review},
        memory::{Claim, Cost, Memory, Stop},
    },
};

/// The limits for one object of a review, however many it has. The API server waits 30 s for the response.
pub(super) const CONVERSION: Cost = Cost {
    most: usize::MAX,
    patience: Duration::from_secs(15),
};

/// The size of a conversion that runs in place, in bytes: about 1 ms. Larger ones run on a thread, so that
/// they block neither the probes nor the renewal of the lease.
const AT_ONCE: usize = 64 * 1024;

/// A part of the response, or the reason why it ends.
type Part = Result<Bytes, StatusCode>;

/// The conversions and their limits.
#[derive(Clone)]
pub(super) struct Exchange {
    pub(super) conversions: Arc<[Conversion]>,
    pub(super) panics: Counter,
    pub(super) memory: Arc<Memory>,
}

impl Exchange {
    /// Answers a review. The API server, like every client written in Go, reads the response while it sends
    /// the request.
    pub(super) async fn respond(self, request: Request) -> Result<Response, Response> {
        let body = request.into_body();
        let announced = body.size_hint().upper().map(length);
        let mut parts = body.into_data_stream();
        let taken = self.memory.claim(CONVERSION, announced);
        if taken.turn().await.is_err() {
            drop(taken);
            drain(parts, PARTING).await;
            return Err(busy());
        }
        let (sender, mut receiver) = mpsc::channel(1);
        let slowest = self.memory.slowest;
        // A client that does not read is not polled: only a separate task notices the timeout.
        tokio::spawn(async move {
            let answered = timeout(slowest, self.convert(&mut parts, &taken, &sender)).await;
            drop(taken);
            if let Err(status) = answered.unwrap_or(Err(StatusCode::REQUEST_TIMEOUT)) {
                if status == StatusCode::SERVICE_UNAVAILABLE {
                    drain(parts, PARTING).await;
                }
                _ = sender.send(Err(status)).await;
            }
        });
        let (first, second) = (receiver.recv().await, receiver.recv().await);
        let body = match (first, second) {
            (Some(Ok(answer)), None) => answer.into(),
            (Some(Ok(first)), Some(second)) => body_of([Ok(first), second], receiver),
            (Some(Err(StatusCode::SERVICE_UNAVAILABLE)), _) => return Err(busy()),
            (Some(Err(StatusCode::REQUEST_TIMEOUT)), _) => {
                let text = format!("the review is too slow, or took longer than {slowest:?}");
                return Err(refuse((StatusCode::REQUEST_TIMEOUT, text)));
            }
            (refused, _) => {
                let status = refused.and_then(Result::err);
                let text = "not a ConversionReview with its objects last".to_owned();
                return Err(refuse((status.unwrap_or(StatusCode::BAD_REQUEST), text)));
            }
        };
        Ok(([(CONTENT_TYPE, "application/json")], body).into_response())
    }

    /// Converts the arriving objects, and sends the results.
    async fn convert(
        self,
        parts: &mut BodyDataStream,
        taken: &Claim,
        sender: &mpsc::Sender<Part>,
    ) -> Result<(), StatusCode> {
        let early = |stop| match stop {
            Stop::Full => StatusCode::SERVICE_UNAVAILABLE,
            Stop::Slow(..) => StatusCode::REQUEST_TIMEOUT,
            Stop::Broken(_) => StatusCode::BAD_REQUEST,
        };
        let mut review = Review::new(self.memory.most(CONVERSION), self.memory.all());
        while let Some(part) = taken.read(parts).await.map_err(early)? {
            let length = review.pending() + part.len();
            let (conversions, panics) = (self.conversions.clone(), self.panics.clone());
            let read = move || {
                let read = review.read(&conversions, &part, &|| _ = panics.inc());
                read.map(|()| review)
            };
            review = if length <= AT_ONCE {
                read()?
            } else {
                let turn = self.memory.turn.clone().lock_owned().await;
                let read = move || (read(), turn);
                spawn_blocking(read).await.expect("panics are caught").0?
            };
            if review.written() > PART {
                send(taken, sender, &review.take()).await.map_err(early)?;
            }
            taken.keep(review.pending() + review.written());
        }
        send(taken, sender, &review.end()?).await.map_err(early)
    }
}

/// Sends a text in parts. Each part is a copy: a slice would keep the whole text alive.
pub(super) async fn send(
    taken: &Claim,
    sender: &mpsc::Sender<Part>,
    text: &[u8],
) -> Result<(), Stop> {
    for part in text.chunks(PART) {
        let sent = sender.send(Ok(Bytes::copy_from_slice(part)));
        let sent = taken.write(sent, part.len()).await?;
        sent.map_err(|error| Stop::Broken(error.to_string()))?;
    }
    Ok(())
}

/// A response that is still being written. If it breaks off, the connection is closed, so that the client
/// does not take it as complete.
pub(super) fn body_of<const N: usize>(begin: [Part; N], mut rest: mpsc::Receiver<Part>) -> Body {
    let rest = poll_fn(move |context| rest.poll_recv(context));
    let parts = stream::iter(begin).chain(rest);
    Body::from_stream(parts.map(|part| part.map_err(|status| io::Error::other(status.to_string()))))
}
