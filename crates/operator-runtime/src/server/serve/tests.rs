//! Tests of a server through its clients.

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

/// A server on a port of its own, which answers `/`, answers `/slow` slowly, and takes bodies at `/`.
struct Running {
    port: u16,
    stop: CancellationToken,
    task: JoinHandle<io::Result<()>>,
}

impl Running {
    async fn start(http2: bool) -> Self {
        Self::with_limits(http2, LIMITS).await
    }

    async fn with_limits(http2: bool, limits: Limits) -> Self {
        let any = "[::]:0".parse().unwrap();
        let server = Server::bind("test", any, None, http2).await.unwrap();
        let server = Server { limits, ..server };
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

    /// The server's output until it closes the connection.
    async fn ask(&self, host: &str, request: &[u8]) -> String {
        rest(&mut self.send(host, request).await).await
    }
}

async fn rest(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    // An error means that the connection was reset.
    _ = timeout(PATIENCE, stream.read_to_end(&mut answer))
        .await
        .unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

const GET: &[u8] = b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";

#[tokio::test]
async fn all_interfaces_are_those_of_both_families() {
    let server = Running::start(false).await;
    for host in ["127.0.0.1", "::1"] {
        let answer = server.ask(host, GET).await;
        assert!(
            answer.starts_with("HTTP/1.1 200") && answer.ends_with("quick"),
            "{answer}"
        );
    }
}

#[tokio::test]
async fn a_port_in_use_is_reported_in_one_line() {
    let server = Running::start(false).await;
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
    let server = Running::start(false).await;
    let answer = server.ask("127.0.0.1", preface).await;
    assert!(
        answer.is_empty() || answer.starts_with("HTTP/1.1 400"),
        "{answer:?}"
    );
    let server = Running::start(true).await;
    let mut frame = [0; 9];
    let mut stream = server.send("127.0.0.1", preface).await;
    timeout(PATIENCE, stream.read_exact(&mut frame))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(frame[3], 4, "the first frame is no OPTIONS");
    let answer = server.ask("127.0.0.1", GET).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[tokio::test]
async fn running_requests_finish_and_idle_connections_are_closed() {
    let server = Running::start(false).await;
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
    assert!(begin.elapsed() < LIMITS.grace / 2, "{:?}", begin.elapsed());
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
    let limits = Limits {
        connections: 1,
        ..LIMITS
    };
    let server = Running::with_limits(false, limits).await;
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
        // The server takes a moment to notice the first client's end.
        let answer = server.ask("127.0.0.1", &post).await;
        if !answer.is_empty() || begin.elapsed() > PATIENCE {
            break answer;
        }
    };
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
}

#[tokio::test]
async fn time_is_bounded() {
    let limits = Limits {
        headers: Duration::from_millis(200),
        request: Duration::from_millis(100),
        grace: Duration::from_millis(50),
        ..LIMITS
    };
    let server = Running::with_limits(false, limits).await;
    let cases: [(&[u8], &str); 4] = [
        // No headers, half of them, half a body, and a response that takes too long.
        (b"", ""),
        (b"GET / HTTP/1.1\r\nhost:", ""),
        (
            b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nhalf",
            "HTTP/1.1 503",
        ),
        (
            b"GET /slow HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n",
            "HTTP/1.1 503",
        ),
    ];
    for (request, expected) in cases {
        let answer = server.ask("127.0.0.1", request).await;
        let status = answer.lines().next().unwrap_or_default();
        assert!(status.starts_with(expected), "{status}");
        assert_eq!(status.is_empty(), expected.is_empty(), "{status}");
    }
    let limits = Limits {
        grace: Duration::from_millis(50),
        ..LIMITS
    };
    let server = Running::with_limits(false, limits).await;
    let mut slow = server
        .send("127.0.0.1", b"GET /slow HTTP/1.1\r\nhost: a\r\n\r\n")
        .await;
    sleep(Duration::from_millis(20)).await;
    server.stop.cancel();
    timeout(PATIENCE, server.task)
        .await
        .unwrap()
        .unwrap()
        .unwrap();
    assert_eq!(rest(&mut slow).await, "");
}
