//! Replicas under faults, and the outcome.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use k8s_openapi::{
    api::{
        coordination::v1::Lease,
        core::v1::Namespace,
        events::v1::Event,
        rbac::v1::{Role, RoleBinding},
    },
    jiff::Timestamp,
};
use kube::{Api, Client, api::ListParams};
use operator_runtime::envtest::{Cluster, Options};
use serde_json::json;
use tokio::time::sleep;

use super::{
    OPTIONS, Timing,
    judge::{self, Verdict},
    replica::Replica,
};
use crate::{
    faults::{api_server::ApiServer, operator::get},
    leadership::{audit, proxy::Network, setup},
    widget::Widget,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// One more replica.
    Start,
    /// One replica less, in order.
    Terminate,
    /// A replica crashes.
    Kill,
    /// The leader crashes.
    KillLeader,
    /// A replica is paused for longer than the lease.
    Pause,
    /// A replica's network is cut for longer than the lease.
    Partition,
    /// A replica's network is cut for a moment.
    Flicker,
    /// Each message of a replica takes a while, less than the margin.
    Delay,
    /// A replica's connections are dead, without notice.
    HalfOpen,
    /// A replica's connections are reset, again and again.
    Reset,
    /// A replica's wall clock jumps by days.
    Step,
    /// The API server crashes, and is restarted.
    Restart,
}

use Fault::*;

const FAULTS: [Fault; 12] = [
    Start, Terminate, Kill, KillLeader, Pause, Partition, Flicker, Delay, HalfOpen, Reset, Step,
    Restart,
];

/// The objects of a schedule.
pub const OBJECTS: u16 = 40;

#[derive(Clone, Debug)]
pub struct Schedule {
    pub seed: u64,
    pub timing: Timing,
    /// The replicas at the start, and the most of them.
    pub replicas: usize,
    pub most: usize,
    pub faults: Vec<Fault>,
    /// The duration of random faults.
    pub time: Duration,
    /// The sizes of the objects, in turns.
    pub sizes: &'static [i32],
    /// What the logs contain before the end.
    pub until: &'static [&'static str],
}

#[derive(Debug)]
pub struct Outcome {
    pub schedule: Schedule,
    pub verdict: Verdict,
    /// How long the longest end of a replica took.
    pub longest_stop: Duration,
    /// The replicas at the end, and those that own a slot.
    pub replicas: usize,
    pub owners: usize,
    /// The Events of the assignment: their reasons and notes, in order.
    pub told: Vec<String>,
    /// What the replicas at the end say of their readiness.
    pub readiness: Vec<String>,
    /// The errors in all logs.
    pub errors: Vec<String>,
}

impl Schedule {
    pub fn new(seed: u64, timing: Timing, replicas: (usize, usize), faults: Vec<Fault>) -> Self {
        let (replicas, most) = replicas;
        Self {
            seed,
            timing,
            replicas,
            most,
            faults,
            time: Duration::ZERO,
            sizes: &[0],
            until: &[],
        }
    }
}

impl Outcome {
    /// Whether only owners wrote, no object rested for longer than `most`, and each replica has a share in the end.
    pub fn check(&self, most: Duration) -> Result<()> {
        let Verdict {
            writes,
            foreign,
            longest_rest,
            ..
        } = &self.verdict;
        ensure!(foreign.is_empty(), "{self:#?}");
        ensure!(*writes > usize::from(OBJECTS) * 10, "{self:#?}");
        ensure!(*longest_rest < most, "{self:#?}");
        ensure!(self.owners == self.replicas, "{self:#?}");
        ensure!(self.longest_stop < Duration::from_secs(25), "{self:#?}");
        Ok(())
    }
}

struct Run {
    cluster: Cluster,
    server: ApiServer,
    log: PathBuf,
    client: Client,
    namespace: String,
    timing: Timing,
    random: fastrand::Rng,
    replicas: Vec<Replica>,
    started: usize,
    stops: Vec<Duration>,
    /// Of replicas that have ended for ever.
    ended: String,
    outages: Vec<(Timestamp, Timestamp)>,
}

/// Runs replicas in a cluster of their own.
pub async fn run(mut schedule: Schedule) -> Result<Outcome> {
    let options = Options {
        audit_policy: Some(audit::POLICY.to_owned()),
        // The whole log is in one file.
        api_server_flags: vec!["--audit-log-maxsize=0".to_owned()],
        ..Options::default()
    };
    let cluster = Cluster::start_with(&options)?;
    cluster.install(crate::widget::crds()).await?;
    let client = cluster.client()?;
    setup::permissions(&client).await?;
    let namespace = format!("shards-{}", schedule.seed);
    let mut run = Run {
        server: ApiServer::of(&cluster)?,
        log: cluster.control_plane().audit_log(),
        cluster,
        client,
        namespace: namespace.clone(),
        timing: schedule.timing,
        random: fastrand::Rng::with_seed(schedule.seed),
        replicas: Vec::new(),
        started: 0,
        stops: Vec::new(),
        ended: String::new(),
        outages: Vec::new(),
    };
    run.set_up(schedule.sizes).await?;
    let result = run.all(&mut schedule).await;
    let logs = run.logs();
    if std::env::var_os("CHAOS_LOGS").is_some() {
        println!("{logs}");
    }
    result.with_context(|| format!("{schedule:?}\n{logs}"))?;
    let errors = logs.lines().filter(|line| line.contains(" ERROR "));
    let (told, readiness) = (run.told().await?, run.readiness().await?);
    Ok(Outcome {
        schedule,
        verdict: judge::judge(&run.log, &namespace, &run.outages)?,
        longest_stop: run.stops.into_iter().max().unwrap_or_default(),
        replicas: run.replicas.len(),
        owners: judge::last_owners(&run.log, &namespace)?.len(),
        told,
        readiness,
        errors: errors.map(str::to_owned).collect(),
    })
}

impl Run {
    async fn set_up(&self, sizes: &[i32]) -> Result<()> {
        let (client, namespace) = (self.client.clone(), self.namespace.as_str());
        let metadata = json!({"metadata": {"name": namespace}});
        setup::apply::<Namespace>(&Api::all(client.clone()), metadata).await?;
        let role = setup::role(OPTIONS.name, true)?;
        let role = json!({"metadata": {"name": "shards"}, "rules": role["rules"]});
        let binding = json!({
            "metadata": {"name": "shards"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "shards"},
            "subjects": [{
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "Group",
                "name": format!("system:serviceaccounts:{namespace}"),
            }],
        });
        setup::apply::<Role>(&Api::namespaced(client.clone(), namespace), role).await?;
        setup::apply::<RoleBinding>(&Api::namespaced(client.clone(), namespace), binding).await?;
        let widgets: Api<Widget> = Api::namespaced(client, namespace);
        for (number, size) in (0..OBJECTS).zip(sizes.iter().cycle()) {
            let widget =
                json!({"metadata": {"name": format!("w{number}")}, "spec": {"size": size}});
            setup::apply(&widgets, widget).await?;
        }
        Ok(())
    }

    async fn told(&self) -> Result<Vec<String>> {
        let events: Api<Event> = Api::namespaced(self.client.clone(), &self.namespace);
        let mut events = events.list(&ListParams::default()).await?.items;
        events.retain(|event| {
            let regarding = event.regarding.as_ref();
            let name = regarding.and_then(|it| it.name.clone()).unwrap_or_default();
            name == format!("{}-shards", OPTIONS.name)
        });
        events.sort_by_key(|event| event.event_time.clone().map(|time| time.0));
        let text = |event: Event| {
            let [reason, note] = [event.reason, event.note].map(Option::unwrap_or_default);
            format!("{reason}: {note}")
        };
        Ok(events.into_iter().map(text).collect())
    }

    async fn readiness(&self) -> Result<Vec<String>> {
        let mut all = Vec::new();
        for replica in &self.replicas {
            all.push(get(replica.health, "/readyz?verbose").await?);
        }
        Ok(all)
    }

    async fn all(&mut self, schedule: &mut Schedule) -> Result<()> {
        let begin = Instant::now();
        for _ in 0..schedule.replicas {
            self.start().await?;
        }
        for number in 0.. {
            if number == schedule.faults.len() && begin.elapsed() < schedule.time {
                let fault = FAULTS[self.random.usize(..FAULTS.len())];
                schedule.faults.push(fault);
            }
            let Some(fault) = schedule.faults.get(number).copied() else {
                break;
            };
            // One fault after the other: two in a row may hit the old owner of a slot and the new one.
            self.settle().await?;
            let pause = self.random.f64();
            self.watch(Duration::from_secs(1).mul_f64(pause)).await?;
            self.fault(fault, schedule).await?;
        }
        self.settle().await?;
        let begin = Instant::now();
        let mut missing = schedule.until.to_vec();
        while !missing.is_empty() {
            ensure!(begin.elapsed() < Duration::from_secs(60), "no {missing:?}");
            self.watch(Duration::from_millis(200)).await?;
            let logs = self.logs();
            missing.retain(|text| !logs.contains(text));
        }
        self.watch(Duration::from_secs(1)).await
    }

    /// The logs of all replicas.
    fn logs(&self) -> String {
        let log = |replica: &Replica| format!("--- {}\n{}", replica.name, replica.log());
        let logs = self.replicas.iter().map(log);
        [self.ended.clone()].into_iter().chain(logs).collect()
    }

    async fn start(&mut self) -> Result<()> {
        let name = format!("{}-{}", self.namespace, self.started);
        self.started += 1;
        let replica = Replica::start(&self.cluster, &self.namespace, name, self.timing).await?;
        self.replicas.push(replica);
        Ok(())
    }

    async fn fault(&mut self, fault: Fault, schedule: &Schedule) -> Result<()> {
        let (lease, fraction) = (self.timing.lease, self.random.f64());
        let works = Network::Works(Duration::ZERO);
        let victim = match fault {
            KillLeader => self.leader().await?,
            _ => self.random.usize(..self.replicas.len()),
        };
        match fault {
            Start if self.replicas.len() < schedule.most => {
                self.start().await?;
            }
            // One replica alone cannot be replaced.
            Terminate if self.replicas.len() > 2.min(schedule.replicas) => {
                let mut replica = self.replicas.remove(victim);
                self.stops.push(replica.stop().await?);
                self.ended.push_str(&replica.log());
            }
            Start | Terminate => {}
            Kill | KillLeader => {
                self.replicas[victim].signal("KILL")?;
                self.watch(lease.mul_f64(1.0 + fraction)).await?;
            }
            Pause => {
                self.replicas[victim].signal("STOP")?;
                self.watch(lease.mul_f64(1.2 + fraction)).await?;
                self.replicas[victim].signal("CONT")?;
                self.watch(Duration::from_secs(2)).await?;
            }
            Partition => {
                self.replicas[victim].proxy.set(Network::Cut);
                self.watch(lease.mul_f64(1.3 + fraction / 2.0)).await?;
                self.replicas[victim].proxy.set(works);
            }
            Flicker | Delay | HalfOpen | Reset => {
                let margin = self.timing.lease - self.timing.renew;
                for _ in 0..4 {
                    let proxy = &self.replicas[victim].proxy;
                    match fault {
                        Flicker => proxy.set(Network::Cut),
                        Delay => proxy.set(Network::Works(margin.mul_f64(0.7 * fraction))),
                        HalfOpen => proxy.strand(),
                        _ => proxy.reset(),
                    }
                    self.watch(lease.mul_f64(0.2)).await?;
                    if fault == Flicker {
                        self.replicas[victim].proxy.set(works);
                        self.watch(lease.mul_f64(0.2)).await?;
                    }
                }
                let replica = &self.replicas[victim];
                replica.proxy.set(works);
                replica.proxy.reset();
            }
            Step => {
                let days = [-400, -1, 0, 1, 400][self.random.usize(..5)];
                self.replicas[victim].clock.set(days)?;
                self.watch(lease.mul_f64(1.2)).await?;
            }
            Restart => {
                let begin = Timestamp::now();
                self.server.signal("KILL")?;
                self.watch(lease.mul_f64(1.2 * fraction)).await?;
                audit::end_line(&self.log)?;
                self.server.start()?;
                self.until_the_api_server_is_ready().await?;
                self.outages.push((begin, Timestamp::now()));
            }
        }
        Ok(())
    }

    async fn until_the_api_server_is_ready(&mut self) -> Result<()> {
        let begin = Instant::now();
        loop {
            let request = http::Request::get("/readyz").body(Vec::new())?;
            let Err(error) = self.client.request_text(request).await else {
                return Ok(());
            };
            ensure!(begin.elapsed() < Duration::from_secs(60), "{error}");
            self.watch(Duration::from_millis(50)).await?;
        }
    }

    /// The number of the replica that leads.
    async fn leader(&mut self) -> Result<usize> {
        let leases: Api<Lease> = Api::namespaced(self.client.clone(), &self.namespace);
        let begin = Instant::now();
        loop {
            let lease = leases.get_opt(OPTIONS.name).await?;
            let spec = lease.and_then(|lease| lease.spec);
            let holder = spec
                .and_then(|spec| spec.holder_identity)
                .unwrap_or_default();
            let user = holder.split('_').next();
            if let Some(leader) = self.replicas.iter().position(|it| user == Some(&it.name)) {
                return Ok(leader);
            }
            ensure!(
                begin.elapsed() < Duration::from_secs(60),
                "no replica leads"
            );
            self.watch(Duration::from_millis(50)).await?;
        }
    }

    /// Waits until each replica has its share.
    async fn settle(&mut self) -> Result<()> {
        let begin = Instant::now();
        let mut names: Vec<_> = self.replicas.iter().map(|it| it.name.clone()).collect();
        names.sort();
        loop {
            let owners = judge::last_owners(&self.log, &self.namespace)?;
            if owners.iter().eq(&names) {
                return Ok(());
            }
            ensure!(
                begin.elapsed() < Duration::from_secs(60),
                "{owners:?} own slots, not {names:?}"
            );
            self.watch(Duration::from_millis(200)).await?;
        }
    }

    /// Lets the replicas run for a time; restarts them when they end.
    async fn watch(&mut self, time: Duration) -> Result<()> {
        let begin = Instant::now();
        loop {
            for replica in &mut self.replicas {
                replica.supervise()?;
            }
            let Some(rest) = time.checked_sub(begin.elapsed()) else {
                return Ok(());
            };
            sleep(rest.min(Duration::from_millis(50))).await;
        }
    }
}
