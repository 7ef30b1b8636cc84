//! Two replicas under the faults of a schedule, and the outcome.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use k8s_openapi::{
    api::coordination::v1::{Lease, LeaseSpec},
    jiff::Timestamp,
};
use kube::{Api, Client};
use tokio::time::sleep;

use super::{
    audit::{self, Verdict},
    plan::{Fault, Fault::*, Schedule},
    proxy::Network,
    replica::Replica,
    reviews::{Answers, Phase},
    setup::{self, LEASE},
};
use crate::faults::api_server::ApiServer;
use operator_runtime::envtest::Cluster;

/// The outcome of one schedule.
#[derive(Debug)]
pub struct Outcome {
    pub schedule: Schedule,
    pub verdict: Verdict,
    pub reviews: Answers,
    /// Processes that ended because leadership was lost.
    pub lost: usize,
    /// From the end of a leader to the first write of the next one.
    pub crashes: Vec<Duration>,
    pub stops: Vec<Duration>,
    /// From the readiness of the API server to the first write.
    pub restarts: Vec<Duration>,
}

struct Run {
    server: ApiServer,
    log: PathBuf,
    client: Client,
    namespace: String,
    schedule: Schedule,
    leases: Api<Lease>,
    replicas: Vec<Replica>,
    ends: Vec<(Fault, Timestamp)>,
}

/// Runs two replicas in a namespace of their own.
pub async fn run(cluster: &Cluster, schedule: Schedule) -> Result<Outcome> {
    let namespace = format!("schedule-{}", schedule.seed);
    let client = cluster.client()?;
    let replicas = setup::replicas(cluster, &namespace, &schedule).await?;
    let mut run = Run {
        server: ApiServer::of(cluster)?,
        log: cluster.control_plane().audit_log(),
        leases: Api::namespaced(client.clone(), &namespace),
        client,
        namespace: namespace.clone(),
        schedule,
        replicas,
        ends: Vec::new(),
    };
    let result = run.all().await;
    let logs = || {
        let log = |replica: &Replica| format!("--- {}\n{}", replica.name, replica.log());
        run.replicas.iter().map(log).collect::<String>()
    };
    result.with_context(|| format!("{:?}\n{}", run.schedule, logs()))?;

    let changes = audit::changes(&run.log, &namespace)?;
    let verdict = audit::judge(&changes);
    let (mut reviews, terms) = (Answers::default(), audit::terms(&changes));
    for replica in &run.replicas {
        reviews.add(&replica.name, &replica.asker.made(), &terms);
    }
    let mut outcome = Outcome {
        schedule: run.schedule.clone(),
        verdict,
        reviews,
        lost: 0,
        crashes: Vec::new(),
        stops: Vec::new(),
        restarts: Vec::new(),
    };
    for (fault, at) in &run.ends {
        let before = changes.first().is_some_and(|first| first.answered < *at);
        ensure!(before, "{fault:?} took the audit log with it");
        let next = match fault {
            Restart => audit::first_write(&changes, *at),
            _ => audit::first_write_of_next(&changes, *at),
        };
        let next = next.with_context(|| format!("no replica leads after {fault:?}\n{}", logs()))?;
        let took = audit::between(*at, next);
        match fault {
            Kill => outcome.crashes.push(took),
            Restart => outcome.restarts.push(took),
            _ => outcome.stops.push(took),
        }
    }
    for replica in &run.replicas {
        for status in &replica.exits {
            let lost = status.code() == Some(1);
            // 0 after SIGTERM; without a code, it was killed.
            ensure!(
                lost || matches!(status.code(), Some(0) | None),
                "{status}\n{}",
                logs()
            );
            outcome.lost += usize::from(lost);
        }
    }
    Ok(outcome)
}

impl Run {
    async fn all(&mut self) -> Result<()> {
        let begin = Instant::now();
        for number in 0.. {
            let Some(fault) = self.schedule.fault(number, begin.elapsed()) else {
                break;
            };
            let leader = self.leader().await?;
            let pause = Duration::from_secs(1).mul_f64(self.schedule.fraction());
            self.watch(pause).await?;
            self.fault(fault, leader).await?;
        }
        let leader = self.leader().await?;
        self.watch(Duration::from_secs(1)).await?;
        self.enter(Phase::Ends);
        // The leader last, so that no replica starts to lead while it is stopping.
        self.replicas[1 - leader].stop().await?;
        self.replicas[leader].stop().await
    }

    /// One in five faults hits the follower.
    async fn fault(&mut self, fault: Fault, leader: usize) -> Result<()> {
        let lease = self.schedule.timing.lease;
        let fraction = self.schedule.fraction();
        let leads = self.schedule.fraction() >= 0.2 || fault == Revoke;
        let victim = if leads { leader } else { 1 - leader };
        let works = Network::Works(Duration::ZERO);
        let exits = self.replicas[victim].exits.len();
        let replica = &self.replicas[victim];
        match fault {
            Partition => {
                replica.asker.enter(Phase::CutOff);
                replica.proxy.set(Network::Cut);
                self.watch(lease.mul_f64(1.3 + fraction / 2.0)).await?;
                let replica = &self.replicas[victim];
                replica.proxy.set(works);
                replica.asker.enter(Phase::Reconnects);
            }
            Flicker | Delay | HalfOpen | Reset => {
                replica.asker.enter(Phase::CutOff);
                let most = self.schedule.most_delay();
                for _ in 0..4 {
                    let proxy = &self.replicas[victim].proxy;
                    match fault {
                        Flicker => proxy.set(Network::Cut),
                        Delay => proxy.set(Network::Works(most.mul_f64(fraction))),
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
                // Hanging calls would keep the process from stopping.
                replica.proxy.reset();
                replica.asker.enter(Phase::Reconnects);
            }
            Revoke => {
                let (all, one) = (self.users(|_| true), self.users(|number| number != leader));
                setup::allow_election(&self.client, &self.namespace, &one).await?;
                self.watch(lease.mul_f64(1.1)).await?;
                setup::allow_election(&self.client, &self.namespace, &all).await?;
            }
            Stop => {
                replica.asker.enter(Phase::Ends);
                replica.signal("STOP")?;
                self.watch(lease.mul_f64(1.2 + fraction)).await?;
                let replica = &self.replicas[victim];
                replica.signal("CONT")?;
                if !leads {
                    replica.asker.enter(Phase::Reconnects);
                }
                self.watch(Duration::from_secs(2)).await?;
            }
            Kill | Terminate => {
                if leads {
                    self.ends.push((fault, Timestamp::now()));
                }
                replica.asker.enter(Phase::Ends);
                let (signal, time) = match fault {
                    Kill => ("KILL", lease),
                    _ => ("TERM", Duration::from_secs(1)),
                };
                replica.signal(signal)?;
                self.watch(time).await?;
            }
            Restart => {
                self.enter(Phase::CutOff);
                self.server.signal("KILL")?;
                self.watch(lease.mul_f64(1.2 * fraction)).await?;
                audit::end_line(&self.log)?;
                self.server.start()?;
                self.until_the_api_server_is_ready().await?;
                self.ends.push((fault, Timestamp::now()));
                self.enter(Phase::Reconnects);
            }
        }
        ensure!(
            !(leads && matches!(fault, Partition | Revoke | Stop))
                || self.replicas[victim].exits.len() > exits,
            "still there after its deadline: {}",
            self.replicas[victim].name
        );
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

    fn enter(&self, phase: Phase) {
        for replica in &self.replicas {
            replica.asker.enter(phase);
        }
    }

    fn users(&self, which: impl Fn(usize) -> bool) -> Vec<String> {
        let replicas = self.replicas.iter().enumerate();
        let users = replicas.filter(|(number, _)| which(*number));
        users.map(|(_, replica)| replica.name.clone()).collect()
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

    /// Waits until a replica leads and renews, and both have run for a while and answer reviews, including
    /// the follower, as in a rollout.
    async fn leader(&mut self) -> Result<usize> {
        let begin = Instant::now();
        let mut first: Option<LeaseSpec> = None;
        while begin.elapsed() < Duration::from_secs(90) {
            self.watch(Duration::from_millis(50)).await?;
            let lease = self.leases.get_opt(LEASE).await?;
            let Some(spec) = lease.and_then(|lease| lease.spec) else {
                continue;
            };
            let holder = spec.holder_identity.clone().unwrap_or_default();
            first.take_if(|first| first.holder_identity != spec.holder_identity);
            if first.is_none() {
                first = Some(spec);
                continue;
            }
            let renewed = first
                .as_ref()
                .is_some_and(|first| first.renew_time < spec.renew_time);
            let settled = |replica: &Replica| {
                replica.age() > Duration::from_secs(2) && replica.asker.phase() == Phase::Serves
            };
            let is_holder = |replica: &Replica| holder.split('_').next() == Some(&replica.name);
            if renewed
                && self.replicas.iter().all(settled)
                && let Some(leader) = self.replicas.iter().position(is_holder)
            {
                return Ok(leader);
            }
        }
        bail!("no replica leads, or one is not ready or answers no review")
    }
}
