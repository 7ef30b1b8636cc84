//! A TCP connection between an operator and the API server that can be cut, or go silent.

use std::{
    fs,
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use anyhow::{Context as _, Result};
use operator_runtime::envtest::ControlPlane;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    time::sleep,
};
use tokio_util::sync::CancellationToken;

/// The shared state of the current connections.
#[derive(Clone, Default)]
struct Connections {
    cut: CancellationToken,
    silent: Arc<AtomicBool>,
}

#[derive(Clone)]
pub struct Link {
    port: u16,
    open: Arc<AtomicBool>,
    accepted: Arc<AtomicUsize>,
    now: Arc<Mutex<Connections>>,
}

impl Link {
    /// Forwards to a port of this machine, on the runtime of the caller.
    pub async fn to(port: u16) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let link = Self {
            port: listener.local_addr()?.port(),
            open: Arc::new(AtomicBool::new(true)),
            accepted: Arc::default(),
            now: Arc::default(),
        };
        let forwarder = link.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                forwarder.accepted.fetch_add(1, Ordering::Relaxed);
                if forwarder.open.load(Ordering::Relaxed) {
                    let connections = forwarder.now.lock().unwrap().clone();
                    tokio::spawn(forward(stream, port, connections));
                }
            }
        });
        Ok(link)
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Forwards to the API server itself, with TLS; also returns an administrator's kubeconfig with the
    /// address of the link.
    pub async fn to_api_server(
        name: &str,
        control_plane: &ControlPlane,
    ) -> Result<(Self, PathBuf)> {
        let url = control_plane.url();
        let (_, port) = url.rsplit_once(':').context("no port")?;
        let link = Self::to(port.parse()?).await?;
        let text = fs::read_to_string(control_plane.kubeconfig())?;
        let own = format!("https://127.0.0.1:{}", link.port);
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.kubeconfig"));
        fs::write(&path, text.replace(&url, &own))?;
        Ok((link, path))
    }

    /// The number of connections so far.
    pub fn accepted(&self) -> usize {
        self.accepted.load(Ordering::Relaxed)
    }

    /// Closes every connection, and new ones until [`restore`](Self::restore).
    pub fn cut(&self) {
        self.open.store(false, Ordering::Relaxed);
        std::mem::take(&mut *self.now.lock().unwrap()).cut.cancel();
    }

    pub fn restore(&self) {
        self.open.store(true, Ordering::Relaxed);
    }

    /// Forwards nothing in the open connections, and closes none of them.
    pub fn silence(&self) {
        let before = std::mem::take(&mut *self.now.lock().unwrap());
        before.silent.store(true, Ordering::Relaxed);
    }
}

async fn forward(near: TcpStream, port: u16, connections: Connections) {
    let Ok(far) = TcpStream::connect(("127.0.0.1", port)).await else {
        return;
    };
    let (near_read, near_write) = near.into_split();
    let (far_read, far_write) = far.into_split();
    tokio::select! {
        () = copy(near_read, far_write, &connections.silent) => {}
        () = copy(far_read, near_write, &connections.silent) => {}
        () = connections.cut.cancelled() => {}
    }
}

async fn copy(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, silent: &AtomicBool) {
    let mut buffer = [0; 16 * 1024];
    loop {
        let read = from.read(&mut buffer).await;
        if silent.load(Ordering::Relaxed) {
            if matches!(read, Ok(1..)) {
                continue;
            }
            // The end is not forwarded either.
            sleep(Duration::from_secs(3600)).await;
        }
        match read {
            Ok(length @ 1..) if to.write_all(&buffer[..length]).await.is_ok() => {}
            _ => return,
        }
    }
}
