//! The metrics endpoint.

pub(crate) mod authorization;
mod cache;
mod flags;
mod format;

use std::{net::SocketAddr, sync::Arc};

use axum::{
    Router,
    http::{
        HeaderMap,
        header::{ACCEPT, CONTENT_TYPE},
    },
    middleware::from_fn_with_state,
    routing::get,
};
use kube::Client;

use self::{authorization::Authorizer, format::Format};
use crate::{
    error::Error,
    metrics::Metrics,
    server::{
        Address,
        certificate::{Certificate, Current, Files},
        serve::{Limits, Server},
    },
};
pub use flags::MetricsFlags;

/// The configuration of the metrics endpoint; disabled by default.
#[derive(Debug, Default)]
pub(crate) struct Endpoint(Option<MetricsFlags>);

impl Endpoint {
    /// The configuration by flags.
    pub(crate) fn of(flags: MetricsFlags) -> Self {
        Self(Some(flags))
    }

    /// Binds the server and returns it with its routes; `None` if it is disabled. `served` is the certificate of
    /// the webhooks, which the metrics have, too, unless flags name another one.
    pub(crate) async fn bind(
        &self,
        metrics: &Metrics,
        http2: bool,
        client: Client,
        served: Option<Arc<Current>>,
    ) -> Result<Option<(Server, Router)>, Error> {
        let Some(flags) = &self.0 else {
            return Ok(None);
        };
        let Address(Some(address)) = flags.metrics_bind_address else {
            return Ok(None);
        };
        serve(metrics, address, flags, http2, client, served)
            .await
            .map(Some)
    }
}

/// The server at `address` and its routes; `client` checks who may read.
async fn serve(
    metrics: &Metrics,
    address: SocketAddr,
    flags: &MetricsFlags,
    http2: bool,
    client: Client,
    served: Option<Arc<Current>>,
) -> Result<(Server, Router), Error> {
    const NAME: &str = "metrics";
    if !flags.metrics_secure {
        let server = Server::bind(NAME, address, None, http2, Limits::METRICS, metrics).await?;
        return Ok((server, router(metrics, None)));
    }
    let certificate = match (&flags.metrics_cert_path, served) {
        (Some(directory), _) => {
            let files = Files {
                certificate: directory.join(&flags.metrics_cert_name),
                key: directory.join(&flags.metrics_cert_key),
            };
            Certificate::read(files, metrics).await?
        }
        (None, Some(served)) => Certificate::of(served),
        (None, None) => Certificate::self_signed()?,
    };
    let current = certificate.current();
    metrics.certificate(NAME, move || current.not_after());
    let server = Server::bind(
        NAME,
        address,
        Some(certificate),
        http2,
        Limits::METRICS,
        metrics,
    )
    .await?;
    Ok((server, router(metrics, Some(Authorizer::new(client)))))
}

fn router(metrics: &Metrics, authorizer: Option<Authorizer>) -> Router {
    let metrics = metrics.clone();
    let text = |headers: HeaderMap| async move {
        let accepts = headers.get_all(ACCEPT).iter();
        let accepts: Vec<_> = accepts.filter_map(|value| value.to_str().ok()).collect();
        let format = Format::for_accept(&accepts.join(","));
        let headers = [(CONTENT_TYPE, format.content_type())];
        (headers, format.write(metrics.text()))
    };
    let router = Router::new().route("/metrics", get(text));
    match authorizer {
        // Only for existing routes, so that other paths cause no review.
        Some(authorizer) => router.route_layer(from_fn_with_state(
            Arc::new(authorizer),
            authorization::filter,
        )),
        None => router,
    }
}
