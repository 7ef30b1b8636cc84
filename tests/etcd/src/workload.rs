//! Clients of the cluster, which write increasing numbers to one key and read them back.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
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
    credentials: PathBuf,
    http: Client,
    url: String,
}

/// The value of a key, and where it comes from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entry {
    /// Empty if there is no such key.
    pub value: String,
    /// The revision that wrote it.
    pub revision: i64,
    /// How many writes the key has seen.
    pub version: i64,
}

impl Etcd {
    /// A client with the credentials in `directory`.
    ///
    /// # Errors
    /// If the credentials cannot be read.
    pub fn new(host: &str, directory: &Path) -> Result<Self> {
        Ok(Self {
            credentials: directory.to_owned(),
            http: connect(directory)?,
            url: format!("https://{host}:2379/v3"),
        })
    }

    /// Leaves the connection, which may lead to a member that is gone or hangs.
    ///
    /// # Errors
    /// If the credentials cannot be read.
    pub fn reconnect(&mut self) -> Result<()> {
        self.http = connect(&self.credentials)?;
        Ok(())
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
        let entry = self.entry(key, 0).await?;
        Ok((entry.version > 0).then_some(entry.value))
    }

    /// Reads a key through a majority, as it was at a revision, or now at revision 0.
    ///
    /// # Errors
    /// Without the answer of etcd, or if the revision was compacted.
    pub async fn entry(&self, key: &str, revision: i64) -> Result<Entry> {
        let request = json!({ "key": BASE64_STANDARD.encode(key), "revision": revision });
        let answer = self.call("kv/range", request).await?;
        let Some(found) = answer.pointer("/kvs/0") else {
            return Ok(Entry::default());
        };
        let field = |name: &str| found[name].as_str().context("etcd left out a field");
        Ok(Entry {
            value: String::from_utf8(BASE64_STANDARD.decode(field("value")?)?)?,
            revision: field("mod_revision")?.parse()?,
            version: field("version")?.parse()?,
        })
    }

    /// Everything that was written to a key after its version `first`, newest first.
    ///
    /// # Errors
    /// As of [`Self::entry`].
    pub async fn written(&self, key: &str, first: i64) -> Result<Vec<Entry>> {
        let mut all = Vec::new();
        let mut entry = self.entry(key, 0).await?;
        while entry.version > first {
            let earlier = entry.revision - 1;
            all.push(entry);
            if all.last().is_some_and(|entry| entry.version == first + 1) {
                break;
            }
            entry = self.entry(key, earlier).await?;
        }
        Ok(all)
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

    /// Calls etcd by its JSON gateway.
    ///
    /// # Errors
    /// Without the answer of etcd, or if it refuses.
    pub async fn call(&self, path: &str, request: Value) -> Result<Value> {
        let request = self
            .http
            .post(format!("{}/{path}", self.url))
            .json(&request);
        let answer = request.send().await?.error_for_status()?;
        answer.json().await.context("etcd sent no JSON")
    }
}

fn connect(credentials: &Path) -> Result<Client> {
    let read = |name: &str| fs::read(credentials.join(name));
    let identity = [read("tls.crt")?, read("tls.key")?].concat();
    let http = Client::builder()
        .tls_certs_only([Certificate::from_pem(&read("ca.crt")?)?])
        .identity(Identity::from_pem(&identity)?)
        .http1_only()
        .timeout(TIMEOUT)
        .no_proxy()
        .build()?;
    Ok(http)
}

/// The clients, while they run.
pub struct Workload {
    etcd: Etcd,
    /// What the key held before.
    initial: Entry,
    shared: Arc<Shared>,
    clients: Vec<JoinHandle<Result<()>>>,
}

/// What the clients share.
struct Shared {
    since: Instant,
    next: AtomicU64,
    stop: AtomicBool,
    history: Mutex<Vec<Operation>>,
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
    /// Acknowledged writes that etcd does not have.
    pub lost: usize,
    /// The longest time without an acknowledged write.
    pub longest_gap: Duration,
    /// Why the history is not linearizable.
    pub violation: Option<Violation>,
    /// What etcd has: everything that was written to the key, newest first.
    pub written: Vec<Entry>,
}

impl Workload {
    /// Starts `writers` and `readers` of a cluster whose key has the value `initial`.
    ///
    /// # Errors
    /// If that value is not a number.
    pub fn start(etcd: &Etcd, initial: Entry, writers: usize, readers: usize) -> Result<Self> {
        let value: u64 = number(&initial.value)?;
        let shared = Arc::new(Shared {
            since: Instant::now(),
            next: AtomicU64::new(value + 1),
            stop: AtomicBool::new(false),
            history: Mutex::default(),
        });
        let clients = (0..writers + readers)
            .map(|client| tokio::spawn(shared.clone().work(etcd.clone(), client < writers)));
        Ok(Self {
            etcd: etcd.clone(),
            initial,
            clients: clients.collect(),
            shared,
        })
    }

    /// Stops the clients of a cluster that is healthy again, and checks what they saw.
    ///
    /// # Errors
    /// If a client failed, or the key cannot be read.
    pub async fn finish(mut self) -> Result<Outcome> {
        self.shared.stop.store(true, Ordering::Relaxed);
        for client in self.clients {
            client.await??;
        }
        let end = self.shared.now();
        self.etcd.reconnect()?;
        let written = self.etcd.written(KEY, self.initial.version).await?;
        let mut history = std::mem::take(&mut *self.shared.history());
        let last = written.first().unwrap_or(&self.initial);
        history.push(Operation {
            kind: Kind::Read(number(&last.value)?),
            begin: end,
            end: Some(self.shared.now()),
        });
        let stored: BTreeSet<&str> = written.iter().map(|it| it.value.as_str()).collect();
        let (mut ends, mut unknown, mut lost) = (vec![0, end], 0, 0);
        for operation in &history {
            match (operation.kind, operation.end) {
                (Kind::Write(value), Some(end)) => {
                    ends.push(end);
                    lost += usize::from(!stored.contains(value.to_string().as_str()));
                }
                (Kind::Write(_), None) => unknown += 1,
                (Kind::Read(_), _) => {}
            }
        }
        ends.sort_unstable();
        let acknowledged = ends.len() - 2;
        let gaps = ends.windows(2).map(|pair| pair[1] - pair[0]);
        Ok(Outcome {
            acknowledged,
            unknown,
            reads: history.len() - acknowledged - unknown,
            lost,
            longest_gap: Duration::from_nanos(gaps.max().unwrap_or_default()),
            violation: history::check(number(&self.initial.value)?, &history).err(),
            written,
        })
    }
}

impl Shared {
    /// One client.
    async fn work(self: Arc<Self>, mut etcd: Etcd, writes: bool) -> Result<()> {
        // A connection of its own.
        etcd.reconnect()?;
        while !self.stop.load(Ordering::Relaxed) {
            let begin = self.now();
            // Without an answer, or with an error of etcd, nobody knows whether a write happens.
            let (kind, answered) = if writes {
                let value = self.next.fetch_add(1, Ordering::Relaxed);
                let written = etcd.put(KEY, &value.to_string()).await;
                (Some(Kind::Write(value)), written.is_ok())
            } else {
                match etcd.entry(KEY, 0).await {
                    Ok(entry) => (Some(Kind::Read(number(&entry.value)?)), true),
                    Err(_) => (None, false),
                }
            };
            let end = answered.then(|| self.now());
            let operation = kind.map(|kind| Operation { kind, begin, end });
            self.history().extend(operation);
            if !answered {
                etcd.reconnect()?;
            }
            sleep(PAUSE).await;
        }
        Ok(())
    }

    /// The time. Nothing happens at time 0.
    fn now(&self) -> u64 {
        let elapsed = self.since.elapsed().as_nanos();
        u64::try_from(elapsed).map_or(u64::MAX, |it| it + 1)
    }

    fn history(&self) -> std::sync::MutexGuard<'_, Vec<Operation>> {
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The number that a client wrote, or 0 if none did.
fn number(value: &str) -> Result<u64> {
    if value.is_empty() {
        return Ok(0);
    }
    value.parse().context("the value is not a number")
}
