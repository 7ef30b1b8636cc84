//! An operator in a network with an HTTP proxy.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

use anyhow::{Context, Result, ensure};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, copy_bidirectional},
    net::{TcpListener, TcpStream},
};

use super::{
    operator::Process,
    site::{Site, cluster, is_ready},
    table::row,
    until,
};

/// Starts a proxy; returns its port, and the number of tunnels so far.
async fn proxy() -> Result<(u16, Arc<AtomicUsize>)> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let port = listener.local_addr()?.port();
    let tunnels = Arc::new(AtomicUsize::new(0));
    let count = tunnels.clone();
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            tokio::spawn(tunnel(client, count.clone()));
        }
    });
    Ok((port, tunnels))
}

/// A tunnel to the server that the client names (RFC 9110, 9.3.6).
async fn tunnel(client: TcpStream, count: Arc<AtomicUsize>) -> Result<()> {
    let mut client = BufReader::new(client);
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        ensure!(client.read_until(b'\n', &mut head).await? > 0, "no request");
    }
    let head = String::from_utf8(head)?;
    let server = head.strip_prefix("CONNECT ").context("another method")?;
    let server = server.split(' ').next().unwrap_or_default();
    let mut server = TcpStream::connect(server).await?;
    client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await?;
    count.fetch_add(1, Ordering::Relaxed);
    copy_bidirectional(&mut client, &mut server).await?;
    Ok(())
}

#[tokio::test]
async fn a_proxy_is_used_as_the_environment_says() -> Result<()> {
    let (site, begin) = (Site::new("proxy").await?, Instant::now());
    let kubeconfig = cluster()?.control_plane().kubeconfig();
    let (port, tunnels) = proxy().await?;
    let proxy = format!("http://127.0.0.1:{port}");
    for (name, exempt) in [("through", "example.com"), ("past", "localhost,127.0.0.1")] {
        let before = tunnels.load(Ordering::Relaxed);
        let environment = [("HTTPS_PROXY", &*proxy), ("NO_PROXY", exempt)];
        let process = Process::start_with(&kubeconfig, &["--watch-namespace=proxy"], &environment)?;
        site.create(name, 1).await?;
        until("the widget is ready", 30, async || {
            Ok(is_ready(&site.widgets().get(name).await?))
        })
        .await?;
        let through = tunnels.load(Ordering::Relaxed) > before;
        ensure!(through == (name == "through"), "{name}");
        drop(process);
    }
    let happened = "works through the proxy, and past it where `NO_PROXY` names the API server";
    row("`HTTPS_PROXY` is set", happened, begin.elapsed());
    Ok(())
}
