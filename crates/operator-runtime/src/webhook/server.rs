//! Where webhooks are served, and how.

#[cfg(test)]
mod tests;

use std::{
    net::{Ipv6Addr, SocketAddr},
    sync::Arc,
};

use axum::{
    Router,
    body::{Bytes, HttpBody},
    extract::Request,
    http::{
        StatusCode,
        header::{CONTENT_TYPE, HeaderMap},
    },
    response::{IntoResponse, Response},
    routing::post,
};
use futures::{
    FutureExt, StreamExt,
    future::{BoxFuture, ready},
};
use kube::api::ApiResource;
use tokio::task::spawn_blocking;

use super::{
    CONVERT, Conversion, WebhookFlags, Webhooks,
    admit::Refusal,
    certificates::{Environment, certificate},
    conversion::convert,
    declaration::{Declaration, check},
};
#[cfg(feature = "envtest")]
use crate::server::certificate::Certificate;
use crate::{
    cache::Source,
    client::{Clients, fence::in_every_replica},
    error::Error,
    metrics::{Counter, Metrics, WebhookMetrics},
    object::ScopedResource,
    runnable::Runnable,
    server::{
        probes::Readiness,
        serve::{BODY, Server},
    },
};

/// Bytes of a conversion review. It holds a page of a list, which are 10,000 objects where the API
/// server fills its watch cache; one page too large would block every list and watch of the type.
const CONVERSION_BODY: usize = 256 * 1024 * 1024;

/// Bytes of a conversion review that is answered at once: in 1 ms or so. A longer one has a thread of
/// its own, so that it holds up neither the probes nor the renewal of the lease.
const AT_ONCE: usize = 64 * 1024;

/// Where webhooks are served, and with which certificate.
#[derive(Debug)]
pub(crate) enum Endpoint {
    /// As the command line says.
    Flags(Box<WebhookFlags>),
    /// With a certificate and its key, as PEM.
    #[cfg(feature = "envtest")]
    Given {
        listener: std::net::TcpListener,
        certificate: String,
        key: String,
    },
}

impl Endpoint {
    /// Listens; returns what has to run besides, too.
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
                let (certificate, tasks) = certificate(*flags, environment).await?;
                let server = Server::bind(NAME, address, Some(certificate), http2).await?;
                Ok((server, tasks))
            }
            #[cfg(feature = "envtest")]
            Self::Given {
                listener,
                certificate,
                key,
            } => {
                let certificate = Certificate::from_pem(&certificate, &key)?;
                let server = Server::on(NAME, listener, Some(certificate), http2)?;
                Ok((server, Vec::new()))
            }
        }
    }
}

/// What answers at which path, with its context.
#[derive(Default)]
pub(crate) struct Site {
    /// Where they are served, if they are.
    endpoint: Option<Endpoint>,
    hooks: Vec<Hook>,
    conversions: Vec<Conversion>,
}

struct Hook {
    declaration: Declaration,
    answer: Arc<Answer>,
}

/// Answers the body of a request, and counts panics.
type Answer = dyn Fn(Bytes, Counter) -> BoxFuture<'static, Result<Vec<u8>, Refusal>> + Send + Sync;

impl Site {
    /// Serves the webhooks as the command line says, if it does.
    pub(crate) fn serve_as(&mut self, flags: WebhookFlags) {
        if flags.enable_webhooks {
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

    /// The server, which listens already, and what has to run besides; none if nothing is to be served.
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
        let (definitions, conversions) = webhooks.into_parts();
        for definition in definitions {
            let declaration = definition.declaration.clone();
            let (definition, context) = (Arc::new(definition), context.clone());
            let answer = move |body: Bytes, panics: Counter| {
                let (definition, context) = (definition.clone(), context.clone());
                let admit = async move { definition.admit(&body, &context, &panics).await };
                in_every_replica(admit).boxed()
            };
            self.hooks.push(Hook {
                declaration,
                answer: Arc::new(answer),
            });
        }
        self.conversions.extend(conversions);
    }

    /// Each webhook, without its function.
    pub(crate) fn declarations(&self) -> Vec<&Declaration> {
        self.hooks.iter().map(|hook| &hook.declaration).collect()
    }

    pub(crate) fn conversions(&self) -> &[Conversion] {
        &self.conversions
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.hooks.is_empty() && self.conversions.is_empty()
    }

    /// Looks at the declarations, before anything is served.
    ///
    /// # Errors
    /// If they cannot work, alone or together.
    pub(crate) fn check(&self) -> Result<(), Error> {
        check(self.hooks.iter().map(|hook| &hook.declaration)).map_err(Error::Webhooks)
    }

    /// Whether this replica is ready only with a store of this type. Not of one that it converts: its list asks
    /// the API server to convert, which finds nobody to ask before this replica is ready.
    pub(crate) fn awaits(&self, kind: &ScopedResource) -> bool {
        let ApiResource { group, kind, .. } = &kind.resource;
        let mut conversions = self.conversions.iter();
        let converted = conversions.any(|conversion| conversion.group_kind() == (group, kind));
        self.endpoint.is_some() && !self.hooks.is_empty() && !converted
    }

    /// What is served, if the [`check`](Self::check) says that it can be. Before `stores` are filled, which
    /// functions may read, nothing is decided.
    pub(crate) fn router(self, metrics: &Metrics, stores: Vec<Arc<Source>>) -> Router {
        let mut router = Router::new();
        let stores: Arc<[_]> = stores.into();
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
            router = router.merge(route(path, BODY, metrics.webhook(path), answer));
        }
        if !self.conversions.is_empty() {
            let conversions = Arc::new(self.conversions);
            let panics = metrics.conversion_panics();
            let answer = move |body: Bytes| {
                let (conversions, panics) = (conversions.clone(), panics.clone());
                async move {
                    let answer = if body.len() > AT_ONCE {
                        let convert = move || converted(&conversions, &body, &panics);
                        spawn_blocking(convert).await.expect("panics are caught")
                    } else {
                        converted(&conversions, &body, &panics)
                    };
                    answer.map_err(|status| (status, "this is no ConversionReview".to_owned()))
                }
            };
            let metrics = metrics.webhook(CONVERT);
            router = router.merge(route(CONVERT, CONVERSION_BODY, metrics, answer));
        }
        router
    }
}

/// Converts, and counts panics.
fn converted(
    conversions: &[Conversion],
    body: &[u8],
    panics: &Counter,
) -> Result<Vec<u8>, StatusCode> {
    convert(conversions, body, &|| _ = panics.inc())
}

/// One path, with the bytes that a body may have, and what it counts.
fn route<F, Fut>(path: &str, most: usize, metrics: WebhookMetrics, answer: F) -> Router
where
    F: Fn(Bytes) -> Fut + Clone + Send + Sync + 'static,
    Fut: Future<Output = Result<Vec<u8>, Refusal>> + Send,
{
    let serve = move |request: Request| async move {
        let running = metrics.begin();
        let response = match body(request, most).await {
            Ok(body) => answer(body).await.map_or_else(refuse, accept),
            Err(response) => response,
        };
        running.answered(response.status().as_u16());
        response
    };
    Router::new().route(path, post(serve))
}

/// The body of a request, if it is one to read: in one piece from the start, because a large one that
/// is put together from its parts takes up twice its length.
async fn body(request: Request, most: usize) -> Result<Bytes, Response> {
    if !is_json(request.headers()) {
        let text = "expected content type application/json".to_owned();
        return Err(refuse((StatusCode::UNSUPPORTED_MEDIA_TYPE, text)));
    }
    let body = request.into_body();
    let length = usize::try_from(body.size_hint().lower()).unwrap_or(most);
    let mut whole = Vec::with_capacity(length.min(most));
    let mut parts = body.into_data_stream();
    while let Some(part) = parts.next().await {
        let broken = |error: axum::Error| refuse((StatusCode::BAD_REQUEST, error.to_string()));
        let part = part.map_err(broken)?;
        if whole.len() + part.len() > most {
            let text = format!("expected at most {most} bytes");
            return Err(refuse((StatusCode::PAYLOAD_TOO_LARGE, text)));
        }
        whole.extend_from_slice(&part);
    }
    Ok(whole.into())
}

fn is_json(headers: &HeaderMap) -> bool {
    let value = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let kind = value.and_then(|value| value.split(';').next());
    kind.is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

fn accept(answer: Vec<u8>) -> Response {
    ([(CONTENT_TYPE, "application/json")], answer).into_response()
}

fn refuse((status, text): Refusal) -> Response {
    (status, text).into_response()
}
