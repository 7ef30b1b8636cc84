//! Counts what a replica gets from the API server.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use anyhow::Result;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

pub struct Proxy {
    pub port: u16,
    received: Arc<AtomicU64>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Proxy {
    pub async fn start(server: String) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let port = listener.local_addr()?.port();
        let received = Arc::new(AtomicU64::new(0));
        let count = received.clone();
        let task = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(pass(client, server.clone(), count.clone()));
            }
        });
        Ok(Self {
            port,
            received,
            task,
        })
    }

    /// The bytes that the API server has sent so far, encrypted.
    pub fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }
}

async fn pass(client: TcpStream, server: String, count: Arc<AtomicU64>) -> Result<()> {
    let server = TcpStream::connect(server).await?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let up = tokio::io::copy(&mut from_client, &mut to_server);
    let down = async {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let length = from_server.read(&mut buffer).await?;
            if length == 0 {
                return anyhow::Ok(());
            }
            count.fetch_add(length as u64, Ordering::Relaxed);
            to_client.write_all(&buffer[..length]).await?;
        }
    };
    tokio::select! {
        result = up => result.map(drop).map_err(Into::into),
        result = down => result,
    }
}
