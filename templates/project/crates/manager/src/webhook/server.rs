//! Where webhooks are served, and how.

#[cfg(test)]
mod tests;

use std::{
    net::{Ipv6Addr, SocketAddr},
    sync::Arc,
};

use axum::{
    Router,
    body::Bytes,
    extract::{FromRequest, Request},
    http::{
        StatusCode,
        header::{CONTENT_TYPE, HeaderMap},
    },
    response::{IntoResponse, Response},
    routing::post,
};
use futures::{FutureExt, future::BoxFuture};
use prometheus_client::metrics::counter::Counter;

use super::{
    CONVERT, Conversion, WebhookFlags, Webhooks,
    admit::Refusal,
    conversion::convert,
    declaration::{Declaration, check},
};
use crate::{
    certificate::{Certificate, Files},
    manager::Error,
    metrics::{Metrics, WebhookMetrics},
    serve::Server,
};

/// Where webhooks are served, and with which certificate.
#[derive(Debug)]
pub(crate) enum Endpoint {
    /// As the command line says.
    Flags(WebhookFlags),
    /// With a certificate and its key, as PEM.
    #[cfg(feature = "envtest")]
    Given {
        listener: std::net::TcpListener,
        certificate: String,
        key: String,
    },
}

impl Endpoint {
    /// Listens.
    ///
    /// # Errors
    /// If the port or the certificate cannot be used.
    pub(crate) async fn bind(self, metrics: &Metrics, http2: bool) -> Result<Server, Error> {
        const NAME: &str = "webhooks";
        match self {
            Self::Flags(flags) => {
                let address = SocketAddr::from((Ipv6Addr::UNSPECIFIED, flags.webhook_port));
                let certificate = certificate(flags, metrics).await?;
                Server::bind(NAME, address, Some(certificate), http2).await
            }
            #[cfg(feature = "envtest")]
            Self::Given {
                listener,
                certificate,
                key,
            } => {
                let certificate = Certificate::from_pem(&certificate, &key)?;
                Server::on(NAME, listener, Some(certificate), http2)
            }
        }
    }
}

/// The certificate that the command line asks for.
async fn certificate(flags: WebhookFlags, metrics: &Metrics) -> Result<Certificate, Error> {
    let directory = flags.webhook_cert_path.ok_or(Error::NoWebhookCertificate)?;
    let files = Files {
        certificate: directory.join(flags.webhook_cert_name),
        key: directory.join(flags.webhook_cert_key),
    };
    Certificate::read(files, metrics).await
}

/// What answers at which path, with its context.
#[derive(Default)]
pub(crate) struct Site {
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
                async move { definition.admit(&body, &context, &panics).await }.boxed()
            };
            self.hooks.push(Hook {
                declaration,
                answer: Arc::new(answer),
            });
        }
        self.conversions.extend(conversions);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.hooks.is_empty() && self.conversions.is_empty()
    }

    /// What is served.
    ///
    /// # Errors
    /// If the declarations cannot work, alone or together.
    pub(crate) fn router(self, metrics: &Metrics) -> Result<Router, Error> {
        check(self.hooks.iter().map(|hook| &hook.declaration)).map_err(Error::Webhooks)?;
        let mut router = Router::new();
        for hook in self.hooks {
            let path = &*hook.declaration.path;
            let panics = metrics.webhook_panics();
            let answer = move |body| (hook.answer)(body, panics.clone());
            router = router.merge(route(path, metrics.webhook(path), answer));
        }
        if !self.conversions.is_empty() {
            let conversions = Arc::new(self.conversions);
            let panics = metrics.conversion_panics();
            let answer = move |body: Bytes| {
                let (conversions, panics) = (conversions.clone(), panics.clone());
                async move {
                    let count = || _ = panics.inc();
                    let answer = convert(&conversions, &body, &count);
                    answer.map_err(|status| (status, "this is no ConversionReview".to_owned()))
                }
            };
            router = router.merge(route(CONVERT, metrics.webhook(CONVERT), answer));
        }
        Ok(router)
    }
}

/// One path, with what it counts.
fn route<F, Fut>(path: &str, metrics: WebhookMetrics, answer: F) -> Router
where
    F: Fn(Bytes) -> Fut + Clone + Send + Sync + 'static,
    Fut: Future<Output = Result<Vec<u8>, Refusal>> + Send,
{
    let serve = |request: Request| async move {
        let running = metrics.begin();
        let response = match body(request).await {
            Ok(body) => answer(body).await.map_or_else(refuse, accept),
            Err(response) => response,
        };
        running.answered(response.status().as_u16());
        response
    };
    Router::new().route(path, post(serve))
}

/// The body of a request, if it is one to read.
async fn body(request: Request) -> Result<Bytes, Response> {
    if !is_json(request.headers()) {
        let text = "expected content type application/json".to_owned();
        return Err(refuse((StatusCode::UNSUPPORTED_MEDIA_TYPE, text)));
    }
    let body = Bytes::from_request(request, &()).await;
    body.map_err(IntoResponse::into_response)
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
