//! Leader election against a real API server, with real processes, and a network that goes wrong.
//!
//! What counts is what the API server accepted, in the order in which it did: no change by a replica
//! after another one took the lease.

mod audit;
mod plan;
mod proxy;
mod replica;
mod schedule;
mod setup;

use std::{env, process::exit, sync::Arc, time::Duration};

use anyhow::{Result, ensure};
use clap::Parser;
use futures::{StreamExt, TryStreamExt, stream};
use kube::{
    Api, Client, ResourceExt,
    api::{Patch, PatchParams},
};
use operator_runtime::{
    Action, Controller, Controllers, Flags, Manager, ManagerOptions, WatchScope,
    envtest::{Cluster, Options},
};
use serde_json::json;

use crate::widget::Widget;
use plan::{DEFAULT, Fault, Schedule, Timing};
use schedule::Outcome;

const OPTIONS: ManagerOptions = ManagerOptions {
    name: setup::LEASE,
    scope: WatchScope::Cluster,
};

#[derive(Parser)]
struct Args {
    #[command(flatten)]
    manager: Flags,
}

/// Changes the object, again and again.
async fn reconcile(widget: Arc<Widget>, client: Arc<Client>) -> kube::Result<Action> {
    let namespace = widget.namespace().unwrap_or_default();
    let api: Api<Widget> = Api::namespaced((*client).clone(), &namespace);
    tokio::time::sleep(Duration::from_millis(5)).await;
    let now = k8s_openapi::jiff::Timestamp::now().to_string();
    let patch = json!({"metadata": {"annotations": {"changed": now}}});
    api.patch(
        &widget.name_any(),
        &PatchParams::default(),
        &Patch::Merge(patch),
    )
    .await?;
    Ok(Action::requeue(Duration::from_millis(20)))
}

/// The operator. The test runs this binary again, with its flags in the environment.
#[test]
fn operator() {
    let Ok(flags) = env::var("TEST_OPERATOR_FLAGS") else {
        return;
    };
    let args = Args::parse_from(["operator"].into_iter().chain(flags.split(' ')));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let result = runtime.block_on(async {
        let manager = Manager::new(&OPTIONS, args.manager).await?;
        let mut controllers = Controllers::default();
        controllers.add(Controller::new("widgets", reconcile));
        let client = manager.client();
        manager.controllers(controllers, client).run().await
    });
    if let Err(error) = result {
        eprintln!("{error}");
        exit(1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_replica_changes_something_at_a_time() -> Result<()> {
    use Fault::*;
    let options = Options {
        audit_policy: Some(audit::POLICY.to_owned()),
        ..Options::default()
    };
    let cluster = Cluster::start_with(&options)?;
    cluster.install(crate::widget::crds()).await?;
    setup::permissions(&cluster.client()?).await?;

    let mut schedules = vec![
        Schedule::new(100, DEFAULT, &[Stop, Kill]),
        Schedule::new(101, DEFAULT, &[Revoke, Partition, Terminate]),
    ];
    schedules.extend((0..10).map(Schedule::random));
    let runs = schedules
        .into_iter()
        .map(|schedule| schedule::run(&cluster, schedule));
    let outcomes: Vec<Outcome> = stream::iter(runs).buffered(4).try_collect().await?;
    report(&outcomes);

    let mut stops: Vec<Duration> = Vec::new();
    for Outcome {
        schedule,
        verdict,
        crashes,
        stops: some,
        ..
    } in &outcomes
    {
        let Timing {
            lease,
            renew,
            retry,
        } = schedule.timing;
        let foreign = &verdict.foreign;
        ensure!(foreign.is_empty(), "{schedule:?}: {foreign:#?}");
        // What leaves in time is received a little later.
        let latest = renew + schedule.most_delay() + Duration::from_millis(500);
        ensure!(verdict.latest < latest, "{schedule:?}: {verdict:?}");
        ensure!(verdict.writes > 50, "{schedule:?}: {verdict:?}");
        // The machine may be busy with something else.
        let most = lease + retry + Duration::from_secs(3);
        ensure!(
            crashes.iter().all(|took| *took < most),
            "{schedule:?}: {crashes:?}"
        );
        stops.extend(some);
    }
    stops.sort();
    let median = stops.get(stops.len() / 2);
    ensure!(
        median.is_some_and(|took| *took < Duration::from_secs(1)),
        "{stops:?}"
    );
    Ok(())
}

fn report(outcomes: &[Outcome]) {
    println!(
        "{:>4} {:>5} {:<34} {:>6} {:>7} {:>4} {:>11} {:>13} {:>8} {:>8}",
        "seed",
        "lease",
        "faults",
        "writes",
        "leaders",
        "lost",
        "two leaders",
        "latest write",
        "crash",
        "stop"
    );
    let longest = |times: &[Duration]| {
        let longest = times.iter().max();
        longest.map_or_else(String::new, |time| format!("{time:.2?}"))
    };
    for outcome in outcomes {
        let (schedule, verdict) = (&outcome.schedule, &outcome.verdict);
        println!(
            "{:>4} {:>5} {:<34} {:>6} {:>7} {:>4} {:>11} {:>13} {:>8} {:>8}",
            schedule.seed,
            format!("{:?}", schedule.timing.lease),
            format!("{:?}", schedule.faults),
            verdict.writes,
            verdict.elections,
            outcome.lost,
            verdict.foreign.len(),
            format!("{:.2?}", verdict.latest),
            longest(&outcome.crashes),
            longest(&outcome.stops),
        );
    }
    let leaders = outcomes.iter().map(|outcome| outcome.verdict.foreign.len());
    let crashes: Vec<_> = outcomes
        .iter()
        .flat_map(|outcome| outcome.crashes.clone())
        .collect();
    let stops: Vec<_> = outcomes
        .iter()
        .flat_map(|outcome| outcome.stops.clone())
        .collect();
    println!(
        "{} schedules, {} changes beside a leader, longest fail-over {} after {} crashes, {} after {} stops",
        outcomes.len(),
        leaders.sum::<usize>(),
        longest(&crashes),
        crashes.len(),
        longest(&stops),
        stops.len(),
    );
}
