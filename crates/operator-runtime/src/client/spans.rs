//! A span for each call to the API server, inside the span of the reconcile that makes the call.

use std::task::{Context, Poll};

use futures::{FutureExt, future::BoxFuture};
use http::{Request, Response};
use tower::{Layer, Service};
use tracing::{Instrument, Span, debug_span, field::Empty};

/// The layer that makes the spans. Fields have the names of OpenTelemetry's conventions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spans;

impl<S> Layer<S> for Spans {
    type Service = Spanned<S>;

    fn layer(&self, inner: S) -> Spanned<S> {
        Spanned(inner)
    }
}

/// The service of [`Spans`].
#[derive(Clone, Debug)]
pub(crate) struct Spanned<S>(S);

impl<S, B, R> Service<Request<B>> for Spanned<S>
where
    S: Service<Request<B>, Response = Response<R>>,
    S::Future: Send + 'static,
    S::Error: 'static,
    R: 'static,
{
    type Response = Response<R>;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        // A call of no reconcile, such as a renewal of the Lease, would be a trace of its own.
        if Span::current().is_none() {
            return self.0.call(request).boxed();
        }
        let (method, path) = (request.method(), request.uri().path());
        // The name that kube gives a call: `list`, `patch`.
        let name = request.extensions().get::<&'static str>();
        let span = debug_span!(
            target: "operator_runtime::call",
            "call",
            otel.name = name.copied().unwrap_or(method.as_str()),
            otel.kind = "client",
            otel.status_code = Empty,
            http.request.method = %method,
            http.response.status_code = Empty,
            url.path = path,
        );
        let ended = span.clone();
        let end = move |result: &Result<Response<R>, _>| {
            let status = result.as_ref().map(|response| response.status()).ok();
            if let Some(status) = status {
                ended.record("http.response.status_code", status.as_u16());
            }
            if status.is_none_or(|status| !status.is_success()) {
                ended.record("otel.status_code", "ERROR");
            }
        };
        let call = span.in_scope(|| self.0.call(request));
        call.instrument(span).inspect(end).boxed()
    }
}
