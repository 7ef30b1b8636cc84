//! Measures the operator of this benchmark: at the start, while it installs releases, and while nothing changes. Then Helm installs the
//! same releases. It asserts no times.

use std::{
    collections::{BTreeMap, HashSet},
    env, fs,
    path::{Path, PathBuf},
    pin::pin,
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use clap::Parser;
use futures::{StreamExt, TryStreamExt, stream};
use kube::{
    Api, CustomResourceExt, ResourceExt,
    api::PostParams,
    runtime::{
        WatchStreamExt,
        watcher::{self, watcher},
    },
};
use operator_runtime::envtest::Cluster;
use process::Process;
use release_operator::Cache;
use serde_json::{from_value, json};
use tokio::time::{sleep, timeout};

/// How long one step may take.
const LIMIT: Duration = Duration::from_secs(10 * 60);

/// Between the last release and the look at what it took: work that follows the last status counts, too.
const SETTLE: Duration = Duration::from_secs(5);

#[derive(Parser)]
struct Args {
    /// How many releases there are after each step
    #[arg(value_name = "RELEASES", default_values = ["100", "500"])]
    steps: Vec<usize>,

    /// How many releases Helm installs
    #[arg(long, default_value_t = 50)]
    helm_releases: usize,

    /// The program of Helm; without it, the operator alone is measured
    #[arg(long, value_name = "FILE")]
    helm: Option<PathBuf>,

    /// How long the operator is watched while there is nothing to do, in seconds
    #[arg(long, default_value_t = 60)]
    idle: u64,
}

#[tokio::main]
async fn main() -> Result<()> {
    let args = Args::parse();
    let directory = env::current_exe()?;
    let directory = directory.parent().context("no directory")?;
    let cluster = Cluster::start()?;
    cluster.install(anyhow::Ok(vec![Cache::crd()])).await?;
    let caches = cluster.api::<Cache>()?;
    let mut process = start(directory, &cluster)?;
    sleep(SETTLE).await;
    println!("| step | wall | CPU | memory |\n|---|---|---|---|");
    println!(
        "| start | | {:.2} s | {:.1} MB |",
        process.cpu()?.as_secs_f64(),
        megabytes(&process)?
    );
    let mut existing = 0;
    for number in args.steps {
        let (cpu, begin) = (process.cpu()?, Instant::now());
        create(&caches, existing..number).await?;
        timeout(LIMIT, released(&caches, number))
            .await
            .context("it takes too long")??;
        let wall = begin.elapsed();
        sleep(SETTLE).await;
        process.check()?;
        let cpu = process.cpu()? - cpu;
        let (wall, cpu) = (wall.as_secs_f64(), cpu.as_secs_f64());
        println!(
            "| {number} releases | {wall:.1} s | {cpu:.2} s | {:.1} MB |",
            megabytes(&process)?
        );
        existing = number;
    }
    let (cpu, before) = (process.cpu()?, requests(&cluster)?);
    sleep(Duration::from_secs(args.idle)).await;
    let cpu = (process.cpu()? - cpu).as_secs_f64();
    println!(
        "| idle, {} s | | {cpu:.2} s | {:.1} MB |",
        args.idle,
        megabytes(&process)?
    );
    let mut asked = requests(&cluster)?;
    asked.retain(|key, count| {
        *count -= before.get(key).copied().unwrap_or_default();
        *count > 0
    });
    println!("\nrequests meanwhile: {asked:?}");
    process.stop()?;
    if let Some(helm) = &args.helm {
        install(helm, &cluster, args.helm_releases)?;
    }
    Ok(())
}

fn start(directory: &Path, cluster: &Cluster) -> Result<Process> {
    let mut command = Command::new(directory.join("release-operator"));
    command
        .args([
            "--metrics-bind-address=0",
            "--health-probe-bind-address=0",
            "--leader-elect=false",
        ])
        .args(["--max-concurrent-reconciles=8"])
        .env("KUBECONFIG", cluster.control_plane().kubeconfig());
    Process::start(command, directory.join("release-operator.log"))
}

fn megabytes(process: &Process) -> Result<f64> {
    Ok(process.peak_memory()? as f64 / 1e6)
}

async fn create(api: &Api<Cache>, numbers: std::ops::Range<usize>) -> Result<()> {
    stream::iter(numbers)
        .map(async |number| {
            let cache: Cache = from_value(json!({
                "apiVersion": "bench.example.com/v1",
                "kind": "Cache",
                "metadata": { "name": format!("cache-{number:04}") },
                "spec": { "replicaCount": 2 },
            }))?;
            api.create(&PostParams::default(), &cache).await?;
            anyhow::Ok(())
        })
        .buffer_unordered(8)
        .try_for_each(async |()| Ok(()))
        .await
}

/// Waits until this many releases are installed.
async fn released(api: &Api<Cache>, number: usize) -> Result<()> {
    let mut caches = pin!(watcher(api.clone(), watcher::Config::default()).applied_objects());
    let mut released = HashSet::new();
    while released.len() < number {
        let cache = caches.next().await.context("the watch ended")??;
        let status = cache.status.clone().unwrap_or_default();
        if status
            .conditions
            .iter()
            .any(|it| it.type_ == "Released" && it.status == "True")
        {
            released.insert(cache.name_any());
        }
    }
    Ok(())
}

/// The requests for what the operator and its releases have, by verb and resource, as the API server counts them.
fn requests(cluster: &Cluster) -> Result<BTreeMap<String, u64>> {
    let mut kubectl = cluster.control_plane().kubectl();
    let output = kubectl.args(["get", "--raw", "/metrics"]).output()?;
    ensure!(output.status.success(), "the API server serves no metrics");
    let ours = [
        "caches",
        "events",
        "leases",
        "poddisruptionbudgets",
        "services",
        "statefulsets",
    ];
    let mut requests = BTreeMap::new();
    for line in String::from_utf8(output.stdout)?.lines() {
        let Some(line) = line.strip_prefix("apiserver_request_total{") else {
            continue;
        };
        let (labels, count) = line.split_once("} ").context("a metric without a value")?;
        let label = |name: &str| {
            let start = format!("{name}=\"");
            let mut all = labels
                .split(',')
                .filter_map(|label| label.strip_prefix(&start));
            all.next()
                .unwrap_or_default()
                .trim_end_matches('"')
                .to_owned()
        };
        let resource = label("resource");
        if ours.contains(&resource.as_str()) {
            let count = count.parse::<f64>()? as u64;
            *requests
                .entry(format!("{} {resource}", label("verb")))
                .or_default() += count;
        }
    }
    Ok(requests)
}

/// Installs releases by Helm, one after the other, in a namespace of their own.
fn install(helm: &Path, cluster: &Cluster, number: usize) -> Result<()> {
    let chart = Path::new(env!("CARGO_MANIFEST_DIR")).join("../chart");
    let home = env::temp_dir().join("bench-releases-helm");
    fs::create_dir_all(&home)?;
    let begin = Instant::now();
    for number in 0..number {
        let output = Command::new(helm)
            .args(["upgrade", "--install", &format!("helm-{number:04}")])
            .arg(&chart)
            .args([
                "--namespace",
                "helm",
                "--create-namespace",
                "--set",
                "replicaCount=2",
            ])
            .env("KUBECONFIG", cluster.control_plane().kubeconfig())
            .env("HOME", &home)
            .output()?;
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(output.status.success(), "helm failed: {error}");
    }
    let each = begin.elapsed().as_secs_f64() / number as f64;
    println!(
        "`helm upgrade --install`: {number} releases, {:.1} ms each",
        each * 1000.0
    );
    Ok(())
}
