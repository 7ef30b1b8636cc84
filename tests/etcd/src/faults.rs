//! Faults under load: while clients write and read, something breaks, and perhaps the cluster changes, too.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{
    operations::{
        apply, backup, client, cluster, eventually, get, kill_component, kill_operator, kubectl,
        leader, lose_disk, members, partition, patch, ready, reason, restore, settled, signal,
    },
    workload::{Entry, KEY, Outcome, Workload},
};

const PATIENCE: Duration = Duration::from_secs(180);

/// How often a process is killed, as long as the change takes.
const KILLS: u32 = 3;

/// What breaks.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    Nothing,
    KillLeader,
    KillFollower,
    KillOperator,
    KillLeaderAndOperator,
    PauseLeader,
    PartitionLeader,
    LoseDisk,
    RestartApiServer,
}

/// What the user asks for meanwhile.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Change {
    Nothing,
    Grow,
    Shrink,
    Upgrade,
    Backup,
    /// From a snapshot, after the majority of the disks was lost.
    Restore,
}

const FAULTS: [Fault; 9] = [
    Fault::Nothing,
    Fault::KillLeader,
    Fault::KillFollower,
    Fault::KillOperator,
    Fault::KillLeaderAndOperator,
    Fault::PauseLeader,
    Fault::PartitionLeader,
    Fault::LoseDisk,
    Fault::RestartApiServer,
];

const CHANGES: [Change; 6] = [
    Change::Nothing,
    Change::Grow,
    Change::Shrink,
    Change::Upgrade,
    Change::Backup,
    Change::Restore,
];

impl Fault {
    fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::KillLeader => "kill -9 of the leader",
            Self::KillFollower => "kill -9 of a follower",
            Self::KillOperator => "kill -9 of the operator",
            Self::KillLeaderAndOperator => "kill -9 of leader and operator",
            Self::PauseLeader => "leader paused for 5 s",
            Self::PartitionLeader => "leader cut off for 5 s",
            Self::LoseDisk => "disk of the leader lost",
            Self::RestartApiServer => "kill -9 of the API server",
        }
    }

    /// Whether it can happen in a change. A cluster that is being restored has one member, and no other copy of its data.
    fn makes_sense_in(self, change: Change) -> bool {
        let needs_others = matches!(
            self,
            Self::KillFollower | Self::PartitionLeader | Self::LoseDisk
        );
        change != Change::Restore || !needs_others
    }

    /// Lets it happen; kills happen several times.
    async fn strike(self, cluster: &str, change: Change) -> Result<()> {
        let kills = matches!(
            self,
            Self::KillLeader
                | Self::KillFollower
                | Self::KillOperator
                | Self::KillLeaderAndOperator
        );
        for _ in 0..if kills { KILLS } else { 1 } {
            sleep(Duration::from_millis(fastrand::u64(0..3000))).await;
            self.once(cluster, change).await?;
        }
        Ok(())
    }

    async fn once(self, cluster: &str, change: Change) -> Result<()> {
        let leader = match change {
            // There is no other.
            Change::Restore => format!("{cluster}-0"),
            _ => eventually(async || leader(cluster).await).await?,
        };
        let others = members(cluster)?.into_iter();
        let others: Vec<String> = others.filter(|name| *name != leader).collect();
        let kill = async |member: &str| {
            eventually(async || signal("default", member, "etcd", "KILL")).await
        };
        match self {
            Self::Nothing => Ok(()),
            Self::KillLeader => kill(&leader).await,
            Self::KillFollower => kill(others.first().context("there is no follower")?).await,
            Self::KillOperator => eventually(async || kill_operator()).await,
            Self::KillLeaderAndOperator => {
                kill(&leader).await?;
                eventually(async || kill_operator()).await
            }
            Self::PauseLeader => {
                eventually(async || signal("default", &leader, "etcd", "STOP")).await?;
                sleep(Duration::from_secs(5)).await;
                // The liveness probe may have ended it meanwhile.
                _ = signal("default", &leader, "etcd", "CONT");
                Ok(())
            }
            Self::PartitionLeader => {
                partition(&leader, &others, true)?;
                sleep(Duration::from_secs(5)).await;
                partition(&leader, &others, false)
            }
            Self::LoseDisk => lose_disk(&leader),
            Self::RestartApiServer => kill_component("kube-apiserver"),
        }
    }
}

impl Change {
    fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Grow => "grow from 3 to 5",
            Self::Shrink => "shrink from 3 to 1",
            Self::Upgrade => "upgrade",
            Self::Backup => "backup",
            Self::Restore => "restore",
        }
    }

    fn begin(self, name: &str, new: &str) -> Result<()> {
        let object = format!("etcdcluster/{name}");
        match self {
            Self::Nothing => Ok(()),
            Self::Grow => patch(&object, &json!({ "spec": { "size": 5 } })),
            Self::Shrink => patch(&object, &json!({ "spec": { "size": 1 } })),
            Self::Upgrade => patch(&object, &json!({ "spec": { "version": new } })),
            Self::Backup => apply(&backup(name, name)),
            Self::Restore => apply(&restore(name, name, name, false)),
        }
    }
}

/// Runs every fault in every change, and prints a row for each.
///
/// # Errors
/// If an acknowledged write is lost, or a cluster does not become ready again.
pub async fn run([old, new]: [&str; 2], only: &str) -> Result<()> {
    println!(
        "| change | fault | writes acknowledged | unknown | reads | lost | longest gap | Ready after |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let all = CHANGES
        .iter()
        .flat_map(|change| FAULTS.map(|fault| (*change, fault)));
    let mut failures = Vec::new();
    for (number, (change, fault)) in all.enumerate() {
        let row = format!("{}, {}", change.name(), fault.name());
        if !row.contains(only) || !fault.makes_sense_in(change) {
            continue;
        }
        let name = format!("faults-{number}");
        match one(&name, change, fault, old, new).await {
            Ok((outcome, mended)) => println!(
                "| {} | {} | {} | {} | {} | {} | {:.1} s | {:.0} s |",
                change.name(),
                fault.name(),
                outcome.acknowledged,
                outcome.unknown,
                outcome.reads,
                outcome.lost,
                outcome.longest_gap.as_secs_f64(),
                mended.as_secs_f64(),
            ),
            Err(error) => {
                println!(
                    "| {} | {} | FAILED: {error:#} |",
                    change.name(),
                    fault.name()
                );
                failures.push(row);
            }
        }
        // Also after a failure, so that the next row has the machine to itself.
        kubectl(
            &[
                "delete",
                "etcdrestore,etcdbackup,etcdcluster",
                &name,
                "--ignore-not-found",
            ],
            None,
        )?;
    }
    ensure!(failures.is_empty(), "failed: {failures:?}");
    Ok(())
}

/// Runs one row, and returns what clients saw, and how long the cluster needed to be ready, from the last fault on.
async fn one(
    name: &str,
    change: Change,
    fault: Fault,
    old: &str,
    new: &str,
) -> Result<(Outcome, Duration)> {
    apply(&cluster(name, 3, old))?;
    settled(name, 3, PATIENCE).await?;
    let workload = Workload::start(&client(name)?, Entry::default(), 3, 2)?;
    sleep(Duration::from_secs(2)).await;
    let (outcome, mended) = match change {
        Change::Restore => restored(name, workload, fault, new).await?,
        _ => {
            change.begin(name, new)?;
            fault.strike(name, change).await?;
            let begin = Instant::now();
            // What is broken has to show before it can be mended.
            sleep(Duration::from_secs(1)).await;
            if change == Change::Backup {
                ready(&format!("etcdbackup/{name}"), PATIENCE).await?;
            }
            let size = match change {
                Change::Grow => 5,
                Change::Shrink => 1,
                _ => 3,
            };
            settled(name, size, PATIENCE).await?;
            let mended = begin.elapsed();
            (workload.finish().await?, mended)
        }
    };
    healthy(&outcome)?;
    Ok((outcome, mended))
}

/// Takes a snapshot of a cluster that is written to, loses two of three disks, and restores.
async fn restored(
    name: &str,
    workload: Workload,
    fault: Fault,
    new: &str,
) -> Result<(Outcome, Duration)> {
    Change::Backup.begin(name, new)?;
    ready(&format!("etcdbackup/{name}"), PATIENCE).await?;
    sleep(Duration::from_secs(1)).await;
    let mut outcome = workload.finish().await?;
    healthy(&outcome)?;
    let lost = Instant::now();
    for member in members(name)?.iter().skip(1) {
        lose_disk(member)?;
    }
    let object = format!("etcdcluster/{name}");
    reason(&object, "MajorityLost", PATIENCE).await?;
    Change::Restore.begin(name, new)?;
    fault.strike(name, Change::Restore).await?;
    let begin = Instant::now();
    ready(&format!("etcdrestore/{name}"), PATIENCE).await?;
    settled(name, 3, PATIENCE).await?;
    let mended = begin.elapsed();
    let found = client(name)?.entry(KEY, 0).await?;
    outcome.longest_gap = lost.elapsed();
    let backup = get(&format!("etcdbackup/{name}"))?;
    let revision = backup.pointer("/status/snapshots/0/revision");
    let revision = revision.and_then(Value::as_i64).context("no snapshot")?;
    // A state that was there, and not one from before the snapshot.
    let least = outcome.written.iter().find(|it| it.revision <= revision);
    ensure!(
        outcome.written.contains(&found) && least.is_none_or(|it| it.version <= found.version),
        "after the restore, the key is {found:?}; when the snapshot was taken, it was {least:?}"
    );
    let workload = Workload::start(&client(name)?, found, 3, 2)?;
    sleep(Duration::from_secs(2)).await;
    healthy(&workload.finish().await?)?;
    Ok((outcome, mended))
}

fn healthy(outcome: &Outcome) -> Result<()> {
    if let Some(violation) = &outcome.violation {
        anyhow::bail!("{violation}");
    }
    ensure!(outcome.lost == 0, "{} writes are lost", outcome.lost);
    ensure!(outcome.acknowledged > 0, "no write was acknowledged");
    Ok(())
}
