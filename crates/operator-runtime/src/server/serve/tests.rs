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

const LIMITS: Limits = Limits::WEBHOOKS;

/// A server on a port of its own, which answers `/`, answers `/slow` slowly and `/large` at length, and takes
/// bodies at `/`.
struct Running {
    port: u16,
    metrics: Metrics,
    stop: CancellationToken,
    task: JoinHandle<io::Result<()>>,
}

impl Running {
    async fn start(http2: bool) -> Self {
        Self::with_limits(http2, LIMITS).await
    }

    async fn with_limits(http2: bool, limits: Limits) -> Self {
        let any = "[::]:0".parse().unwrap();
        let metrics = Metrics::default();
        let server = Server::bind("test", any, None, http2, limits, &metrics);
        Self::serve(server.await.unwrap(), metrics)
    }

    fn serve(server: Server, metrics: Metrics) -> Self {
        let slow = || async {
            sleep(Duration::from_millis(300)).await;
            "slow"
        };
        let length = |body: Bytes| async move { body.len().to_string() };
        let router = Router::new()
            .route("/", get(|| async { "quick" }))
            .route("/slow", get(slow))
            .route("/large", get(|| async { vec![b'a'; 64 << 20] }))
            .route("/", post(length));
        let stop = CancellationToken::new();
        Self {
            port: server.listener.local_addr().unwrap().port(),
            metrics,
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

    /// Waits until the server has closed this many connections for a reason.
    async fn closed(&self, reason: &str, count: usize) {
        let labels = format!(r#"{{server="test",reason="{reason}"}}"#);
        let line = format!("server_connections_closed_total{labels} {count}\n");
        let begin = Instant::now();
        while !self.metrics.text().contains(&line) {
            let text = self.metrics.text();
            assert!(begin.elapsed() < PATIENCE, "not {line}: {text}");
            sleep(Duration::from_millis(5)).await;
        }
    }
}

/// A request on a connection that stays open, answered.
async fn ask_again(stream: &mut TcpStream) -> io::Result<String> {
    stream
        .write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
        .await?;
    let mut answer = [0; 1000];
    let mut length = 0;
    while !answer[..length].ends_with(b"quick") {
        let read = timeout(PATIENCE, stream.read(&mut answer[length..]));
        length += match read.await?? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => read,
        };
    }
    Ok(String::from_utf8_lossy(&answer[..length]).into_owned())
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
    let metrics = Metrics::default();
    let error = Server::bind("metrics", address, None, false, LIMITS, &metrics)
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

/// A client whose next request meets the close of an idle connection cannot know whether the server has read it.
#[tokio::test]
async fn clients_are_told_to_close_their_connections_before_the_server_does() {
    let server = Running::start(false).await;
    let mut kept = server.send("127.0.0.1", b"").await;
    let before = ask_again(&mut kept).await.unwrap();
    assert!(!before.contains("connection: close"), "{before}");
    server.stop.cancel();
    sleep(Duration::from_millis(100)).await;
    let mut new = server.send("127.0.0.1", b"").await;
    for stream in [&mut kept, &mut new] {
        let answer = ask_again(stream).await.unwrap();
        assert!(answer.contains("connection: close"), "{answer}");
        assert_eq!(rest(stream).await, "");
    }
    let task = timeout(PATIENCE, server.task).await;
    task.unwrap().unwrap().unwrap();
}

#[tokio::test]
async fn bodies_are_bounded() {
    let server = Running::start(false).await;
    let length = BODY + 1;
    let head = format!(
        "POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n"
    );
    let mut post = head.into_bytes();
    post.resize(post.len() + length, b'a');
    let answer = server.ask("127.0.0.1", &post).await;
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
}

#[tokio::test]
async fn headers_are_bounded() {
    let server = Running::start(false).await;
    let head = b"GET / HTTP/1.1\r\nhost: a\r\nx: ";
    let endless = [head, &*vec![b'a'; 400_000]].concat();
    let answer = server.ask("127.0.0.1", &endless).await;
    let status = answer.lines().next().unwrap_or_default();
    assert!(
        status.is_empty() || status.starts_with("HTTP/1.1 431"),
        "{status}"
    );
    let long = [head, &*vec![b'a'; 30_000], b"\r\nconnection: close\r\n\r\n"].concat();
    let answer = server.ask("127.0.0.1", &long).await;
    assert!(answer.ends_with("quick"), "{answer}");
}

/// A connection for each step in which a client may keep a place for itself.
const UNFINISHED: [&[u8]; 4] = [
    b"",
    b"G",
    b"GET / HTTP/1.1\r\nhost: a\r\nx: ",
    b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nhalf",
];

#[tokio::test]
async fn newcomers_take_the_places_of_those_that_wait_for_their_clients() {
    for unfinished in UNFINISHED {
        let limits = Limits {
            connections: 4,
            ..LIMITS
        };
        let server = Running::with_limits(false, limits).await;
        let mut held = Vec::new();
        for _ in 0..12 {
            held.push(server.send("127.0.0.1", unfinished).await);
        }
        server.closed("full", 8).await;
        for number in 0..20 {
            let answer = server.ask("127.0.0.1", GET).await;
            assert!(answer.ends_with("quick"), "{number}: {answer}");
        }
        // The oldest were closed first.
        for stream in &mut held[..8] {
            rest(stream).await;
        }
    }
}

#[tokio::test]
async fn running_requests_keep_their_places_and_newcomers_wait_for_one() {
    let limits = Limits {
        connections: 2,
        ..LIMITS
    };
    let server = Running::with_limits(false, limits).await;
    let slow = b"GET /slow HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";
    let all = (0..8).map(|_| server.ask("127.0.0.1", slow));
    for answer in futures::future::join_all(all).await {
        assert!(answer.ends_with("slow"), "{answer}");
    }
    let text = server.metrics.text();
    assert!(
        text.contains(r#"server_connections{server="test"} "#),
        "{text}"
    );
    assert!(
        text.contains(r#"{server="test",reason="full"} 0"#),
        "{text}"
    );
}

/// The connections that the API server keeps for its next reviews.
#[tokio::test]
async fn those_that_were_served_outlast_a_flood_of_strangers() {
    let limits = Limits {
        connections: 8,
        ..LIMITS
    };
    let server = Running::with_limits(false, limits).await;
    let mut kept = server.send("127.0.0.1", b"").await;
    ask_again(&mut kept).await.unwrap();
    let mut strangers = Vec::new();
    for _ in 0..50 {
        strangers.push(server.send("127.0.0.1", b"G").await);
    }
    server.closed("full", 43).await;
    ask_again(&mut kept).await.unwrap();
    // Not those that keep many.
    let mut many = Vec::new();
    for _ in 0..8 {
        let mut one = server.send("127.0.0.1", b"").await;
        ask_again(&mut one).await.unwrap();
        many.push(one);
    }
    for _ in 0..20 {
        let answer = server.ask("127.0.0.1", GET).await;
        assert!(answer.ends_with("quick"), "{answer}");
    }
}

#[tokio::test]
async fn handshakes_take_places() {
    let metrics = Metrics::default();
    let certificate = Certificate::self_signed().unwrap();
    let limits = Limits {
        connections: 4,
        ..LIMITS
    };
    let any = "127.0.0.1:0".parse().unwrap();
    let server = Server::bind("test", any, Some(certificate), false, limits, &metrics);
    let server = Running::serve(server.await.unwrap(), metrics);
    // The begin of a ClientHello of 16 KiB.
    let hello = b"\x16\x03\x01\x40\x00\x01\x00";
    let mut held = Vec::new();
    for _ in 0..12 {
        held.push(server.send("127.0.0.1", hello).await);
    }
    server.closed("full", 8).await;
    let limits = Limits {
        first: Duration::from_millis(100),
        ..limits
    };
    let metrics = Metrics::default();
    let certificate = Certificate::self_signed().unwrap();
    let server = Server::bind("test", any, Some(certificate), true, limits, &metrics);
    let server = Running::serve(server.await.unwrap(), metrics);
    assert_eq!(server.ask("127.0.0.1", hello).await, "");
}

#[tokio::test]
async fn the_first_request_is_awaited_for_a_shorter_time_than_the_next() {
    let limits = Limits {
        first: Duration::from_millis(100),
        ..LIMITS
    };
    for http2 in [false, true] {
        let server = Running::with_limits(http2, limits).await;
        let mut kept = server.send("127.0.0.1", b"").await;
        ask_again(&mut kept).await.unwrap();
        // One byte of either protocol.
        assert_eq!(server.ask("127.0.0.1", b"P").await, "");
        server.closed("late", 1).await;
        sleep(Duration::from_millis(150)).await;
        ask_again(&mut kept).await.unwrap();
    }
    let server = Running::with_limits(true, limits).await;
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    server.ask("127.0.0.1", preface).await;
    server.closed("late", 1).await;
}

#[tokio::test]
async fn clients_that_do_not_read_are_given_up() {
    let limits = Limits {
        unread: Duration::from_millis(100),
        ..LIMITS
    };
    let server = Running::with_limits(false, limits).await;
    let large = b"GET /large HTTP/1.1\r\nhost: a\r\n\r\n";
    let unread = server.send("127.0.0.1", large).await;
    server.closed("unread", 1).await;
    drop(unread);
    // One that waits for its place does not have to wait as long.
    let limits = Limits {
        connections: 1,
        ..LIMITS
    };
    let server = Running::with_limits(false, limits).await;
    let _unread = server.send("127.0.0.1", large).await;
    sleep(Duration::from_millis(50)).await;
    let answer = server.ask("127.0.0.1", GET).await;
    assert!(answer.ends_with("quick"), "{answer}");
}

#[tokio::test]
async fn time_is_bounded() {
    let limits = Limits {
        first: Duration::from_millis(200),
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
        parting: Duration::ZERO,
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
