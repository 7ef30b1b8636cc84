//! Leader election against a real API server, with real processes, and a faulty network.
//!
//! The tests check the writes that the API server accepted, in order: no write by a replica after another
//! one acquired the lease. They also check the responses of each replica's webhooks, in leaders and
//! followers.

pub(crate) mod audit;
pub(crate) mod plan;
pub(crate) mod process;
pub(crate) mod proxy;
mod replica;
mod reviews;
mod schedule;
pub(crate) mod setup;

use std::{collections::BTreeMap, env, process::exit, sync::Arc, time::Duration};

use anyhow::{Context as _, Result, ensure};
use clap::Parser;
use futures::{StreamExt, TryStreamExt, future::try_join_all, stream};
use k8s_openapi::api::authorization::v1::SelfSubjectAccessReview;
use kube::{
    Api, Client, ResourceExt,
    api::{Patch, PatchParams, PostParams},
    runtime::{controller, watcher},
};
use operator_runtime::{
    Action, Controller, Controllers, Flags, Manager, ManagerOptions, WatchScope,
    envtest::{Cluster, Options},
    webhook::{Change, Denied, Request, Webhook, Webhooks},
};
use serde_json::{from_value, json};

use crate::widget::Widget;
use plan::{DEFAULT, Fault, SHORT, Schedule, Timing};
use reviews::Count;
use schedule::Outcome;

const OPTIONS: ManagerOptions = ManagerOptions {
    name: "leadership.example.com",
    scope: WatchScope::Cluster,
};

#[derive(Parser)]
struct Args {
    #[command(flatten)]
    manager: Flags,
}

/// The time between two writes of an object.
const PAUSE: Duration = Duration::from_millis(20);

/// Changes the object, again and again.
async fn reconcile(widget: Arc<Widget>, client: Arc<Client>) -> kube::Result<Action> {
    change(&widget, &client).await?;
    Ok(Action::requeue(PAUSE))
}

/// The same for kube's `Controller`.
async fn reconcile_by_kube(
    widget: Arc<Widget>,
    client: Arc<Client>,
) -> kube::Result<controller::Action> {
    change(&widget, &client).await?;
    Ok(controller::Action::requeue(PAUSE))
}

fn again(_: Arc<Widget>, _: &kube::Error, _: Arc<Client>) -> controller::Action {
    controller::Action::requeue(PAUSE)
}

async fn change(widget: &Widget, client: &Client) -> kube::Result<()> {
    let namespace = widget.namespace().unwrap_or_default();
    let api: Api<Widget> = Api::namespaced(client.clone(), &namespace);
    tokio::time::sleep(Duration::from_millis(5)).await;
    let now = k8s_openapi::jiff::Timestamp::now().to_string();
    let patch = json!({"metadata": {"annotations": {"changed": now}}});
    api.patch(
        &widget.name_any(),
        &PatchParams::default(),
        &Patch::Merge(patch),
    )
    .await?;
    Ok(())
}

/// Allows the object after a write of its own: it creates a review, which every replica must be able to do.
async fn validate(_: &Change<Widget>, _: &Request, client: &Client) -> Result<(), Denied> {
    let attributes = json!({"verb": "get", "resource": "pods"});
    let create = async {
        let review: SelfSubjectAccessReview =
            from_value(json!({"spec": {"resourceAttributes": attributes}}))?;
        let api = Api::all(client.clone());
        anyhow::Ok(api.create(&PostParams::default(), &review).await?)
    };
    let created = create.await;
    created
        .map(|_| ())
        .map_err(|error| Denied::forbidden(format!("{error:#}")))
}

/// The operator. The test runs this binary again, with its flags in the environment.
#[test]
fn operator() {
    run(|manager, _| {
        let mut controllers = Controllers::default();
        controllers.add(Controller::new("widgets", reconcile));
        let client = manager.client();
        manager.controllers(controllers, client)
    });
}

/// The same operator with kube's own `Controller`.
#[test]
fn operator_of_kube() {
    run(|manager, namespace| {
        let client = manager.client();
        let objects: Api<Widget> = Api::namespaced(client.clone(), namespace);
        manager.task("widgets", |stop| async move {
            controller::Controller::new(objects, watcher::Config::default())
                .graceful_shutdown_on(stop.cancelled_owned())
                .run(reconcile_by_kube, again, Arc::new(client))
                .for_each(|_| async {})
                .await;
            Ok(())
        })
    });
}

/// Runs with the flags in the environment; does nothing unless the test has started this process.
fn run(with: impl FnOnce(Manager, &str) -> Manager) {
    let Ok(flags) = env::var("TEST_OPERATOR_FLAGS") else {
        return;
    };
    let namespace = flags
        .split(' ')
        .find_map(|flag| flag.strip_prefix("--watch-namespace="));
    let args = Args::parse_from(["operator"].into_iter().chain(flags.split(' ')));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let result = runtime.block_on(async {
        let manager = Manager::new(&OPTIONS, args.manager).await?;
        let mut webhooks = Webhooks::default();
        webhooks.add(Webhook::validating(validate));
        let client = manager.client();
        let manager = manager.webhooks(webhooks, client);
        with(manager, namespace.unwrap_or_default()).run().await
    });
    if let Err(error) = result {
        eprintln!("{error}");
        exit(1);
    }
}

async fn cluster() -> Result<Cluster> {
    let options = Options {
        audit_policy: Some(audit::POLICY.to_owned()),
        // The whole log is in one file.
        api_server_flags: vec!["--audit-log-maxsize=0".to_owned()],
        ..Options::default()
    };
    let cluster = Cluster::start_with(&options)?;
    cluster.install(crate::widget::crds()).await?;
    setup::permissions(&cluster.client()?).await?;
    Ok(cluster)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_one_replica_writes_at_a_time() -> Result<()> {
    use Fault::*;
    let cluster = cluster().await?;
    // Seeds whose faults all hit the leader.
    let mut schedules = vec![
        Schedule::new(102, DEFAULT, &[Stop, Kill]),
        Schedule::new(103, DEFAULT, &[Revoke, Partition, Terminate]),
        Schedule::new(104, SHORT, &[Stop, Partition, Revoke, Kill, Terminate]).of_kube(),
    ];
    schedules.extend((0..3).map(Schedule::random));
    let runs = schedules
        .into_iter()
        .map(|schedule| schedule::run(&cluster, schedule));
    let outcomes: Vec<Outcome> = stream::iter(runs).buffered(4).try_collect().await?;
    report(&outcomes);
    check(&outcomes)
}

/// The API server is killed and comes back; then, for `CHAOS_MINUTES`, random faults follow.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chaos() -> Result<()> {
    let minutes: f64 = match env::var("CHAOS_MINUTES") {
        Ok(minutes) => minutes.parse().context("CHAOS_MINUTES is no number")?,
        Err(_) => 0.0,
    };
    let timings: &[Timing] = if minutes > 0.0 {
        &[SHORT, DEFAULT]
    } else {
        &[SHORT]
    };
    let runs = timings.iter().map(async |timing| {
        let mut schedule = Schedule::new(fastrand::u64(1000..10_000), *timing, &[Fault::Restart]);
        schedule.time = Duration::from_secs(60).mul_f64(minutes);
        schedule::run(&cluster().await?, schedule).await
    });
    let outcomes = try_join_all(runs).await?;
    report(&outcomes);
    check(&outcomes)
}

fn check(outcomes: &[Outcome]) -> Result<()> {
    let mut stops: Vec<Duration> = Vec::new();
    for Outcome {
        schedule,
        verdict,
        reviews,
        crashes,
        stops: some,
        ..
    } in outcomes
    {
        let Timing {
            lease,
            renew,
            retry,
        } = schedule.timing;
        let foreign = &verdict.foreign;
        ensure!(foreign.is_empty(), "{schedule:?}: {foreign:#?}");
        // A request that leaves in time is received a little later.
        let latest = renew + schedule.most_delay() + Duration::from_millis(500);
        ensure!(verdict.latest < latest, "{schedule:?}: {verdict:?}");
        // Enough to see something; how many there are depends on the machine.
        ensure!(verdict.writes > 10, "{schedule:?}: {verdict:?}");
        let refused = &reviews.refused;
        ensure!(refused.is_empty(), "{schedule:?}: {refused:#?}");
        let answered = reviews.followers.allowed.min(reviews.leaders.allowed);
        ensure!(answered > 10, "{schedule:?}: {reviews:?}");
        // The machine may be busy.
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
        median.is_none_or(|took| *took < Duration::from_secs(1)),
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
        let faults = match schedule.faults.len() {
            many @ 4.. => format!("{many}"),
            _ => format!("{:?}", schedule.faults),
        };
        println!(
            "{:>4} {:>5} {faults:<34} {:>6} {:>7} {:>4} {:>11} {:>13} {:>8} {:>8}",
            schedule.seed,
            format!("{:?}", schedule.timing.lease),
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
    let times = |of: fn(&Outcome) -> &Vec<Duration>| -> Vec<Duration> {
        outcomes.iter().flat_map(of).copied().collect()
    };
    let crashes = times(|outcome| &outcome.crashes);
    let stops = times(|outcome| &outcome.stops);
    let restarts = times(|outcome| &outcome.restarts);
    println!(
        "{} schedules, {} changes beside a leader, longest fail-over {} after {} crashes, {} after {} stops; \
         changes go on {} after {} restarts of the API server",
        outcomes.len(),
        leaders.sum::<usize>(),
        longest(&crashes),
        crashes.len(),
        longest(&stops),
        stops.len(),
        longest(&restarts),
        restarts.len(),
    );
    let mut faults = BTreeMap::<Fault, usize>::new();
    for fault in outcomes.iter().flat_map(|outcome| &outcome.schedule.faults) {
        *faults.entry(*fault).or_default() += 1;
    }
    println!("faults: {faults:?}");
    let reviews = outcomes.iter().map(|outcome| &outcome.reviews);
    let refused = reviews.clone().map(|reviews| reviews.refused.len());
    let followers = reviews.clone().map(|reviews| reviews.followers);
    let leaders = reviews.map(|reviews| reviews.leaders);
    for (role, sum) in [
        ("followers", followers.sum::<Count>()),
        ("leaders", leaders.sum::<Count>()),
    ] {
        println!("reviews by {role}: {sum:?}");
    }
    println!("reviews refused: {}", refused.sum::<usize>());
}
