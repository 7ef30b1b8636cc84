//! The attacks. None needs a credential. Each client opens one connection at a time, and opens the next one a second after the
//! server has closed it.

use std::{io, time::Duration};

use http::Request;
use serde_json::json;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::TcpStream,
    time::{sleep, timeout},
};

use crate::{client::tls, site::Target};

pub struct Attack {
    pub name: &'static str,
    /// How many connections are open at once.
    pub clients: usize,
    pub http2: bool,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    Rest,
    /// A body of 3.7 MB is announced, and so many bytes of it are sent; then a byte twice a second, or none.
    Body {
        sent: usize,
        drip: bool,
    },
    /// Headers that do not end.
    Headers(Port),
    /// A byte, and no more.
    Byte(Port),
    /// The begin of a TLS handshake.
    Handshake,
    /// HTTP/2 streams that are reset at once, or never.
    Streams {
        reset: bool,
    },
    /// Reviews whose long responses are not read.
    Unread,
    /// Requests with tokens that nobody issued.
    Tokens,
}

#[derive(Clone, Copy)]
enum Port {
    Webhooks,
    Probes,
    Metrics,
}

const fn attack(name: &'static str, clients: usize, kind: Kind) -> Attack {
    let http2 = matches!(kind, Kind::Streams { .. });
    Attack {
        name,
        clients,
        http2,
        kind,
    }
}

pub static ATTACKS: [Attack; 15] = [
    attack("none", 0, Kind::Rest),
    attack(
        "an idle client that announces 3.7 MB",
        1,
        Kind::Body {
            sent: 0,
            drip: false,
        },
    ),
    attack(
        "200 idle clients that announce 3.7 MB",
        200,
        Kind::Body {
            sent: 0,
            drip: false,
        },
    ),
    attack(
        "100 clients that send half of 3.7 MB",
        100,
        Kind::Body {
            sent: 1_850_000,
            drip: false,
        },
    ),
    attack(
        "100 clients that drip after 60 KB",
        100,
        Kind::Body {
            sent: 60_000,
            drip: true,
        },
    ),
    attack(
        "1,000 probes, 400 KB of headers each",
        1000,
        Kind::Headers(Port::Probes),
    ),
    attack(
        "500 readers of metrics, 400 KB of headers each",
        500,
        Kind::Headers(Port::Metrics),
    ),
    attack(
        "500 on webhooks, 400 KB of headers each",
        500,
        Kind::Headers(Port::Webhooks),
    ),
    attack(
        "1,024 on webhooks with one byte",
        1024,
        Kind::Byte(Port::Webhooks),
    ),
    attack("1,024 probes with one byte", 1024, Kind::Byte(Port::Probes)),
    attack("1,000 unfinished TLS handshakes", 1000, Kind::Handshake),
    attack(
        "50 connections that reset HTTP/2 streams",
        50,
        Kind::Streams { reset: true },
    ),
    attack(
        "200 connections with idle HTTP/2 streams",
        200,
        Kind::Streams { reset: false },
    ),
    attack("50 slow readers of 3 MB", 50, Kind::Unread),
    attack(
        "200 readers of metrics with guessed tokens",
        200,
        Kind::Tokens,
    ),
];

/// The path of the example's validating webhook.
const PATH: &str = "/validate-cache-example-com-v1-cache";

/// Attacks until the runtime ends.
pub async fn again(attack: &'static Attack, number: usize, target: Target) {
    // Not all in the same moment.
    sleep(Duration::from_millis(number as u64)).await;
    loop {
        _ = once(attack.kind, number, &target).await;
        sleep(Duration::from_secs(1)).await;
    }
}

/// One connection, until the server closes it.
async fn once(kind: Kind, number: usize, target: &Target) -> io::Result<()> {
    match kind {
        Kind::Rest => Ok(()),
        Kind::Body { sent, drip } => {
            let mut stream = tls(target.webhooks, "http/1.1").await?;
            stream.write_all(&head(PATH, 3_700_000)).await?;
            stream.write_all(&vec![b'a'; sent]).await?;
            stream.flush().await?;
            if !drip {
                return end(stream).await;
            }
            loop {
                sleep(Duration::from_millis(500)).await;
                stream.write_all(b"a").await?;
                stream.flush().await?;
            }
        }
        Kind::Headers(port) => {
            let mut head = b"GET /metrics HTTP/1.1\r\nhost: a\r\nx: ".to_vec();
            head.resize(400_000, b'a');
            match port {
                Port::Probes => send(TcpStream::connect(target.probes).await?, &head).await,
                Port::Metrics => send(tls(target.metrics, "http/1.1").await?, &head).await,
                Port::Webhooks => send(tls(target.webhooks, "http/1.1").await?, &head).await,
            }
        }
        Kind::Byte(port) => {
            let address = match port {
                Port::Probes => target.probes,
                Port::Metrics => target.metrics,
                Port::Webhooks => target.webhooks,
            };
            send(TcpStream::connect(address).await?, b"G").await
        }
        Kind::Handshake => {
            // A record of 16 KiB with the begin of a ClientHello of 60 KB.
            let mut hello = b"\x16\x03\x01\x40\x00\x01\x00\xea\x60".to_vec();
            hello.resize(16_000, 0);
            send(TcpStream::connect(target.webhooks).await?, &hello).await
        }
        Kind::Streams { reset } => streams(target, reset).await,
        Kind::Unread => {
            let mut stream = tls(target.webhooks, "http/1.1").await?;
            let review = conversion();
            stream.write_all(&head("/convert", review.len())).await?;
            stream.write_all(review.as_bytes()).await?;
            stream.flush().await?;
            // The kernel and TLS take the begin of the response; the connection stays open.
            sleep(Duration::from_secs(3600)).await;
            end(stream).await
        }
        Kind::Tokens => {
            let mut stream = tls(target.metrics, "http/1.1").await?;
            let mut buffer = vec![0; 4096];
            for guess in 0_u64.. {
                let request = format!(
                    "GET /metrics HTTP/1.1\r\nhost: a\r\nauthorization: Bearer guess-{number}-{guess}\r\n\r\n"
                );
                stream.write_all(request.as_bytes()).await?;
                if stream.read(&mut buffer).await? == 0 {
                    break;
                }
                sleep(Duration::from_millis(100)).await;
            }
            Ok(())
        }
    }
}

fn head(path: &str, length: usize) -> Vec<u8> {
    format!(
        "POST {path} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    )
    .into_bytes()
}

/// Sends bytes, and waits for the end.
async fn send(mut stream: impl AsyncRead + AsyncWrite + Unpin, bytes: &[u8]) -> io::Result<()> {
    stream.write_all(bytes).await?;
    stream.flush().await?;
    end(stream).await
}

async fn end(mut stream: impl AsyncRead + Unpin) -> io::Result<()> {
    let mut buffer = [0; 4096];
    while stream.read(&mut buffer).await? > 0 {}
    Ok(())
}

/// Reviews over HTTP/2, of which nothing but the headers is sent.
async fn streams(target: &Target, reset: bool) -> io::Result<()> {
    let tls = tls(target.webhooks, "h2").await?;
    let (mut client, connection) = h2::client::handshake(tls).await.map_err(io::Error::other)?;
    let connection = tokio::spawn(connection);
    let mut open = Vec::new();
    while !connection.is_finished() {
        for _ in 0..16 {
            let ready = timeout(Duration::from_millis(100), client.clone().ready()).await;
            let Ok(Ok(ready)) = ready else { break };
            client = ready;
            let request = Request::post(format!("https://localhost{PATH}"))
                .header("content-type", "application/json")
                .header("x", "a".repeat(8000))
                .body(())
                .map_err(io::Error::other)?;
            let Ok((response, mut stream)) = client.send_request(request, false) else {
                break;
            };
            match reset {
                true => stream.send_reset(h2::Reason::CANCEL),
                false => open.push((response, stream)),
            }
        }
        sleep(Duration::from_millis(20)).await;
        if open.len() > 16 {
            open.drain(..open.len() - 16);
        }
    }
    Ok(())
}

/// A review with an object of 3 MB, whose response is as long.
fn conversion() -> String {
    let object = json!({
        "apiVersion": "cache.example.com/v1alpha1",
        "kind": "Cache",
        "metadata": {"name": "a", "namespace": "default", "uid": "u", "annotations": {"a": "a".repeat(3_000_000)}},
        "spec": {"size": 1},
    });
    let review = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "ConversionReview",
        "request": {"uid": "u", "desiredAPIVersion": "cache.example.com/v1", "objects": [object]},
    });
    review.to_string()
}
