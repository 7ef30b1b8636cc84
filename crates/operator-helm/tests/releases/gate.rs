//! An operator that can be killed before any of its writes.

use std::{
    collections::BTreeSet,
    fs,
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
};

use anyhow::{Context as _, Result};
use axum::{Router, body::to_bytes, extract::Request, response::Response};
use clap::Parser;
use kube::{Client, client::Body};
use operator_runtime::{CancellationToken, Controllers, Flags, Manager, ManagerOptions};
use serde_json::json;
use tempfile::TempDir;
use tokio::{net::TcpListener, runtime::Builder};

/// Stands between an operator and the API server, and lets only some writes through.
#[derive(Clone)]
pub struct Gate {
    client: Client,
    /// How many more writes pass.
    left: Arc<AtomicUsize>,
    /// Cancelled when a write was held back.
    pub closed: CancellationToken,
    /// The requests that the API server refused with 403.
    pub refused: Arc<Mutex<BTreeSet<String>>>,
}

impl Gate {
    /// Lets every write through, with the identity of this client.
    pub fn open(client: Client) -> Self {
        Self {
            client,
            left: Arc::new(AtomicUsize::new(usize::MAX)),
            closed: CancellationToken::new(),
            refused: Arc::default(),
        }
    }

    /// Lets only so many writes through.
    pub fn narrow(&self, writes: usize) -> Self {
        Self {
            left: Arc::new(AtomicUsize::new(writes)),
            closed: CancellationToken::new(),
            ..self.clone()
        }
    }

    async fn pass(self, request: Request) -> Result<Response> {
        let path = request.uri().path();
        let is_write = !request.method().is_safe() && !path.ends_with("/events");
        let take = |left: usize| left.checked_sub(1);
        let (all, order) = (&self.left, Ordering::SeqCst);
        if self.closed.is_cancelled() || (is_write && all.fetch_update(order, order, take).is_err())
        {
            self.closed.cancel();
            return std::future::pending().await;
        }
        let what = format!("{} {}", request.method(), request.uri());
        let (head, body) = request.into_parts();
        let body = to_bytes(body, usize::MAX).await?;
        let mut forwarded = http::Request::from_parts(head, Body::from(body.to_vec()));
        *forwarded.uri_mut() = forwarded
            .uri()
            .path_and_query()
            .context("no path")?
            .as_str()
            .parse()?;
        forwarded.headers_mut().remove("host");
        let answer = self.client.send(forwarded).await?;
        if answer.status() == http::StatusCode::FORBIDDEN {
            self.refused.lock().unwrap().insert(what);
        }
        Ok(answer.map(axum::body::Body::new))
    }

    /// Serves until the runtime ends, and returns the address.
    async fn serve(self) -> Result<String> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let answer = move |request: Request| async move {
            let passed = self.clone().pass(request).await;
            passed.unwrap_or_else(|error| {
                let mut failed = Response::new(error.to_string().into());
                *failed.status_mut() = http::StatusCode::BAD_GATEWAY;
                failed
            })
        };
        let router = Router::new().fallback(answer);
        tokio::spawn(async move { axum::serve(listener, router).await });
        Ok(format!("http://{address}"))
    }

    /// Starts an operator that talks to the API server through this gate. What `make` returns are its controllers, and the function
    /// that makes their context.
    pub async fn operator<C, F>(
        &self,
        options: &'static ManagerOptions,
        make: impl FnOnce() -> (Controllers<C>, F) + Send + 'static,
    ) -> Result<Killed>
    where
        C: Send + Sync + 'static,
        F: FnOnce(&Manager) -> C,
    {
        let directory = tempfile::tempdir()?;
        let kubeconfig = kubeconfig(&directory, &self.clone().serve().await?)?;
        let end = CancellationToken::new();
        let ends = end.clone();
        let thread = thread::spawn(move || {
            let runtime = Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(async {
                let kubeconfig = kubeconfig.display().to_string();
                let flags = Flags::try_parse_from([
                    "operator",
                    "--health-probe-bind-address=0",
                    "--metrics-bind-address=0",
                    "--leader-elect=false",
                    "--kubeconfig",
                    &kubeconfig,
                ])?;
                let manager = Manager::without_logs(options, flags).await?;
                let (controllers, context) = make();
                let context = Arc::new(context(&manager));
                let run = manager.controllers(controllers, context).run();
                ends.run_until_cancelled(run).await.unwrap_or(Ok(()))?;
                Ok(())
            })
        });
        Ok(Killed {
            end,
            thread: Some(thread),
            _directory: directory,
        })
    }
}

/// An operator on a thread of its own, which ends at once when this is dropped.
pub struct Killed {
    end: CancellationToken,
    thread: Option<JoinHandle<Result<()>>>,
    _directory: TempDir,
}

impl Drop for Killed {
    fn drop(&mut self) {
        self.end.cancel();
        if let Some(thread) = self.thread.take() {
            // Its error does not matter: the test looks at the cluster.
            let _ = thread.join();
        }
    }
}

fn kubeconfig(directory: &TempDir, server: &str) -> Result<PathBuf> {
    let config = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "gate",
        "clusters": [{ "name": "gate", "cluster": { "server": server } }],
        "users": [{ "name": "gate", "user": {} }],
        "contexts": [{ "name": "gate", "context": { "cluster": "gate", "user": "gate" } }],
    });
    let path = directory.path().join("kubeconfig");
    fs::write(&path, config.to_string())?;
    Ok(path)
}
