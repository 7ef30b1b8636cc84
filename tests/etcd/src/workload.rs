//! Clients of the cluster, which write increasing numbers to one key and read them back.

use std::{
    fs,
    path::Path,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use base64::{Engine, prelude::BASE64_STANDARD};
use reqwest::{Certificate, Client, Identity};
use serde_json::{Value, json};
use tokio::{task::JoinHandle, time::sleep};

use crate::history::{self, Kind, Operation, Violation};

/// How long a client waits for an answer.
const TIMEOUT: Duration = Duration::from_secs(3);

/// How long a client rests between two operations.
const PAUSE: Duration = Duration::from_millis(5);

/// The key that the clients share.
pub const KEY: &str = "register";

/// The cluster, as its clients reach it: through its Service, with the certificate for clients.
#[derive(Clone)]
pub struct Etcd {
    http: Client,
    url: String,
}

impl Etcd {
    /// A client with the credentials in `directory`.
    ///
    /// # Errors
    /// If the credentials cannot be read.
    pub fn new(host: &str, directory: &Path) -> Result<Self> {
        let read = |name: &str| fs::read(directory.join(name));
        let identity = [read("tls.crt")?, read("tls.key")?].concat();
        let http = Client::builder()
            .tls_certs_only([Certificate::from_pem(&read("ca.crt")?)?])
            .identity(Identity::from_pem(&identity)?)
            // A connection to a member that is gone must not be used again.
            .pool_max_idle_per_host(0)
            .timeout(TIMEOUT)
            .no_proxy()
            .build()?;
        Ok(Self {
            http,
            url: format!("https://{host}:2379/v3"),
        })
    }

    /// Writes a value.
    ///
    /// # Errors
    /// Without the answer of etcd. The write may happen nevertheless.
    pub async fn put(&self, key: &str, value: &str) -> Result<()> {
        let encode = |text: &str| BASE64_STANDARD.encode(text);
        self.call(
            "kv/put",
            json!({ "key": encode(key), "value": encode(value) }),
        )
        .await?;
        Ok(())
    }

    /// Reads a value through a majority.
    ///
    /// # Errors
    /// Without the answer of etcd.
    pub async fn get(&self, key: &str) -> Result<Option<String>> {
        let answer = self
            .call("kv/range", json!({ "key": BASE64_STANDARD.encode(key) }))
            .await?;
        let value = answer.pointer("/kvs/0/value").and_then(Value::as_str);
        let value = value.map(|text| BASE64_STANDARD.decode(text)).transpose()?;
        Ok(value.map(String::from_utf8).transpose()?)
    }

    /// The ID of the leader.
    ///
    /// # Errors
    /// Without the answer of etcd.
    pub async fn leader(&self) -> Result<u64> {
        let status = self.call("maintenance/status", json!({})).await?;
        let leader = status["leader"].as_str().context("there is no leader")?;
        Ok(leader.parse()?)
    }

    async fn call(&self, path: &str, request: Value) -> Result<Value> {
        let request = self
            .http
            .post(format!("{}/{path}", self.url))
            .json(&request);
        let answer = request.send().await?.error_for_status()?;
        answer.json().await.context("etcd sent no JSON")
    }
}

/// The clients, while they run.
pub struct Workload {
    stop: Arc<AtomicBool>,
    history: Arc<Mutex<Vec<Operation>>>,
    clients: Vec<JoinHandle<()>>,
}

/// What the clients saw.
#[derive(Debug)]
pub struct Outcome {
    /// Writes that etcd acknowledged.
    pub acknowledged: usize,
    /// Writes without an answer.
    pub unknown: usize,
    /// Reads with an answer.
    pub reads: usize,
    /// The longest time without an acknowledged write.
    pub longest_gap: Duration,
    /// Why the history is not linearizable.
    pub violation: Option<Violation>,
}

impl Workload {
    /// Starts `writers` and `readers`.
    pub fn start(etcd: &Etcd, writers: usize, readers: usize) -> Self {
        let since = Instant::now();
        let (stop, history) = (
            Arc::<AtomicBool>::default(),
            Arc::<Mutex<Vec<_>>>::default(),
        );
        let next = Arc::new(AtomicU64::new(1));
        let now = move || u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let clients = (0..writers + readers).map(|client| {
            let (etcd, stop, history) = (etcd.clone(), stop.clone(), history.clone());
            let next = next.clone();
            tokio::spawn(async move {
                while !stop.load(Ordering::Relaxed) {
                    let begin = now();
                    let operation = if client < writers {
                        let value = next.fetch_add(1, Ordering::Relaxed);
                        let written = etcd.put(KEY, &value.to_string()).await;
                        // Without an answer, or with an error of etcd, nobody knows.
                        let end = written.is_ok().then(now);
                        Some(Operation {
                            kind: Kind::Write(value),
                            begin,
                            end,
                        })
                    } else {
                        let read = etcd.get(KEY).await.ok();
                        let value =
                            |read: Option<String>| read.map_or(Some(0), |it| it.parse().ok());
                        let value = read.and_then(value);
                        value.map(|value| Operation {
                            kind: Kind::Read(value),
                            begin,
                            end: Some(now()),
                        })
                    };
                    let history = || history.lock().unwrap_or_else(PoisonError::into_inner);
                    history().extend(operation);
                    sleep(PAUSE).await;
                }
            })
        });
        Self {
            clients: clients.collect(),
            stop,
            history,
        }
    }

    /// Stops the clients, and checks what they saw.
    pub async fn finish(self) -> Outcome {
        self.stop.store(true, Ordering::Relaxed);
        for client in self.clients {
            // A client that panicked has left the history of its operations.
            _ = client.await;
        }
        let history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        let is_write = |it: &&Operation| matches!(it.kind, Kind::Write(_));
        let writes = || history.iter().filter(is_write);
        let mut ends: Vec<_> = writes().filter_map(|write| write.end).collect();
        ends.sort_unstable();
        let gaps = ends.windows(2).map(|pair| pair[1] - pair[0]);
        Outcome {
            acknowledged: ends.len(),
            unknown: writes().count() - ends.len(),
            reads: history.len() - writes().count(),
            longest_gap: Duration::from_nanos(gaps.max().unwrap_or_default()),
            violation: history::check(&history).err(),
        }
    }
}
