//! The webhook server.

mod entrance;
mod exchange;
#[cfg(test)]
mod tests;

use std::{
    net::{Ipv6Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use axum::{
    Router,
    body::{BodyDataStream, HttpBody},
    extract::Request,
    http::{
        StatusCode,
        header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, RETRY_AFTER},
    },
    response::{IntoResponse, Response},
    routing::{MethodRouter, post},
};
use entrance::Entrance;
use exchange::{Exchange, body_of, send};
use futures::{
    FutureExt, StreamExt,
    future::{BoxFuture, ready},
};
use kube::api::ApiResource;
use tokio::{sync::mpsc, time::timeout};

use super::{
    CONVERT, Conversion, WebhookFlags, Webhooks,
    certificates::{Environment, certificate},
    declaration::{Declaration, check},
    memory::{Cost, Memory, Stop, Taken, room},
    review::Refusal,
    undeclared::Undeclared,
    webhooks::hubs,
};
#[cfg(feature = "envtest")]
use crate::server::certificate::Certificate;
use crate::{
    cache::Source,
    client::{Clients, fence::in_every_replica},
    controller::Hubs,
    error::Error,
    metrics::{Counter, Metrics, WebhookMetrics},
    object::ScopedResource,
    runnable::Runnable,
    server::{
        client_ca::ClientCa,
        probes::Readiness,
        serve::{Limits, Server},
    },
};

/// The label of requests for paths without a webhook, in metrics.
const OTHER: &str = "other";

/// The path at which envtest asks whether the API server calls webhooks.
#[cfg(feature = "envtest")]
pub(crate) const PROBED: &str = "/envtest-probe";
/// The time for the rest of a body that is not read any more.
const PARTING: Duration = Duration::from_secs(1);

/// The size of the parts in which a longer response is sent, in bytes.
const PART: usize = 64 * 1024;

/// The address and the certificate of the webhook server.
#[derive(Debug)]
pub(crate) enum Endpoint {
    /// By flags.
    Flags(Box<WebhookFlags>),
    /// A listener, with a certificate and its key as PEM.
    #[cfg(feature = "envtest")]
    Given {
        listener: std::net::TcpListener,
        certificate: String,
        key: String,
    },
}

impl Endpoint {
    /// Binds the server; also returns its tasks.
    ///
    /// # Errors
    /// If the port or the certificate cannot be used.
    pub(crate) async fn bind(
        self,
        environment: Environment<'_>,
        http2: bool,
    ) -> Result<(Server, Vec<Runnable>), Error> {
        const NAME: &str = "webhooks";
        match self {
            Self::Flags(flags) => {
                let address = SocketAddr::from((Ipv6Addr::UNSPECIFIED, flags.webhook_port));
                let metrics = environment.metrics;
                let client_ca = match flags.webhook_client_ca.clone() {
                    Some(file) => Some(ClientCa::read(file).await?),
                    None => None,
                };
                let (certificate, tasks) = certificate(*flags, environment).await?;
                let current = certificate.current();
                metrics.certificate("webhook", move || current.not_after());
                let server = Server::bind(
                    NAME,
                    address,
                    Some(certificate),
                    http2,
                    Limits::WEBHOOKS,
                    metrics,
                )
                .await?;
                Ok((server.with_client_ca(client_ca), tasks))
            }
            #[cfg(feature = "envtest")]
            Self::Given {
                listener,
                certificate,
                key,
            } => {
                let certificate = Certificate::from_pem(&certificate, &key)?;
                let server = Server::on(
                    NAME,
                    listener,
                    Some(certificate),
                    http2,
                    Limits::WEBHOOKS,
                    environment.metrics,
                )?;
                Ok((server, Vec::new()))
            }
        }
    }
}

/// The webhooks by path, with their contexts.
#[derive(Default)]
pub(crate) struct Site {
    /// The endpoint; `None` if the webhooks are not served.
    endpoint: Option<Endpoint>,
    hooks: Vec<Hook>,
    conversions: Vec<Conversion>,
    entrance: Entrance,
}

struct Hook {
    declaration: Declaration,
    answer: Arc<Answer>,
}

/// Answers the body of a request, and counts panics.
type Answer = dyn Fn(Whole, Counter) -> BoxFuture<'static, Result<Vec<u8>, Refusal>> + Send + Sync;

impl Site {
    /// Serves the webhooks by flags, if the flags enable them.
    pub(crate) fn serve_as(&mut self, flags: WebhookFlags) {
        if flags.enable_webhooks {
            self.entrance = Entrance {
                memory: Arc::new(Memory::new(flags.webhook_memory)),
                certified: flags.webhook_client_ca.is_some(),
            };
            self.endpoint = Some(Endpoint::Flags(Box::new(flags)));
        }
    }

    #[cfg(feature = "envtest")]
    pub(crate) fn serve_at(&mut self, endpoint: Endpoint) {
        self.endpoint = Some(endpoint);
    }

    #[cfg(feature = "envtest")]
    pub(crate) fn endpoint(&mut self) -> Option<&mut Endpoint> {
        self.endpoint.as_mut()
    }

    /// The bound server, and its tasks; `None` if there is nothing to serve.
    pub(crate) async fn bind(
        &mut self,
        clients: &Clients,
        metrics: &Metrics,
        readiness: &Readiness,
        http2: bool,
        stores: Vec<Arc<Source>>,
    ) -> Result<Option<(Server, Router, Vec<Runnable>)>, Error> {
        const CHECK: &str = "webhook";
        let endpoint = self.endpoint.take();
        let Some(endpoint) = endpoint.filter(|_| !self.is_empty()) else {
            return Ok(None);
        };
        self.check()?;
        readiness.expect(CHECK);
        let environment = Environment {
            clients,
            metrics,
            readiness,
            declarations: self.declarations(),
            conversions: self.conversions(),
        };
        let (server, tasks) = endpoint.bind(environment, http2).await?;
        let router = std::mem::take(self).router(metrics, stores);
        readiness.pass(CHECK);
        Ok(Some((server, router, tasks)))
    }

    pub(crate) fn add<C>(&mut self, webhooks: Webhooks<C>, context: &Arc<C>)
    where
        C: Send + Sync + 'static,
    {
        let declarations = webhooks.declarations();
        let (definitions, conversions) = webhooks.into_parts();
        for (definition, declaration) in definitions.into_iter().zip(declarations) {
            let (definition, context) = (Arc::new(definition), context.clone());
            let answer = move |body: Whole, panics: Counter| {
                let (definition, context) = (definition.clone(), context.clone());
                let admit = async move { definition.admit(body.text(), &context, &panics).await };
                in_every_replica(admit).boxed()
            };
            self.hooks.push(Hook {
                declaration,
                answer: Arc::new(answer),
            });
        }
        self.conversions.extend(conversions);
    }

    /// The declaration of each webhook.
    pub(crate) fn declarations(&self) -> Vec<&Declaration> {
        self.hooks.iter().map(|hook| &hook.declaration).collect()
    }

    pub(crate) fn hubs(&self) -> Hubs {
        hubs(&self.conversions)
    }

    pub(crate) fn conversions(&self) -> &[Conversion] {
        &self.conversions
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.hooks.is_empty() && self.conversions.is_empty()
    }

    /// Checks the declarations, before the server starts.
    ///
    /// # Errors
    /// If a declaration is invalid, alone or with the others.
    pub(crate) fn check(&self) -> Result<(), Error> {
        check(self.hooks.iter().map(|hook| &hook.declaration)).map_err(Error::Webhooks)
    }

    /// Whether readiness waits for a store of this type. Not for a type that this operator converts:
    /// listing it makes the API server call this webhook server, which receives no requests before the
    /// replica is ready.
    pub(crate) fn awaits(&self, kind: &ScopedResource) -> bool {
        let ApiResource { group, kind, .. } = &kind.resource;
        let mut conversions = self.conversions.iter();
        let converted = conversions.any(|conversion| conversion.group_kind() == (group, kind));
        self.endpoint.is_some() && !self.hooks.is_empty() && !converted
    }

    /// The routes, after a successful [`check`](Self::check). Requests wait until `stores`, which functions
    /// may read, are filled.
    pub(crate) fn router(self, metrics: &Metrics, stores: Vec<Arc<Source>>) -> Router {
        let mut router = Router::new();
        let stores: Arc<[_]> = stores.into();
        let entrance = Arc::new(self.entrance);
        for hook in self.hooks {
            let path = &*hook.declaration.path;
            let panics = metrics.webhook_panics();
            let stores = stores.clone();
            let answer = move |body| match stores.iter().find(|store| !store.is_filled()) {
                None => (hook.answer)(body, panics.clone()),
                Some(store) => {
                    let text = format!("not ready yet: listing {}", store.kind);
                    ready(Err((StatusCode::SERVICE_UNAVAILABLE, text))).boxed()
                }
            };
            let (answer, entrance) = (Arc::new(answer), entrance.clone());
            let respond = move |request| {
                let (answer, entrance) = (answer.clone(), entrance.clone());
                async move {
                    let Whole { text, taken } = entrance.body(request).await?;
                    let answer = answer(Whole {
                        text,
                        taken: taken.clone(),
                    })
                    .await
                    .map_err(refuse)?;
                    Ok(accept(answer, taken, &entrance.memory))
                }
            };
            router = router.merge(route(path, metrics.webhook(path), respond));
        }
        if !self.conversions.is_empty() {
            let conversions: Arc<[_]> = self.conversions.into();
            let panics = metrics.conversion_panics();
            let shared = entrance.memory.clone();
            let respond = move |request| {
                let exchange = Exchange {
                    conversions: conversions.clone(),
                    panics: panics.clone(),
                    memory: shared.clone(),
                };
                exchange.respond(request)
            };
            router = router.merge(route(CONVERT, metrics.webhook(CONVERT), respond));
        }
        #[cfg(feature = "envtest")]
        let router = router.route(PROBED, post(StatusCode::NOT_FOUND));
        let undeclared = Arc::new(Undeclared::default());
        let respond = move |request: Request| {
            let (undeclared, entrance) = (undeclared.clone(), entrance.clone());
            async move {
                let path = request.uri().path().to_owned();
                let Whole { text, taken } = entrance.body(request).await?;
                let answer = undeclared.allow_at(&path, &text).map_err(refuse)?;
                Ok(accept(answer, taken, &entrance.memory))
            }
        };
        router.fallback_service(serve(metrics.webhook(OTHER), respond))
    }
}

/// One path, with its metrics.
fn route<F, Fut>(path: &str, metrics: WebhookMetrics, respond: F) -> Router
where
    F: Fn(Request) -> Fut + Clone + Send + Sync + 'static,
    Fut: Future<Output = Result<Response, Response>> + Send,
{
    Router::new().route(path, serve(metrics, respond))
}

/// Answers posted JSON, with metrics.
fn serve<F, Fut>(metrics: WebhookMetrics, respond: F) -> MethodRouter
where
    F: Fn(Request) -> Fut + Clone + Send + Sync + 'static,
    Fut: Future<Output = Result<Response, Response>> + Send,
{
    post(move |request: Request| async move {
        let running = metrics.begin();
        let response = match is_json(request.headers()) {
            true => respond(request).await.unwrap_or_else(|refused| refused),
            false => {
                let text = "expected content type application/json".to_owned();
                refuse((StatusCode::UNSUPPORTED_MEDIA_TYPE, text))
            }
        };
        running.answered(response.status().as_u16());
        response
    })
}

/// The body of a request, with its reserved memory.
struct Whole {
    text: Vec<u8>,
    /// Also reserved for the response.
    taken: Taken,
}

impl Whole {
    /// Borrows the whole value, so that a closure with the text also holds the memory.
    fn text(&self) -> &[u8] {
        &self.text
    }
}

/// The body of a request, if the request is valid.
async fn body(request: Request, cost: Cost, memory: &Memory) -> Result<Whole, Response> {
    let body = request.into_body();
    let (hint, most) = (body.size_hint(), memory.most(cost));
    let (least, announced) = (length(hint.lower()), hint.upper().map(length));
    let mut parts = body.into_data_stream();
    let too_large = || {
        let text = format!(
            "expected at most {most} bytes, the limit that follows from `--webhook-memory`"
        );
        refuse((StatusCode::PAYLOAD_TOO_LARGE, text))
    };
    if least > most {
        drain(parts, memory.slowest).await;
        return Err(too_large());
    }
    let taken = memory.claim(cost, announced);
    let mut text = Vec::new();
    let read = async {
        while let Some(part) = taken.read(&mut parts).await? {
            if text.len() + part.len() > most {
                return Ok(false);
            }
            if text.is_empty() {
                // Allocated at once: a large body that grows takes up to twice its length.
                text = room(least);
            }
            text.extend_from_slice(&part);
        }
        Ok(true)
    };
    match read.await {
        Ok(true) => Ok(Whole { text, taken }),
        Ok(false) => Err(too_large()),
        Err(stop) => {
            // The memory is for others from now on.
            drop((text, taken));
            Err(stopped(stop, parts).await)
        }
    }
}

/// The response to a request that ends early.
async fn stopped(stop: Stop, parts: BodyDataStream) -> Response {
    match stop {
        Stop::Full => {
            drain(parts, PARTING).await;
            busy()
        }
        Stop::Slow(bytes, time) => {
            let text = format!("the body is too slow: {bytes} bytes in {time:.0?}");
            refuse((StatusCode::REQUEST_TIMEOUT, text))
        }
        Stop::Broken(error) => refuse((StatusCode::BAD_REQUEST, error)),
    }
}

fn length(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// Reads a body and drops it, for up to this time. If the connection were closed in the middle of the body,
/// the client could lose the response with the reason.
async fn drain(mut parts: BodyDataStream, limit: Duration) {
    let end = async { while let Some(Ok(_)) = parts.next().await {} };
    _ = timeout(limit, end).await;
}

fn is_json(headers: &HeaderMap) -> bool {
    let value = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let kind = value.and_then(|value| value.split(';').next());
    kind.is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

/// Sends a response. A long response keeps its memory until it is sent, until the client's timeout, or until
/// another request needs the memory and this client is slower.
fn accept(answer: Vec<u8>, taken: Taken, memory: &Memory) -> Response {
    const JSON: &str = "application/json";
    if answer.len() <= PART {
        return ([(CONTENT_TYPE, JSON)], answer).into_response();
    }
    let length = answer.len().to_string();
    let (sender, receiver) = mpsc::channel(1);
    // A client that does not read is not polled: only a separate task notices the timeout.
    tokio::spawn(timeout(memory.slowest, async move {
        _ = send(&taken, &sender, &answer).await;
    }));
    // A body that ends before its `Content-Length` closes the connection, so that the client does not take
    // it as complete.
    let headers = [(CONTENT_TYPE, JSON.to_owned()), (CONTENT_LENGTH, length)];
    (headers, body_of([], receiver)).into_response()
}

/// The response when memory was not free in time. The API server retries after a second, within the
/// webhook's timeout.
fn busy() -> Response {
    let text = "other requests use all of `--webhook-memory`".to_owned();
    let mut response = refuse((StatusCode::SERVICE_UNAVAILABLE, text));
    response.headers_mut().insert(RETRY_AFTER, 1.into());
    response
}

fn refuse((status, text): Refusal) -> Response {
    (status, text).into_response()
}
