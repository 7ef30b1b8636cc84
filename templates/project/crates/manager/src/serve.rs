//! How every server of the manager listens, talks and stops.

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
    name: String,
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
            connections: CONNECTIONS,
        })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
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

#[cfg(test)]
mod tests {
    use axum::{
        body::Bytes,
        routing::{get, post},
    };
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::TcpStream,
        task::JoinHandle,
        time::{Instant, sleep},
    };

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(10);

    /// A server on a port of its own, which answers `/`, slowly `/slow`, and bodies of `/`.
    struct Running {
        port: u16,
        stop: CancellationToken,
        task: JoinHandle<io::Result<()>>,
    }

    impl Running {
        async fn start(http2: bool, connections: usize) -> Self {
            let any = "[::]:0".parse().unwrap();
            let server = Server::bind("test", any, None, http2).await.unwrap();
            let server = Server {
                connections,
                ..server
            };
            let slow = || async {
                sleep(Duration::from_millis(300)).await;
                "slow"
            };
            let length = |body: Bytes| async move { body.len().to_string() };
            let router = Router::new()
                .route("/", get(|| async { "quick" }))
                .route("/slow", get(slow))
                .route("/", post(length));
            let stop = CancellationToken::new();
            Self {
                port: server.listener.local_addr().unwrap().port(),
                stop: stop.clone(),
                task: tokio::spawn(server.run(router, stop)),
            }
        }

        async fn send(&self, host: &str, request: &[u8]) -> TcpStream {
            let mut stream = TcpStream::connect((host, self.port)).await.unwrap();
            // The server may have closed it.
            _ = stream.write_all(request).await;
            stream
        }

        /// What the server says until it closes the connection.
        async fn ask(&self, host: &str, request: &[u8]) -> String {
            rest(&mut self.send(host, request).await).await
        }
    }

    async fn rest(stream: &mut TcpStream) -> String {
        let mut answer = Vec::new();
        // An error is a connection that was reset.
        _ = timeout(PATIENCE, stream.read_to_end(&mut answer))
            .await
            .unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }

    const GET: &[u8] = b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";

    #[tokio::test]
    async fn all_interfaces_are_those_of_both_families() {
        let server = Running::start(false, 10).await;
        for host in ["127.0.0.1", "::1"] {
            let answer = server.ask(host, GET).await;
            assert!(
                answer.starts_with("HTTP/1.1 200") && answer.ends_with("quick"),
                "{answer}"
            );
        }
    }

    #[tokio::test]
    async fn a_port_in_use_is_said_in_one_line() {
        let server = Running::start(false, 10).await;
        let address = SocketAddr::from(([0, 0, 0, 0, 0, 0, 0, 0], server.port));
        let error = Server::bind("metrics", address, None, false)
            .await
            .err()
            .unwrap()
            .to_string();
        let expected = format!(
            "cannot listen on [::]:{} for metrics: Address already in use",
            server.port
        );
        assert!(
            error.starts_with(&expected) && !error.contains('\n'),
            "{error}"
        );
    }

    #[tokio::test]
    async fn http2_is_spoken_only_if_allowed() {
        let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
        let server = Running::start(false, 10).await;
        let answer = server.ask("127.0.0.1", preface).await;
        assert!(
            answer.is_empty() || answer.starts_with("HTTP/1.1 400"),
            "{answer:?}"
        );
        let server = Running::start(true, 10).await;
        let mut frame = [0; 9];
        let mut stream = server.send("127.0.0.1", preface).await;
        timeout(PATIENCE, stream.read_exact(&mut frame))
            .await
            .unwrap()
            .unwrap();
        assert_eq!(frame[3], 4, "the first frame is no SETTINGS");
        let answer = server.ask("127.0.0.1", GET).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }

    #[tokio::test]
    async fn what_runs_may_finish_and_idle_connections_are_closed() {
        let server = Running::start(false, 10).await;
        let mut idle = server
            .send("127.0.0.1", b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
            .await;
        let mut slow = server
            .send("127.0.0.1", b"GET /slow HTTP/1.1\r\nhost: a\r\n\r\n")
            .await;
        sleep(Duration::from_millis(100)).await;
        let begin = Instant::now();
        server.stop.cancel();
        timeout(PATIENCE, server.task)
            .await
            .unwrap()
            .unwrap()
            .unwrap();
        assert!(begin.elapsed() < GRACE / 2, "{:?}", begin.elapsed());
        assert!(rest(&mut idle).await.ends_with("quick"));
        assert!(rest(&mut slow).await.ends_with("slow"));
        assert!(
            TcpStream::connect(("127.0.0.1", server.port))
                .await
                .is_err()
        );
    }

    #[tokio::test]
    async fn connections_and_bodies_are_bounded() {
        let server = Running::start(false, 1).await;
        let mut first = server
            .send("127.0.0.1", b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
            .await;
        let mut byte = [0];
        timeout(PATIENCE, first.read_exact(&mut byte))
            .await
            .unwrap()
            .unwrap();
        assert_eq!(server.ask("127.0.0.1", GET).await, "");
        drop(first);
        let length = BODY + 1;
        let head = format!(
            "POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n"
        );
        let mut post = head.into_bytes();
        post.resize(post.len() + length, b'a');
        let begin = Instant::now();
        let answer = loop {
            // The server takes a moment to see that the first is gone.
            let answer = server.ask("127.0.0.1", &post).await;
            if !answer.is_empty() || begin.elapsed() > PATIENCE {
                break answer;
            }
        };
        assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
    }
}
