//! One start over many objects: with an edit while it is busy, and a resync after it.

use std::{
    collections::HashSet,
    fmt,
    path::Path,
    pin::pin,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use futures::StreamExt;
use kube::{
    Api, ResourceExt,
    api::{Patch, PatchParams},
};
use operator_runtime::{Crds, envtest::Cluster};
use serde_json::json;
use server::Server;
use tokio::time::{sleep, timeout};

use crate::{
    Row,
    measure::{LIMIT, create, is_available, started},
    operator::{Operator, Running},
    requests::Requests,
};

/// Longer than the start, which it must not overlap.
const SYNC_PERIOD: Duration = Duration::from_secs(180);

/// What a start took.
#[derive(Debug)]
pub struct Start {
    row: Row,
    /// From the start of the process until every object was available.
    all: Duration,
    /// Objects that were available when the last of the list was edited.
    before: usize,
    /// From then until it was available.
    edit: Duration,
    /// Objects that became available meanwhile.
    meanwhile: usize,
    /// The most memory in use at once, in bytes: after the start, and after the resync.
    memory: [u64; 2],
    /// How long the resync took, its CPU time, and what it asked of the API server.
    resync: Duration,
    cpu: Duration,
    requests: Requests,
}

pub async fn start(operator: &Operator, row: Row, directory: &Path) -> Result<Start> {
    let cluster = Cluster::start()?;
    let mut crds = Crds::default();
    crds.add_storage::<Server>();
    cluster.install(crds.merge()).await?;
    let api = cluster.api::<Server>()?;
    create(&api, row.objects).await?;
    let mut servers = pin!(started(api.clone()).await?);

    let kubeconfig = cluster.control_plane().kubeconfig();
    let period = format!("--sync-period={}s", SYNC_PERIOD.as_secs());
    let mut running = operator.start(directory, &kubeconfig, row.concurrency, &[&period])?;
    let begin = running.process.started;
    let last = format!("server-{:05}", row.objects - 1);
    let mut edited = None;
    let mut seen = None;
    let all = async {
        let mut available = HashSet::new();
        while available.len() < row.objects {
            let server = servers.next().await.context("no watch of Servers")??;
            if is_available(&server) {
                available.insert(server.name_any());
            }
            if edited.is_none() && available.len() >= row.objects / 10 {
                edited = Some((Instant::now(), available.len()));
                edit(&api, &last).await?;
            }
            if seen.is_none() && available.contains(&last) {
                seen = Some((Instant::now(), available.len()));
            }
        }
        anyhow::Ok(begin.elapsed())
    };
    let all = tokio::select! {
        all = timeout(LIMIT, all) => all.context("it takes too long")??,
        ended = running.ended() => bail!(ended.unwrap_err()),
    };
    let ((edited, before), (seen, after)) = edited.zip(seen).context("no edit")?;
    let memory = running.process.peak_memory()?;

    // What follows the last status counts for the start.
    sleep(Duration::from_secs(2)).await;
    let requests = Requests::of(&cluster)?;
    let resync = timeout(LIMIT, resync(&running, row.objects as u64)).await;
    let (resync, cpu) = resync.context("no resync")??;
    let memory = [memory, running.process.peak_memory()?];
    let requests = Requests::of(&cluster)?.since(&requests);
    running.process.stop()?;
    Ok(Start {
        row,
        all,
        before,
        edit: seen - edited,
        meanwhile: after - before,
        memory,
        resync,
        cpu,
        requests,
    })
}

/// A change by somebody else.
async fn edit(api: &Api<Server>, name: &str) -> Result<()> {
    let patch = Patch::Merge(json!({ "spec": { "size": 4 } }));
    api.patch(name, &PatchParams::default(), &patch).await?;
    Ok(())
}

/// Waits for the next resync: how long it took, and its CPU time. It begins with the last look that saw none of it,
/// because one that writes nothing may be over before the metrics are served again.
async fn resync(running: &Running, objects: u64) -> Result<(Duration, Duration)> {
    let before = running.reconciles()?;
    let mut begin = (Instant::now(), running.process.cpu()?);
    loop {
        let look = (Instant::now(), running.process.cpu()?);
        let reconciles = running.reconciles()?;
        if reconciles >= before + objects {
            let (at, cpu) = begin;
            return Ok((at.elapsed(), running.process.cpu()? - cpu));
        }
        if reconciles == before {
            begin = look;
        }
        sleep(Duration::from_millis(20)).await;
    }
}

impl fmt::Display for Start {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mib = |bytes: u64| bytes as f64 / 1024.0 / 1024.0;
        writeln!(
            f,
            "{} objects, concurrency {}",
            self.row.objects, self.row.concurrency
        )?;
        writeln!(
            f,
            "start:  {:.2} s until all are available",
            self.all.as_secs_f64()
        )?;
        writeln!(
            f,
            "edit:   {:.3} s until the last of the list was available, edited when {} were; {} others meanwhile",
            self.edit.as_secs_f64(),
            self.before,
            self.meanwhile.saturating_sub(1)
        )?;
        writeln!(
            f,
            "resync: {:.2} s, {:.2} s of CPU time",
            self.resync.as_secs_f64(),
            self.cpu.as_secs_f64()
        )?;
        writeln!(f, "        requests: {}", self.requests)?;
        let [start, resync] = self.memory;
        writeln!(
            f,
            "peak:   {:.1} MiB, {:.1} MiB after the resync",
            mib(start),
            mib(resync)
        )
    }
}
