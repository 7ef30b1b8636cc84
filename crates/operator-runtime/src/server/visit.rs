//! The requests of a connection.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use axum::{
    Router,
    body::{Body, Bytes},
    http::{HeaderValue, Request, Version, header::CONNECTION},
    response::Response,
};
use futures::{FutureExt, future::BoxFuture};
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;
use tower::{Service, ServiceExt};

use super::places::{Connection, Running};

/// An extension of requests whose client has a certificate of the server's client CA.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Certified;

/// Answers the requests of a connection, and notes which of them run: those that have arrived whole.
#[derive(Clone)]
pub(super) struct Visit {
    pub(super) connection: Arc<Connection>,
    pub(super) router: Router,
    /// Whether the client has a certificate of the server's client CA.
    pub(super) certified: bool,
    /// Cancelled when the server stops. From then on, each response says `Connection: close`.
    pub(super) parting: CancellationToken,
}

impl Service<Request<Incoming>> for Visit {
    type Response = Response;
    type Error = io::Error;
    type Future = BoxFuture<'static, io::Result<Response>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<Incoming>) -> Self::Future {
        let Self {
            connection,
            router,
            certified,
            parting,
        } = self.clone();
        let http1 = request.version() <= Version::HTTP_11;
        connection.asked();
        if certified {
            request.extensions_mut().insert(Certified);
        }
        let progress = Arc::new(Mutex::new(Progress::Arrives));
        let request = request.map(|body| {
            let mut arriving = Arriving {
                body,
                connection: connection.clone(),
                progress: progress.clone(),
            };
            arriving.check();
            Body::new(arriving)
        });
        let answer = async move {
            let mut response = tokio::select! {
                // Without a read of its body, the connection would not notice.
                () = connection.closing.cancelled() => Err(io::ErrorKind::ConnectionAborted.into()),
                response = router.oneshot(request) => response.map_err(|never| match never {}),
            };
            if response
                .as_ref()
                .is_ok_and(|it: &Response| it.status().is_success())
            {
                connection.served();
            }
            // HTTP/2 has a frame for it, GOAWAY, which the server sends when it closes.
            if let (Ok(response), true, true) = (&mut response, http1, parting.is_cancelled()) {
                let close = HeaderValue::from_static("close");
                response.headers_mut().insert(CONNECTION, close);
            }
            *progress.lock() = Progress::Answered;
            response
        };
        answer.boxed()
    }
}

/// The progress of a request.
enum Progress {
    Arrives,
    Runs {
        _running: Running,
    },
    /// There is a response, which may begin before the request has ended.
    Answered,
}

/// The body of a request, which runs when it has arrived whole.
struct Arriving {
    body: Incoming,
    connection: Arc<Connection>,
    progress: Arc<Mutex<Progress>>,
}

impl Arriving {
    fn check(&mut self) {
        if self.body.is_end_stream() {
            self.ends();
        }
    }

    fn ends(&mut self) {
        let mut progress = self.progress.lock();
        if matches!(*progress, Progress::Arrives) {
            let _running = self.connection.running();
            *progress = Progress::Runs { _running };
        }
    }
}

impl HttpBody for Arriving {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        match frame {
            Some(_) => self.check(),
            None => self.ends(),
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
