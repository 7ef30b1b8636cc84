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
    tls_rustls::{RustlsAcceptor, RustlsConfig},
};
use hyper_util::rt::TokioTimer;
use rustls::{ServerConfig, server::NoServerSessionStorage};
use tokio::{
    net::TcpListener,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;
use tower::service_fn;

use super::{
    certificate::{Certificate, Current},
    client_ca::{Certifying, ClientCa},
    places::Places,
    stream::Acceptor,
    visit::Visit,
};
use crate::{
    crypto::provider,
    error::Error,
    metrics::{ConnectionMetrics, Metrics},
};

/// The default limit of a body, in bytes. For an update, the API server sends an object twice, each up to
/// its own limit of 3 MiB.
pub(crate) const BODY: usize = 7 * 1024 * 1024;

/// The limits for clients. Any client that reaches a port may connect, so all connections together have to
/// fit the container's memory, beside `--webhook-memory` and the operator: a test adds them up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The maximum number of connections. Further ones take the places of those that wait for their client.
    connections: usize,
    /// The size of a connection's buffers in bytes, and so the limit of a request's headers.
    buffer: usize,
    /// The time until the first request has arrived, up to its body, the TLS handshake included.
    first: Duration,
    /// The timeout of an idle connection and of further headers. It is longer than the 90 s after which
    /// clients written in Go (the API server, Prometheus) close an idle connection: otherwise the server
    /// could close it in the middle of their next request.
    idle: Duration,
    /// The timeout of a client that reads nothing of a response.
    unread: Duration,
    /// The timeout of a request, body and response; a webhook's limit is 30 s.
    request: Duration,
    /// The time after a stop in which each response says `Connection: close`. If the server closed at once, a request could
    /// already be on its way: the API server does not repeat a review, so a write would fail.
    parting: Duration,
    /// The time for requests to finish after that.
    grace: Duration,
}

impl Limits {
    /// Of the webhooks, and of a user's servers.
    pub(crate) const WEBHOOKS: Self = Self {
        connections: 192,
        buffer: 64 * 1024,
        first: Duration::from_secs(10),
        idle: Duration::from_secs(100),
        unread: Duration::from_secs(10),
        request: Duration::from_secs(30),
        parting: Duration::from_secs(1),
        grace: Duration::from_secs(4),
    };
    /// Of the metrics: a few scrapers.
    pub(crate) const METRICS: Self = Self {
        connections: 32,
        buffer: 16 * 1024,
        parting: Duration::ZERO,
        ..Self::WEBHOOKS
    };
    /// Of the probes: the kubelet, which opens a connection for each probe.
    pub(crate) const PROBES: Self = Self {
        connections: 64,
        buffer: 8 * 1024,
        parting: Duration::ZERO,
        ..Self::WEBHOOKS
    };

    /// The maximum number of connections. One over HTTP/2 carries [`STREAMS`] requests.
    fn places(&self, http2: bool) -> usize {
        if http2 {
            self.connections / 4
        } else {
            self.connections
        }
    }

    /// The memory of all connections at their worst, in bytes.
    #[cfg(test)]
    pub(crate) fn worst(&self, tls: bool, http2: bool) -> usize {
        // The tasks of a connection, and its states of TLS and HTTP.
        let state = 16 * 1024;
        // A message of a handshake; later a record, before and after its decryption.
        let record = if tls { 64 * 1024 } else { 0 };
        let http = if http2 {
            2 * self.buffer + STREAMS as usize * HEADERS as usize
        } else {
            self.buffer
        };
        self.places(http2) * (http + record + state)
    }
}

/// The maximum number of concurrent requests of an HTTP/2 connection. Clients in Go open another one for more.
const STREAMS: u32 = 16;

/// The limit of the headers of an HTTP/2 request in bytes. A connection may have [`STREAMS`] of them.
const HEADERS: u32 = 16 * 1024;

/// A bound server, with its name for logs and errors.
pub(crate) struct Server {
    name: String,
    listener: TcpListener,
    certificate: Option<Certificate>,
    client_ca: Option<ClientCa>,
    http2: bool,
    limits: Limits,
    metrics: ConnectionMetrics,
}

impl Server {
    /// Asks clients for certificates of this CA. A client that has none is accepted, too; a request of one that has is
    /// [`Certified`](super::visit::Certified).
    pub(crate) fn with_client_ca(mut self, ca: Option<ClientCa>) -> Self {
        self.client_ca = ca;
        self
    }

    /// The certificate, if the server has one.
    pub(crate) fn certificate(&self) -> Option<Arc<Current>> {
        self.certificate.as_ref().map(Certificate::current)
    }

    /// Binds `address`; with a certificate, for TLS. HTTP/2 is enabled only with `http2`.
    ///
    /// # Errors
    /// If the address cannot be bound, for example because the port is in use.
    pub(crate) async fn bind(
        name: &str,
        address: SocketAddr,
        certificate: Option<Certificate>,
        http2: bool,
        limits: Limits,
        metrics: &Metrics,
    ) -> Result<Self, Error> {
        let listener = bind(address).await;
        let listener = listener.map_err(|error| Error::Listen(name.to_owned(), address, error))?;
        Ok(Self {
            name: name.to_owned(),
            listener,
            certificate,
            client_ca: None,
            http2,
            limits,
            metrics: metrics.connections(name),
        })
    }

    /// Like [`bind`](Self::bind), with an existing listener. Must be called inside a tokio runtime.
    #[cfg(feature = "envtest")]
    pub(crate) fn on(
        name: &str,
        listener: std::net::TcpListener,
        certificate: Option<Certificate>,
        http2: bool,
        limits: Limits,
        metrics: &Metrics,
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
            client_ca: None,
            http2,
            limits,
            metrics: metrics.connections(name),
        })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Serves until `stop`. Then each response says `Connection: close` for a while, and running requests finish: 5 s in all.
    ///
    /// # Errors
    /// If the server failed; it never ends by itself.
    pub(crate) async fn run(self, router: Router, stop: CancellationToken) -> io::Result<()> {
        let secure = self.certificate.is_some();
        tracing::info!(address = %self.listener.local_addr()?, secure, "serving {}", self.name);
        let (limits, handle) = (self.limits, Handle::new());
        let acceptor = Acceptor {
            first: limits.first,
            unread: limits.unread,
        };
        let mut server = axum_server::Server::from_listener(self.listener)
            .handle(handle.clone())
            .acceptor(acceptor);
        let http = server.http_builder();
        http.http1()
            .timer(TokioTimer::new())
            .max_buf_size(limits.buffer)
            .header_read_timeout(limits.idle);
        let window = u32::try_from(limits.buffer).ok();
        http.http2()
            .timer(TokioTimer::new())
            .keep_alive_interval(limits.idle)
            .max_concurrent_streams(STREAMS)
            .max_header_list_size(HEADERS)
            .max_send_buf_size(limits.buffer)
            .initial_stream_window_size(window)
            .initial_connection_window_size(window.map(|window| 2 * window));
        if !self.http2 {
            server = server.http1_only();
        }
        let router =
            router
                .layer(DefaultBodyLimit::max(BODY))
                .layer(from_fn(move |request, next| {
                    limit_time(limits.request, request, next)
                }));
        let places = Places::new(&self.name, limits.places(self.http2), self.metrics);
        let closes = CancellationToken::new();
        let (entered, parting, closed) = (places.clone(), stop.clone(), closes.clone());
        let connections = service_fn(move |_: SocketAddr| {
            let (places, router) = (entered.clone(), router.clone());
            let (parting, closed) = (parting.clone(), closed.clone());
            async move {
                let place = closed.run_until_cancelled_owned(places.enter()).await;
                let connection =
                    place.ok_or_else(|| io::Error::from(io::ErrorKind::ConnectionAborted))?;
                Ok::<_, io::Error>(Visit {
                    connection,
                    router,
                    certified: false,
                    parting,
                })
            }
        });
        let stopping = async {
            stop.cancelled().await;
            if !places.are_free() {
                sleep(limits.parting).await;
            }
            closes.cancel();
            handle.graceful_shutdown(Some(limits.grace));
            pending::<Infallible>().await
        };
        let serving = async {
            let Some(certificate) = self.certificate else {
                return server.serve(connections).await;
            };
            let config = tls(&certificate, self.client_ca.as_ref(), self.http2)?;
            let acceptor = RustlsAcceptor::new(config)
                .handshake_timeout(limits.first)
                .acceptor(acceptor);
            let client_ca = async {
                match self.client_ca {
                    Some(ca) => ca.watch().await,
                    None => pending().await,
                }
            };
            tokio::select! {
                result = server.acceptor(Certifying(acceptor)).serve(connections) => result,
                never = certificate.watch() => match never {},
                never = client_ca => match never {},
            }
        };
        tokio::select! {
            result = serving => result,
            never = stopping => match never {},
            never = places.log() => match never {},
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
fn tls(
    certificate: &Certificate,
    client_ca: Option<&ClientCa>,
    http2: bool,
) -> io::Result<RustlsConfig> {
    let protocols: &[&str] = if http2 {
        &["h2", "http/1.1"]
    } else {
        &["http/1.1"]
    };
    let config = ServerConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?;
    let config = match client_ca {
        Some(ca) => config.with_client_cert_verifier(ca.verifier()),
        None => config.with_no_client_auth(),
    };
    let mut config = config.with_cert_resolver(certificate.current());
    if client_ca.is_some() {
        // A resumed session would not verify the client again, by a CA that has changed.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
    }
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
