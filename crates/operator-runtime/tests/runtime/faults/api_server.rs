//! The API server itself: killed, restarted, paused.

use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use futures::{StreamExt, TryStreamExt, stream};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    ResourceExt,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use operator_runtime::{
    Controllers, Store,
    envtest::{Cluster, free_port},
};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::UnixStream,
    time::{sleep, timeout},
};

use crate::faults::{
    gate::Answer,
    journal::{Journal, Order},
    kubeconfig,
    link::Link,
    operator::{Operator, get, metric},
    site::Site,
    table::row,
    until,
};
use crate::widget;

/// The kube-apiserver of a control plane, which can be killed and restarted with the same data.
pub struct ApiServer {
    process: u32,
    command: Vec<String>,
    directory: PathBuf,
    again: Option<Child>,
}

impl ApiServer {
    pub fn of(cluster: &Cluster) -> Result<Self> {
        let url = cluster.control_plane().url();
        let (_, port) = url.rsplit_once(':').context("no port")?;
        let port = format!("--secure-port={port}");
        for entry in fs::read_dir("/proc")? {
            let path = entry?.path();
            let command = fs::read(path.join("cmdline")).unwrap_or_default();
            let command = String::from_utf8_lossy(&command);
            let command: Vec<_> = command.split_terminator('\0').map(str::to_owned).collect();
            // The watchdog has the same arguments after its own.
            let program = command.first().map(Path::new).and_then(Path::file_name);
            if program.is_some_and(|name| name == "kube-apiserver") && command.contains(&port) {
                let name = path.file_name().context("no name")?.to_string_lossy();
                return Ok(Self {
                    process: name.parse()?,
                    directory: fs::read_link(path.join("cwd"))?,
                    command,
                    again: None,
                });
            }
        }
        anyhow::bail!("no kube-apiserver with {port}")
    }

    pub fn signal(&self, name: &str) -> Result<()> {
        let id = self.process.to_string();
        let status = Command::new("kill").args(["-s", name, &id]).status()?;
        ensure!(status.success(), "cannot send {name}");
        Ok(())
    }

    /// Compacts etcd to this revision, which is a resource version.
    async fn compact(&self, revision: &str) -> Result<()> {
        let mut etcd = UnixStream::connect(self.directory.join("client.sock")).await?;
        let body = format!(r#"{{"revision":"{revision}","physical":true}}"#);
        let request = format!(
            "POST /v3/kv/compaction HTTP/1.0\r\nHost: etcd\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        etcd.write_all(request.as_bytes()).await?;
        let mut answer = String::new();
        etcd.read_to_string(&mut answer).await?;
        ensure!(answer.contains(" 200 "), "{answer}");
        Ok(())
    }

    /// Restarts it; it ends with this process, as the first one does.
    pub fn start(&mut self) -> Result<()> {
        self.end();
        let script = r#""$@" </dev/null >/dev/null & echo $!; read -r _; kill -9 $!"#;
        let mut again = Command::new("sh")
            .args(["-c", script, "sh"])
            .args(&self.command)
            .current_dir(&self.directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let stdout = again.stdout.take().context("no stdout")?;
        self.again = Some(again);
        let mut process = String::new();
        BufReader::new(stdout).read_line(&mut process)?;
        self.process = process.trim().parse()?;
        Ok(())
    }

    /// Ends the process of [`start`](Self::start).
    fn end(&mut self) {
        if let Some(mut again) = self.again.take() {
            drop(again.stdin.take());
            _ = again.wait();
        }
    }
}

impl Drop for ApiServer {
    fn drop(&mut self) {
        self.end();
    }
}

async fn ready(site: &Site) -> Result<Duration> {
    until("the API server is ready", 60, async || {
        let request = http::Request::get("/readyz").body(Vec::new())?;
        Ok(site.client.request_text(request).await.is_ok())
    })
    .await
}

#[tokio::test]
async fn the_api_server_is_killed_and_stopped() -> Result<()> {
    let cluster = Cluster::start()?;
    cluster.install(widget::crds()).await?;
    let (site, journal) = (Site::within(&cluster, "restart").await?, Journal::default());
    let mut server = ApiServer::of(&cluster)?;
    // The operator talks TLS to the API server itself, through a link that can be cut.
    let (_, port) = server_port(&cluster)?;
    let link = Link::to(port).await?;
    let ca = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("restart.crt");
    fs::write(&ca, cluster.control_plane().ca_pem())?;
    let more = format!("token: {}", cluster.control_plane().admin_token());
    let url = format!(
        "https://127.0.0.1:{}\", certificate-authority: \"{}",
        link.port(),
        ca.display()
    );
    let kubeconfig = kubeconfig("restart", &url, &more)?;

    for name in ["changed", "orphaned", "untouched"] {
        site.create(name, 1).await?;
    }
    let mut controllers = Controllers::default();
    controllers.add(journal.controller("widgets").owns::<ConfigMap>());
    let operator =
        Operator::start(&kubeconfig, &[], controllers, |manager| manager.client()).await?;
    site.settled(&journal, 30).await?;
    journal.order("failing", Some(Order::Fail));
    site.create("failing", 1).await?;
    until("ten failures in a row", 20, async || {
        Ok(journal.count("failing") >= 10)
    })
    .await?;

    // Killed: restarted watches are older than the history of the new process.
    server.signal("KILL")?;
    let killed = Instant::now();
    let requests = metric(operator.metrics, "rest_client_requests_total", "").await?;
    sleep(Duration::from_secs(3)).await;
    link.cut();
    server.start()?;
    ready(&site).await?;
    let down = killed.elapsed();
    let orphaned = journal.count("orphaned");
    site.delete("failing").await?;
    site.delete_child("orphaned").await?;
    site.resize("changed", 2).await?;
    site.create("new", 1).await?;
    let version = site.widgets().get("new").await?.resource_version();
    server.compact(&version.context("no version")?).await?;
    let asked = metric(operator.metrics, "rest_client_requests_total", "").await? - requests;
    link.restore();
    let back = Instant::now();
    site.settled(&journal, 60).await?;
    until("the child is back", 60, async || {
        Ok(journal.count("orphaned") > orphaned
            && site.children().get_opt("orphaned").await?.is_some())
    })
    .await?;
    let happened = format!(
        "{:.0} s without it, {asked} requests; every change and deletion noticed",
        down.as_secs_f64()
    );
    row(
        "API server killed, started again, etcd compacted",
        &happened,
        back.elapsed(),
    );
    ensure!(
        asked / down.as_secs_f64() < 10.0,
        "{asked} requests in {down:?}"
    );
    let failures = journal.count("failing");
    sleep(Duration::from_millis(500)).await;
    ensure!(
        journal.count("failing") == failures,
        "an object that is gone is still tried"
    );

    // Paused: it accepts connections and answers nothing.
    server.signal("STOP")?;
    let stopped = Instant::now();
    let requests = metric(operator.metrics, "rest_client_requests_total", "").await?;
    sleep(Duration::from_secs(5)).await;
    let asked = metric(operator.metrics, "rest_client_requests_total", "").await? - requests;
    server.signal("CONT")?;
    let down = stopped.elapsed();
    site.resize("changed", 3).await?;
    let recovered = site.settled(&journal, 60).await?;
    let happened = format!(
        "{:.0} s without an answer, {asked} requests",
        down.as_secs_f64()
    );
    row(
        "API server stopped (SIGSTOP), continued",
        &happened,
        recovered,
    );
    ensure!(asked < 10.0, "{asked} requests");
    ensure!(operator.runs());
    Ok(())
}

/// A store follows an API server that was killed, while objects change and their history is compacted.
#[tokio::test]
async fn ten_thousand_objects_through_a_restart() -> Result<()> {
    const OBJECTS: usize = 10_000;
    const CHANGES: usize = 300;
    let cluster = Cluster::start()?;
    cluster.install(widget::crds()).await?;
    let site = Site::within(&cluster, "many-objects").await?;
    let mut server = ApiServer::of(&cluster)?;
    let api = site.children();
    let (post, delete) = (PostParams::default(), DeleteParams::default());
    let object = |number: usize, value: &str| {
        let name = format!("c-{number:05}");
        let data = json!({ "metadata": { "name": name }, "data": { "value": value } });
        serde_json::from_value::<ConfigMap>(data)
    };
    let create = async |numbers: std::ops::Range<usize>| {
        let creates = numbers.map(|number| {
            let (api, post) = (api.clone(), &post);
            async move { anyhow::Ok(api.create(post, &object(number, "first")?).await?) }
        });
        let created = stream::iter(creates).buffer_unordered(16);
        anyhow::Ok(created.try_collect::<Vec<_>>().await?.len())
    };
    ensure!(create(0..OBJECTS).await? == OBJECTS);

    let begin = Instant::now();
    let (sender, store) = std::sync::mpsc::channel::<Store<ConfigMap>>();
    let controllers = Controllers::<()>::default();
    let place = format!("--watch-namespace={}", site.namespace);
    let operator = Operator::start(&site.kubeconfig, &[&place], controllers, |manager| {
        _ = sender.send(manager.store());
    })
    .await?;
    let store = store.recv()?;
    timeout(Duration::from_secs(60), store.synced()).await?;
    ensure!(store.list().len() == OBJECTS);
    row("10,000 objects", "in a store", begin.elapsed());

    server.signal("KILL")?;
    sleep(Duration::from_secs(2)).await;
    server.start()?;
    site.gate
        .rule(|ask| (ask.method == "GET").then_some(Answer::Failure(503, "Unavailable")));
    ready(&site).await?;
    site.gate.end_watches();
    for number in 0..CHANGES {
        let changed = Patch::Merge(json!({ "data": { "value": "second" } }));
        let name = format!("c-{number:05}");
        api.patch(&name, &PatchParams::default(), &changed).await?;
        let name = format!("c-{:05}", CHANGES + number);
        api.delete(&name, &delete).await?;
    }
    ensure!(create(OBJECTS..OBJECTS + CHANGES).await? == CHANGES);
    let last = api.get("c-00000").await?.resource_version();
    server.compact(&last.context("no version")?).await?;
    site.gate.pass();
    let back = Instant::now();
    let sum = |objects: &[Arc<ConfigMap>]| {
        let value = |object: &ConfigMap| object.data.as_ref()?.get("value").cloned();
        let second = objects
            .iter()
            .filter(|object| value(object).as_deref() == Some("second"));
        let names: BTreeSet<_> = objects.iter().map(|object| object.name_any()).collect();
        (second.count(), names)
    };
    let names = (0..OBJECTS + CHANGES).filter(|number| !(CHANGES..2 * CHANGES).contains(number));
    let names: BTreeSet<_> = names.map(|number| format!("c-{number:05}")).collect();
    until("the store has every change", 90, async || {
        // The API server creates one in each namespace.
        let mut objects = store.list();
        objects.retain(|object| object.name_any() != "kube-root-ca.crt");
        Ok(sum(&objects) == (CHANGES, names.clone()))
    })
    .await?;
    let happened = format!("{} changes noticed", 3 * CHANGES);
    row(
        "10,000 objects, API server killed and compacted",
        &happened,
        back.elapsed(),
    );
    ensure!(operator.runs());
    Ok(())
}

/// Its first response is as good as the last: the readiness checks exist before the server listens.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_operator_without_an_api_server_is_never_ready() -> Result<()> {
    let nowhere = format!("http://127.0.0.1:{}", free_port()?);
    let kubeconfig = kubeconfig("nowhere", &nowhere, "")?;
    let journal = Journal::default();
    for _ in 0..50 {
        let mut controllers = Controllers::default();
        controllers.add(journal.controller("widgets"));
        let operator =
            Operator::start(&kubeconfig, &[], controllers, |manager| manager.client()).await?;
        let begin = Instant::now();
        let answer = loop {
            match get(operator.health, "/readyz").await {
                Ok(answer) => break answer,
                Err(_) => ensure!(begin.elapsed() < Duration::from_secs(30), "no answer"),
            }
        };
        ensure!(answer.starts_with("HTTP/1.1 503"), "{answer}");
    }
    Ok(())
}

fn server_port(cluster: &Cluster) -> Result<(String, u16)> {
    let url = cluster.control_plane().url();
    let (host, port) = url.rsplit_once(':').context("no port")?;
    Ok((host.to_owned(), port.parse()?))
}
