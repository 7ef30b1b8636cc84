//! Measures an operator whose replicas share the objects: for each number of replicas a fresh control plane. It
//! asserts no times.

mod proxy;

use std::{env, path::PathBuf, process::Command, time::Duration};

use anyhow::{Context, Result, ensure};
use clap::Parser;
use futures::{StreamExt, TryStreamExt, stream};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::{
    Api, Client,
    api::{ObjectMeta, Patch, PatchParams, PostParams},
};
use operator_runtime::envtest::{Cluster, Options, free_port};
use process::Process;
use serde_json::json;
use tokio::time::{Instant, sleep};

use proxy::Proxy;

const NAMESPACE: &str = "bench";

#[derive(Parser)]
struct Args {
    /// Numbers of replicas
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_values_t = [1, 2, 4])]
    replicas: Vec<usize>,

    /// Objects
    #[arg(long, default_value_t = 10_000)]
    objects: usize,

    /// Reconciles at once, in each replica
    #[arg(long, default_value_t = 10)]
    concurrency: u16,

    /// How long each is measured
    #[arg(long, default_value_t = 20)]
    seconds: u64,

    /// Let each reconcile write an annotation
    #[arg(long)]
    writes: bool,

    /// Turn on the feature ShardedListAndWatch of the API server
    #[arg(long)]
    select: bool,
}

struct Replica {
    process: Process,
    proxy: Proxy,
    metrics: u16,
}

#[tokio::main]
async fn main() -> Result<()> {
    let args = Args::parse();
    println!(
        "{:>8} {:>12} {:>9} {:>14} {:>12} {:>16} {:>14} {:>16} {:>16}",
        "replicas",
        "reconciles/s",
        "of N x 1",
        "CPU a replica",
        "CPU API srv.",
        "requests/s there",
        "most memory",
        "bytes at start",
        "bytes of changes"
    );
    let mut one = None;
    for replicas in &args.replicas {
        let rate = measure(&args, *replicas, one).await?;
        one = one.or(Some(rate / *replicas as f64));
    }
    Ok(())
}

async fn measure(args: &Args, replicas: usize, one: Option<f64>) -> Result<f64> {
    let mut options = Options::default();
    if args.select {
        options.api_server_flags = vec!["--feature-gates=ShardedListAndWatch=true".to_owned()];
    }
    let cluster = Cluster::start_with(&options)?;
    let client = cluster.client()?;
    let api = objects(&client, args.objects).await?;
    let kubeconfig = cluster.control_plane().kubeconfig();
    let server = cluster.control_plane().url();
    let mut all = Vec::new();
    for number in 0..replicas {
        all.push(start(args, number, &kubeconfig, &server).await?);
    }
    settle(&mut all).await?;
    let at_start: u64 = all
        .iter()
        .map(|it| it.proxy.received())
        .max()
        .unwrap_or_default();

    let (before, cpu, requests) = (reconciles(&all)?, cpu(&all)?, requests(&client).await?);
    let api_server = api_server_cpu(&client).await?;
    let begin = Instant::now();
    sleep(Duration::from_secs(args.seconds)).await;
    let took = begin.elapsed().as_secs_f64();
    let rate = (reconciles(&all)? - before) / took;
    let cpu = (self::cpu(&all)? - cpu).as_secs_f64() / took / replicas as f64;
    let api_server = (api_server_cpu(&client).await? - api_server) / took;
    let requests = (self::requests(&client).await? - requests) / took;

    let before: Vec<_> = all.iter().map(|it| it.proxy.received()).collect();
    change(&api, args.objects.min(2_000)).await?;
    sleep(Duration::from_secs(2)).await;
    let received = all
        .iter()
        .zip(before)
        .map(|(it, before)| it.proxy.received() - before);
    let changes = received.max().unwrap_or_default();
    let memory = all
        .iter()
        .map(|it| it.process.peak_memory())
        .collect::<Result<Vec<_>>>()?;
    let memory = memory.into_iter().max().unwrap_or_default();
    println!(
        "{replicas:>8} {rate:>12.0} {:>9.2} {:>14.3} {api_server:>12.3} {requests:>16.0} {:>11.1} MiB {:>12.2} MiB {:>12.2} MiB",
        rate / one.unwrap_or(rate) / if one.is_some() { replicas as f64 } else { 1.0 },
        cpu,
        memory as f64 / f64::from(1 << 20),
        at_start as f64 / f64::from(1 << 20),
        changes as f64 / f64::from(1 << 20),
    );
    for replica in &mut all {
        replica.process.stop()?;
    }
    Ok(rate)
}

/// Makes the objects, of about 1 KB each.
async fn objects(client: &Client, count: usize) -> Result<Api<ConfigMap>> {
    let namespace = Namespace {
        metadata: ObjectMeta {
            name: Some(NAMESPACE.to_owned()),
            ..ObjectMeta::default()
        },
        ..Namespace::default()
    };
    let namespaces: Api<Namespace> = Api::all(client.clone());
    namespaces
        .create(&PostParams::default(), &namespace)
        .await?;
    let api: Api<ConfigMap> = Api::namespaced(client.clone(), NAMESPACE);
    let make = |number: usize| {
        let object = ConfigMap {
            metadata: ObjectMeta {
                name: Some(format!("object-{number}")),
                ..ObjectMeta::default()
            },
            data: Some([("text".to_owned(), "x".repeat(700))].into()),
            ..ConfigMap::default()
        };
        let api = api.clone();
        async move { api.create(&PostParams::default(), &object).await.map(drop) }
    };
    let made = stream::iter((0..count).map(make)).buffer_unordered(20);
    made.try_collect::<Vec<()>>().await?;
    Ok(api)
}

async fn change(api: &Api<ConfigMap>, count: usize) -> Result<()> {
    let patch = |number: usize| {
        let (api, name) = (api.clone(), format!("object-{number}"));
        let patch = json!({"metadata": {"labels": {"changed": "yes"}}});
        async move {
            let patch = Patch::Merge(patch);
            api.patch(&name, &PatchParams::default(), &patch)
                .await
                .map(drop)
        }
    };
    let made = stream::iter((0..count).map(patch)).buffer_unordered(20);
    made.try_collect::<Vec<()>>().await?;
    Ok(())
}

async fn start(args: &Args, number: usize, kubeconfig: &PathBuf, server: &str) -> Result<Replica> {
    let directory = env::current_exe()?;
    let directory = directory.parent().context("no directory")?;
    let proxy = Proxy::start(server.trim_start_matches("https://").to_owned()).await?;
    let proxied = directory.join(format!("shards-{number}.kubeconfig"));
    let text = std::fs::read_to_string(kubeconfig)?;
    let there = format!("https://127.0.0.1:{}", proxy.port);
    std::fs::write(&proxied, text.replace(server, &there))?;
    let metrics = free_port()?;
    let mut command = Command::new(directory.join("shards-operator"));
    command
        .arg(format!("--kubeconfig={}", proxied.display()))
        .arg(format!("--watch-namespace={NAMESPACE}"))
        .arg(format!("--metrics-bind-address=127.0.0.1:{metrics}"))
        .args(["--metrics-secure=false", "--health-probe-bind-address=0"])
        .args([
            "--leader-elect",
            "--leader-elect-resource-namespace=default",
        ])
        .arg("--shards=auto")
        .arg(format!("--max-concurrent-reconciles={}", args.concurrency))
        .env("POD_NAME", format!("replica-{number}"));
    if args.writes {
        command.env("BENCH_WRITES", "1");
    }
    let log = directory.join(format!("shards-operator-{number}.log"));
    Ok(Replica {
        process: Process::start(command, log)?,
        proxy,
        metrics,
    })
}

/// Waits until each replica serves its share.
async fn settle(all: &mut [Replica]) -> Result<()> {
    let begin = Instant::now();
    let least = 64.0 / all.len() as f64;
    loop {
        let mut served = Vec::new();
        for replica in all.iter_mut() {
            replica.process.check()?;
            let text = replica.process.metrics(replica.metrics).unwrap_or_default();
            served.push(value(&text, "operator_shard_slots{state=\"serving\"}"));
        }
        if served.iter().all(|slots| *slots >= least.floor()) && served.iter().sum::<f64>() == 64.0
        {
            // What the hand-over has queued passes.
            sleep(Duration::from_secs(3)).await;
            return Ok(());
        }
        ensure!(
            begin.elapsed() < Duration::from_secs(120),
            "not settled: {served:?}"
        );
        sleep(Duration::from_millis(200)).await;
    }
}

fn reconciles(all: &[Replica]) -> Result<f64> {
    let one = |replica: &Replica| {
        let text = replica.process.metrics(replica.metrics)?;
        Ok(sum(&text, "controller_runtime_reconcile_total"))
    };
    all.iter().map(one).sum()
}

fn cpu(all: &[Replica]) -> Result<Duration> {
    all.iter().map(|replica| replica.process.cpu()).sum()
}

/// The requests that the API server has answered.
async fn requests(client: &Client) -> Result<f64> {
    Ok(sum(
        &server_metrics(client).await?,
        "apiserver_request_total",
    ))
}

/// The CPU time of the API server, in seconds.
async fn api_server_cpu(client: &Client) -> Result<f64> {
    Ok(sum(
        &server_metrics(client).await?,
        "process_cpu_seconds_total",
    ))
}

async fn server_metrics(client: &Client) -> Result<String> {
    let request = http::Request::get("/metrics").body(Vec::new())?;
    Ok(client.request_text(request).await?)
}

fn value(text: &str, series: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(series));
    line.and_then(|value| value.trim().parse().ok())
        .unwrap_or_default()
}

fn sum(text: &str, metric: &str) -> f64 {
    let lines = text.lines().filter(|line| {
        let rest = line.strip_prefix(metric);
        rest.is_some_and(|rest| rest.starts_with(['{', ' ']))
    });
    lines
        .filter_map(|line| line.rsplit_once(' ')?.1.parse::<f64>().ok())
        .sum()
}
