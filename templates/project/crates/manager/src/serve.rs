//! How every server of the manager listens, talks and stops.

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
use axum_server::{Handle, tls_rustls::RustlsAcceptor};
use hyper_util::rt::TokioTimer;
use tokio::{net::TcpListener, sync::Semaphore, time::timeout};
use tokio_util::sync::CancellationToken;
use tower::{ServiceExt, service_fn};

use crate::{certificate::Certificate, manager::Error};

/// Connections at once. What comes above is closed, so that nobody uses up memory or descriptors.
const CONNECTIONS: usize = 1024;

/// How long a connection may wait for the next request, or send its headers. Longer than the 90 s
/// after which clients written in Go (the API server, Prometheus) drop one that is idle: if the
/// server were first, it could be in the middle of their next request.
const HEADERS: Duration = Duration::from_secs(100);

/// How long a request may take, body and answer; no webhook may take longer than 30 s either.
const REQUEST: Duration = Duration::from_secs(30);

/// Bytes of a body, unless a route says otherwise. The API server sends an object twice for an
/// update, each up to the 3 MiB that it takes itself.
const BODY: usize = 7 * 1024 * 1024;

/// How long requests may take to finish after a stop.
const GRACE: Duration = Duration::from_secs(5);

/// A server that listens, with the name that logs and errors give it.
pub(crate) struct Server {
    name: &'static str,
    listener: TcpListener,
    certificate: Option<Certificate>,
    http2: bool,
    connections: usize,
}

impl Server {
    /// Listens on `address`; with a certificate, for TLS. HTTP/2 is spoken only if `http2`.
    ///
    /// # Errors
    /// If the address cannot be had, such as a port in use.
    pub(crate) async fn bind(
        name: &'static str,
        address: SocketAddr,
        certificate: Option<Certificate>,
        http2: bool,
    ) -> Result<Self, Error> {
        let listener = bind(address).await;
        let listener = listener.map_err(|error| Error::Listen(name, address, error))?;
        Ok(Self {
            name,
            listener,
            certificate,
            http2,
            connections: CONNECTIONS,
        })
    }

    /// Serves until `stop`, and then until the requests that run have ended, for up to 5 s.
    ///
    /// # Errors
    /// If the server failed; it never ends by itself.
    pub(crate) async fn run(self, router: Router, stop: CancellationToken) -> io::Result<()> {
        let secure = self.certificate.is_some();
        tracing::info!(address = %self.listener.local_addr()?, secure, "serving {}", self.name);
        let handle = Handle::new();
        let mut server = axum_server::Server::from_listener(self.listener).handle(handle.clone());
        let http = server.http_builder();
        http.http1()
            .timer(TokioTimer::new())
            .header_read_timeout(HEADERS);
        http.http2()
            .timer(TokioTimer::new())
            .keep_alive_interval(HEADERS);
        if !self.http2 {
            server = server.http1_only();
        }
        let router = router
            .layer(DefaultBodyLimit::max(BODY))
            .layer(from_fn(limit_time));
        let slots = Arc::new(Semaphore::new(self.connections));
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
            handle.graceful_shutdown(Some(GRACE));
            pending::<Infallible>().await
        };
        let serving = async {
            let Some(certificate) = self.certificate else {
                return server.serve(connections).await;
            };
            let acceptor = RustlsAcceptor::new(certificate.config());
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

/// Listens on `address`; all interfaces means those of IPv4 where there is no IPv6.
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

async fn limit_time(request: Request, next: Next) -> Response {
    match timeout(REQUEST, next.run(request)).await {
        Ok(response) => response,
        Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}
