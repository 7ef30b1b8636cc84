//! One operator, once, on a control plane of its own.

use std::{
    collections::HashSet,
    fs,
    path::Path,
    pin::pin,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use futures::{Stream, StreamExt, TryStreamExt, stream};
use k8s_openapi::api::apps::v1::Deployment;
use kube::{
    Api, ResourceExt,
    api::PostParams,
    core::PartialObjectMeta,
    runtime::{
        WatchStreamExt,
        watcher::{self, watcher},
    },
};
use operator_runtime::{Crds, envtest::Cluster};
use server::{AVAILABLE, Server, ServerSpec, deployment};
use tokio::time::{sleep, timeout};

use crate::{Row, operator::Operator, requests::Requests};

/// How long one run may take.
pub const LIMIT: Duration = Duration::from_secs(15 * 60);

/// Between the last object and the look at what it took: work that follows the last status counts, too.
const SETTLE: Duration = Duration::from_secs(2);

/// How long the operator is watched while there is nothing to do.
const IDLE: Duration = Duration::from_secs(10);

/// What a run took.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// From the start of the process until every object was available.
    pub wall: Duration,
    /// From the start of the process until the first Deployment.
    pub first_child: Duration,
    /// CPU time for each object.
    pub cpu: Duration,
    /// CPU time in 10 s without any change.
    pub idle: Duration,
    /// The most memory in use at once, in bytes.
    pub memory: u64,
    /// The size of the binary, in bytes.
    pub binary: u64,
    /// What it asked of the API server, other than watches.
    pub requests: Requests,
    /// The number of requests for each object.
    pub requests_each: f64,
}

pub async fn measure(
    operator: &Operator,
    row: Row,
    others: usize,
    more: &[&str],
    directory: &Path,
) -> Result<Figures> {
    let cluster = Cluster::start()?;
    let mut crds = Crds::default();
    crds.add_storage::<Server>();
    cluster.install(crds.merge()).await?;
    let servers = cluster.api::<Server>()?;
    create(&servers, row.objects).await?;
    create_others(&cluster.api::<Deployment>()?, others).await?;

    let client = cluster.client()?;
    let deployments = Api::<PartialObjectMeta<Deployment>>::all(client);
    let mut children = pin!(started(deployments).await?);
    let mut servers = pin!(started(servers).await?);
    let before = Requests::of(&cluster)?;

    let kubeconfig = cluster.control_plane().kubeconfig();
    let mut running = operator.start(directory, &kubeconfig, row.concurrency, more)?;
    let started = running.process.started;
    let first_child = async {
        children.next().await.context("no watch of Deployments")??;
        anyhow::Ok(started.elapsed())
    };
    let all = async {
        let mut available = HashSet::new();
        while available.len() < row.objects {
            let server = servers.next().await.context("no watch of Servers")??;
            if is_available(&server) {
                available.insert(server.name_any());
            }
        }
        anyhow::Ok(started.elapsed())
    };
    let both = async { tokio::try_join!(first_child, all) };
    let (first_child, wall) = tokio::select! {
        times = timeout(LIMIT, both) => times.context("it takes too long")??,
        ended = running.ended() => bail!(ended.unwrap_err()),
    };
    sleep(SETTLE).await;
    let cpu = running.process.cpu()?;
    sleep(IDLE).await;
    let idle = running.process.cpu()? - cpu;
    let memory = running.process.peak_memory()?;
    running.save_metrics()?;
    running.process.stop()?;
    let requests = Requests::of(&cluster)?.since(&before);
    Ok(Figures {
        wall,
        first_child,
        cpu: cpu / u32::try_from(row.objects)?,
        idle,
        memory,
        binary: fs::metadata(operator.binary(directory))?.len(),
        requests_each: requests.total() as f64 / row.objects as f64,
        requests,
    })
}

pub async fn create(api: &Api<Server>, objects: usize) -> Result<()> {
    let begin = Instant::now();
    let spec = ServerSpec {
        size: 3,
        container_port: 8080,
    };
    stream::iter(0..objects)
        .map(|number| {
            let server = Server::new(&format!("server-{number:05}"), spec.clone());
            async move { api.create(&PostParams::default(), &server).await }
        })
        .buffer_unordered(16)
        .try_for_each(async |_| Ok(()))
        .await?;
    eprintln!(
        "created {objects} objects in {:.1} s",
        begin.elapsed().as_secs_f64()
    );
    Ok(())
}

/// Creates Deployments without the label of the operator's.
async fn create_others(api: &Api<Deployment>, number: usize) -> Result<()> {
    let spec = ServerSpec {
        size: 1,
        container_port: 8080,
    };
    let server = Server::new("other", spec);
    let mut other = deployment::wanted(&server);
    other.metadata.labels = None;
    stream::iter(0..number)
        .map(|number| {
            let mut other = other.clone();
            other.metadata.name = Some(format!("other-{number:05}"));
            async move { api.create(&PostParams::default(), &other).await }
        })
        .buffer_unordered(16)
        .try_for_each(async |_| Ok(()))
        .await?;
    Ok(())
}

/// What changes from now on, when the watch knows what there is now.
pub async fn started<K>(api: Api<K>) -> Result<impl Stream<Item = watcher::Result<K>>>
where
    K: kube::Resource<DynamicType = ()> + Clone + std::fmt::Debug + Send + 'static,
    K: serde::de::DeserializeOwned,
{
    let mut events = watcher(api, watcher::Config::default()).boxed();
    while !matches!(events.try_next().await?, Some(watcher::Event::InitDone)) {}
    Ok(events.applied_objects())
}

pub fn is_available(server: &Server) -> bool {
    let conditions = server.status.iter().flat_map(|status| &status.conditions);
    conditions
        .into_iter()
        .any(|condition| condition.type_ == AVAILABLE && condition.status == "True")
}
