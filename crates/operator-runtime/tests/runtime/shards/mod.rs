//! Several active replicas that share the objects, against a real API server, with real processes and a faulty
//! network.
//!
//! The judge reads the audit log: who owned an object's slot when its write was accepted, in the order of etcd.

mod judge;
mod replica;
mod schedule;

use std::{env, process::exit, sync::Arc, time::Duration};

use anyhow::{Context as _, Result, ensure};
use clap::Parser;
use kube::{
    Api, Client, ResourceExt,
    api::{Patch, PatchParams},
};
use operator_runtime::{
    Action, Controller, Controllers, Flags, Manager, ManagerOptions, ShardKey, WatchScope,
};
use serde_json::json;

use crate::{
    leadership::plan::{DEFAULT, Timing},
    widget::Widget,
};
use schedule::{Fault, OBJECTS, Schedule};

const OPTIONS: ManagerOptions = ManagerOptions {
    name: "shards.example.com",
    scope: WatchScope::Cluster,
};

#[derive(Parser)]
struct Args {
    #[command(flatten)]
    manager: Flags,
}

/// The time between two writes of an object.
const PAUSE: Duration = Duration::from_millis(200);

/// The size of an object whose reconcile ends with its first write that is refused; and that of one that panics then.
const ENDLESS: i32 = 1;
const PANICS: i32 = 2;

/// The reason in the log of a panic.
const PANIC: &str = "reason=\"Panic\"";

async fn reconcile(widget: Arc<Widget>, client: Arc<Client>) -> kube::Result<Action> {
    let namespace = widget.namespace().unwrap_or_default();
    let api: Api<Widget> = Api::namespaced((*client).clone(), &namespace);
    loop {
        tokio::time::sleep(Duration::from_millis(5)).await;
        let now = k8s_openapi::jiff::Timestamp::now().to_string();
        let patch = Patch::Merge(json!({"metadata": {"annotations": {"changed": now}}}));
        let params = PatchParams::default();
        let written = api.patch(&widget.name_any(), &params, &patch).await;
        match (widget.spec.size, written) {
            (PANICS, Err(error)) => panic!("{error}"),
            (_, Err(error)) => return Err(error),
            (ENDLESS | PANICS, Ok(_)) => tokio::time::sleep(PAUSE).await,
            (_, Ok(_)) => return Ok(Action::requeue(PAUSE)),
        }
    }
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
        let controller = Controller::new("widgets", reconcile).sharded(ShardKey::uid());
        controllers.add(controller.concurrency(OBJECTS));
        let client = manager.client();
        manager.controllers(controllers, client).run().await
    });
    if let Err(error) = result {
        eprintln!("{error}");
        exit(1);
    }
}

/// How long an object may rest. Beside other tests, each step may take several times as long as on a machine of its own, which
/// `make shards` needs.
fn longest_rest(alone: Duration) -> Duration {
    match env::var_os("CHAOS_MINUTES") {
        Some(_) => alone,
        None => alone * 4,
    }
}

/// A number in the environment.
fn number(name: &str) -> Result<Option<f64>> {
    let text = env::var(name).ok();
    let number = text.map(|text| text.parse()).transpose();
    number.with_context(|| format!("{name} is no number"))
}

/// The replicas of a test, at most.
fn replicas() -> Result<usize> {
    let replicas = number("CHAOS_REPLICAS")?.unwrap_or(3.0) as usize;
    ensure!(replicas > 1, "CHAOS_REPLICAS is less than 2");
    Ok(replicas)
}

/// Replicas come and go, one by one, and no object rests. All slots
/// move to the first one; and then, from N to N + 1 or back, one in N + 1.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rolling_update_lets_no_object_rest() -> Result<()> {
    use Fault::*;
    let most = replicas()?;
    let (up, down) = (vec![Start; most - 1], vec![Terminate; most - 1]);
    let faults = [up, vec![Terminate, Start], down].concat();
    let outcome = schedule::run(Schedule::new(1, DEFAULT, (1, most), faults)).await?;
    println!("{outcome:#?}");
    let once: usize = (2..=most).map(|replicas| 64usize.div_ceil(replicas)).sum();
    let moves = 64 + 2 * (once + 64usize.div_ceil(most));
    ensure!(outcome.verdict.moves <= moves, "{moves}: {outcome:#?}");
    outcome.check(longest_rest(Duration::from_secs(3)))?;
    let has_told = |text: &str| outcome.told.iter().any(|told| told.contains(text));
    for text in [
        "SlotsDealt: 64 of 64 slots move: shards-1-0 joins and gets 64",
        "SlotsDealt: 32 of 64 slots move: shards-1-0 has 32 in place of 64, shards-1-1 joins and gets 32",
        " leaves and had ",
    ] {
        ensure!(has_told(text), "{text}: {outcome:#?}");
    }
    // One for each owner that gives slots, and not one for each slot.
    ensure!(
        outcome.told.len() < outcome.verdict.moves / 4,
        "{outcome:#?}"
    );
    let is_ready = |text: &String| text.contains("[+]shards ok\n");
    ensure!(outcome.readiness.iter().all(is_ready), "{outcome:#?}");
    ensure!(outcome.errors.is_empty(), "{outcome:#?}");
    Ok(())
}

/// A reconcile that runs for longer than a slot waits for it is given up, which is no error; its panic is one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reconcile_that_has_lost_its_slot_is_given_up() -> Result<()> {
    let mut schedule = Schedule::new(2, DEFAULT, (1, 2), vec![Fault::Start]);
    schedule.sizes = &[ENDLESS, PANICS];
    schedule.until = &["given up: the object has another owner", PANIC];
    let outcome = schedule::run(schedule).await?;
    ensure!(outcome.verdict.foreign.is_empty(), "{outcome:#?}");
    let is_panic = |error: &String| error.contains(PANIC) || error.contains("panic: ");
    ensure!(outcome.errors.iter().all(is_panic), "{outcome:#?}");
    Ok(())
}

/// Each fault once, and then, for `CHAOS_MINUTES`, random ones.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chaos() -> Result<()> {
    use Fault::*;
    let minutes = number("CHAOS_MINUTES")?.unwrap_or_default();
    // Beside other tests, an API server may take seconds for an answer: not so many that every lease is lost.
    let lease = number("CHAOS_LEASE")?.unwrap_or(6.0);
    let timing = DEFAULT.with_lease(Duration::from_secs_f64(lease));
    let replicas = replicas()?;
    let seed =
        number("CHAOS_SEED")?.map_or_else(|| fastrand::u64(1000..10_000), |seed| seed as u64);
    let faults = vec![Kill, Pause, Step, Partition, Terminate, KillLeader];
    let mut schedule = Schedule::new(seed, timing, (replicas, replicas + 2), faults);
    schedule.time = Duration::from_secs(60).mul_f64(minutes);
    let outcome = schedule::run(schedule).await?;
    println!("{outcome:#?}");
    let most = outcome.schedule.timing.lease + Duration::from_secs(5);
    outcome.check(longest_rest(most))
}
