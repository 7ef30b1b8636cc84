//! Calls to the API server: client-go's `rest_client_requests_total`.

use std::{
    fmt::{self, Write},
    sync::Arc,
    task::{Context, Poll},
};

use futures::{FutureExt, future::BoxFuture};
use http::{Method, Request, Response, StatusCode};
use prometheus_client::{
    encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder},
    metrics::{counter::Counter, family},
    registry::Registry,
};
use tower::{Layer, Service};

/// Calls by status, method and host. There is one host, and few methods and statuses.
pub(super) type Family = family::Family<Labels, Counter>;

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub(super) struct Labels {
    code: Code,
    method: &'static str,
    host: Arc<str>,
}

/// The status of a response, or the lack of one.
#[derive(Clone, Debug, Hash, PartialEq, Eq)]
enum Code {
    Status(StatusCode),
    Error,
}

impl EncodeLabelValue for Code {
    fn encode(&self, encoder: &mut LabelValueEncoder) -> fmt::Result {
        match self {
            Self::Status(status) => encoder.write_str(status.as_str()),
            Self::Error => encoder.write_str("<error>"),
        }
    }
}

pub(super) fn register(registry: &mut Registry) -> Family {
    let family = Family::default();
    let help = "Calls to the API server by status, method and host";
    registry.register("rest_client_requests", help, family.clone());
    family
}

/// Counts every call that passes. Below all layers that retry or refuse calls, it counts the sent calls.
#[derive(Clone, Debug)]
pub(crate) struct Calls {
    family: Family,
    host: Arc<str>,
}

impl Calls {
    pub(super) fn new(family: Family, host: &str) -> Self {
        let host = host.into();
        Self { family, host }
    }

    fn count(&self, method: &'static str, code: Code) {
        let host = self.host.clone();
        let labels = Labels { code, method, host };
        self.family.get_or_create(&labels).inc();
    }
}

impl<S> Layer<S> for Calls {
    type Service = Counted<S>;

    fn layer(&self, inner: S) -> Counted<S> {
        let calls = self.clone();
        Counted { calls, inner }
    }
}

/// A service that counts calls.
#[derive(Clone, Debug)]
pub(crate) struct Counted<S> {
    calls: Calls,
    inner: S,
}

impl<S, B, R> Service<Request<B>> for Counted<S>
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
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let method = name(request.method());
        let calls = self.calls.clone();
        let count = move |result: &Result<Response<R>, _>| {
            let code = result
                .as_ref()
                .map_or(Code::Error, |response| Code::Status(response.status()));
            calls.count(method, code);
        };
        self.inner.call(request).inspect(count).boxed()
    }
}

/// The methods that Kubernetes uses; no other text becomes a label.
fn name(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use tower::{ServiceExt, service_fn};

    use super::*;
    use crate::metrics::Metrics;

    #[tokio::test]
    async fn answers_and_failures_are_counted() {
        let metrics = Metrics::default();
        let service = metrics.calls("10.0.0.1:443").layer(service_fn(answer));
        for (method, path) in [
            ("GET", "/404"),
            ("GET", "/404"),
            ("PATCH", "/200"),
            ("BREW", "/"),
            ("GET", "/"),
        ] {
            let request = Request::builder()
                .method(method)
                .uri(path)
                .body(())
                .unwrap();
            _ = service.clone().oneshot(request).await;
        }
        let text = metrics.text();
        for line in [
            r#"{code="404",method="GET",host="10.0.0.1:443"} 2"#,
            r#"{code="200",method="PATCH",host="10.0.0.1:443"} 1"#,
            r#"{code="<error>",method="other",host="10.0.0.1:443"} 1"#,
            r#"{code="<error>",method="GET",host="10.0.0.1:443"} 1"#,
        ] {
            let line = format!("rest_client_requests_total{line}");
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
    }

    /// Responds with the status in the path, or fails.
    async fn answer(request: Request<()>) -> Result<Response<()>, String> {
        let status: StatusCode = request.uri().path()[1..].parse().map_err(|_| "no status")?;
        let mut response = Response::new(());
        *response.status_mut() = status;
        Ok(response)
    }
}
