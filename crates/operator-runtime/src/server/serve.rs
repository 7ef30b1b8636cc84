//! Binds, serves and stops every server of the manager.

#[cfg(test)]
mod tests;

use std::{convert::Infallible, future::pending, io, net::SocketAddr, sync::Arc, time::Duration};

use axum::{
    Router,
    extract::{DefaultBodyLimit, Request},
    http::StatusCode,
    middleware::{Next, from_fn},
    response::{IntoResponse, Response},
};
use axum_server::{
    Handle,
    accept::NoDelayAcceptor,
    tls_rustls::{RustlsAcceptor, RustlsConfig},
};
use hyper_util::rt::TokioTimer;
use rustls::ServerConfig;
use tokio::{net::TcpListener, sync::Semaphore, time::timeout};
use tokio_util::sync::CancellationToken;
use tower::{ServiceExt, service_fn};

use crate::{crypto::provider, error::Error, server::certificate::Certificate};

/// The default limit of a body, in bytes. For an update, the API server sends an object twice, each up to
/// its own limit of 3 MiB.
pub(crate) const BODY: usize = 7 * 1024 * 1024;

/// The limits for clients.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// The maximum number of connections. Further connections are closed, to protect memory and file
    /// descriptors.
    connections: usize,
    /// The timeout of an idle connection and of request headers. It is longer than the 90 s after which
    /// clients written in Go (the API server, Prometheus) close an idle connection: otherwise the server
    /// could close it in the middle of their next request.
    headers: Duration,
    /// The timeout of a request, body and response; a webhook's limit is 30 s.
    request: Duration,
    /// The time for requests to finish after a stop.
    grace: Duration,
}

const LIMITS: Limits = Limits {
    connections: 1024,
    headers: Duration::from_secs(100),
    request: Duration::from_secs(30),
    grace: Duration::from_secs(5),
};

/// A bound server, with its name for logs and errors.
pub(crate) struct Server {
    name: String,
    listener: TcpListener,
    certificate: Option<Certificate>,
    http2: bool,
    limits: Limits,
}

impl Server {
    /// Binds `address`; with a certificate, for TLS. HTTP/2 is enabled only with `http2`.
    ///
    /// # Errors
    /// If the address cannot be bound, for example because the port is in use.
    pub(crate) async fn bind(
        name: &str,
        address: SocketAddr,
        certificate: Option<Certificate>,
        http2: bool,
    ) -> Result<Self, Error> {
        let listener = bind(address).await;
        let listener = listener.map_err(|error| Error::Listen(name.to_owned(), address, error))?;
        Ok(Self {
            name: name.to_owned(),
            listener,
            certificate,
            http2,
            limits: LIMITS,
        })
    }

    /// Like [`bind`](Self::bind), with an existing listener. Must be called inside a tokio runtime.
    #[cfg(feature = "envtest")]
    pub(crate) fn on(
        name: &str,
        listener: std::net::TcpListener,
        certificate: Option<Certificate>,
        http2: bool,
    ) -> Result<Self, Error> {
        let address = listener.local_addr();
        let listener = listener
            .set_nonblocking(true)
            .and_then(|()| TcpListener::from_std(listener));
        let address = address.unwrap_or_else(|_| SocketAddr::from(([0, 0, 0, 0], 0)));
        let listener = listener.map_err(|error| Error::Listen(name.to_owned(), address, error))?;
        Ok(Self {
            name: name.to_owned(),
            listener,
            certificate,
            http2,
            limits: LIMITS,
        })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Serves until `stop`, and then until the running requests have ended, for up to 5 s.
    ///
    /// # Errors
    /// If the server failed; it never ends by itself.
    pub(crate) async fn run(self, router: Router, stop: CancellationToken) -> io::Result<()> {
        let secure = self.certificate.is_some();
        tracing::info!(address = %self.listener.local_addr()?, secure, "serving {}", self.name);
        let (limits, handle) = (self.limits, Handle::new());
        // With Nagle's algorithm, the TLS messages after the handshake would delay the first response of
        // each connection by 40 ms, the client's delayed acknowledgement.
        let at_once = NoDelayAcceptor::new();
        let mut server = axum_server::Server::from_listener(self.listener)
            .handle(handle.clone())
            .acceptor(at_once);
        let http = server.http_builder();
        http.http1()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.headers);
        http.http2()
            .timer(TokioTimer::new())
            .keep_alive_interval(limits.headers);
        if !self.http2 {
            server = server.http1_only();
        }
        let router =
            router
                .layer(DefaultBodyLimit::max(BODY))
                .layer(from_fn(move |request, next| {
                    limit_time(limits.request, request, next)
                }));
        let slots = Arc::new(Semaphore::new(limits.connections));
        let connections = service_fn(move |_: SocketAddr| {
            let (slots, router) = (slots.clone(), router.clone());
            async move {
                let slot = Arc::new(slots.try_acquire_owned()?);
                // The service of a connection holds its slot.
                let hold = move |request: axum::http::Request<_>| {
                    let _slot = &slot;
                    request
                };
                Ok::<_, tokio::sync::TryAcquireError>(router.map_request(hold))
            }
        });
        let stopping = async {
            stop.cancelled().await;
            handle.graceful_shutdown(Some(limits.grace));
            pending::<Infallible>().await
        };
        let serving = async {
            let Some(certificate) = self.certificate else {
                return server.serve(connections).await;
            };
            let acceptor = RustlsAcceptor::new(tls(&certificate, self.http2)?).acceptor(at_once);
            tokio::select! {
                result = server.acceptor(acceptor).serve(connections) => result,
                never = certificate.watch() => match never {},
            }
        };
        tokio::select! {
            result = serving => result,
            never = stopping => match never {},
        }
    }
}

/// Binds `address`. All interfaces means IPv4 where there is no IPv6.
async fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    match TcpListener::bind(address).await {
        Err(error) if address.ip().is_unspecified() && error.kind() != io::ErrorKind::AddrInUse => {
            TcpListener::bind(("0.0.0.0", address.port()))
                .await
                .map_err(|_| error)
        }
        result => result,
    }
}

/// The TLS configuration: versions 1.2 and 1.3, with the newest certificate.
fn tls(certificate: &Certificate, http2: bool) -> io::Result<RustlsConfig> {
    let protocols: &[&str] = if http2 {
        &["h2", "http/1.1"]
    } else {
        &["http/1.1"]
    };
    let config = ServerConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?;
    let mut config = config
        .with_no_client_auth()
        .with_cert_resolver(certificate.current());
    config.alpn_protocols = protocols
        .iter()
        .map(|name| name.as_bytes().to_vec())
        .collect();
    Ok(RustlsConfig::from_config(Arc::new(config)))
}

async fn limit_time(limit: Duration, request: Request, next: Next) -> Response {
    match timeout(limit, next.run(request)).await {
        Ok(response) => response,
        Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}
