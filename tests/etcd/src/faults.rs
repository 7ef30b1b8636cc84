//! Faults under load: while clients write and read, something breaks, and perhaps the cluster changes, too.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{
    operations::{
        apply, backup, client, cluster, condition, disturb, eventually, get, kill_operator,
        kubectl, leader, members, patch, pods, ready, reason, restore, settled,
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
    /// To five, and back while the first of the new members joins.
    GrowAndBack,
    Upgrade,
    /// And back to the old version when one member runs the new one.
    UpgradeAndBack,
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

const CHANGES: [Change; 8] = [
    Change::Nothing,
    Change::Grow,
    Change::Shrink,
    Change::GrowAndBack,
    Change::Upgrade,
    Change::UpgradeAndBack,
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

    /// Whether it can happen in a change. A cluster that is being restored has one member. One that shrinks soon has so few that
    /// each disk is a majority, which nothing but a restore brings back.
    fn makes_sense_in(self, change: Change) -> bool {
        !matches!(
            (change, self),
            (Change::Restore, Self::KillFollower) | (Change::Shrink, Self::LoseDisk)
        )
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
        // A shrink is over within a few seconds.
        let longest = if change == Change::Shrink { 1000 } else { 3000 };
        for _ in 0..if kills { KILLS } else { 1 } {
            sleep(Duration::from_millis(fastrand::u64(0..longest))).await;
            self.once(cluster, change).await?;
        }
        Ok(())
    }

    async fn once(self, cluster: &str, change: Change) -> Result<()> {
        let leader = eventually(async || match change {
            // Its first member, which nobody has listed yet.
            Change::Restore => {
                let found = get(&format!("etcdcluster/{cluster}"))?;
                let first = found["status"]["firstMember"].as_str();
                Ok(first.context("the restore has not begun")?.to_owned())
            }
            _ => leader(cluster).await,
        })
        .await?;
        let kill =
            async |member: &str| eventually(async || disturb(&["kill", member, "etcd"])).await;
        match self {
            Self::Nothing => Ok(()),
            Self::KillLeader => kill(&leader).await,
            Self::KillFollower => {
                eventually(async || {
                    let mut others = members(cluster)?.into_iter();
                    match others.find(|name| *name != leader) {
                        Some(follower) => disturb(&["kill", &follower, "etcd"]),
                        // Earlier kills have not stopped the shrink.
                        None if change == Change::Shrink => Ok(()),
                        None => anyhow::bail!("there is no follower"),
                    }
                })
                .await
            }
            Self::KillOperator => eventually(async || kill_operator()).await,
            Self::KillLeaderAndOperator => {
                kill(&leader).await?;
                eventually(async || kill_operator()).await
            }
            Self::PauseLeader => {
                eventually(async || disturb(&["pause", &leader, "etcd"])).await?;
                sleep(Duration::from_secs(5)).await;
                // The liveness probe may have ended it meanwhile.
                _ = disturb(&["resume", &leader, "etcd"]);
                Ok(())
            }
            Self::PartitionLeader => {
                // From the other members; the only member of a cluster, from everybody.
                if change == Change::Restore {
                    eventually(async || disturb(&["isolate", &leader])).await?;
                }
                let others = members(cluster)?.into_iter().filter(|name| *name != leader);
                for other in others {
                    eventually(async || match members(cluster)?.contains(&other) {
                        true => disturb(&["partition", &leader, &other]),
                        false => Ok(()),
                    })
                    .await?;
                }
                sleep(Duration::from_secs(5)).await;
                disturb(&["heal"])
            }
            Self::LoseDisk => eventually(async || disturb(&["lose-disk", &leader])).await,
            Self::RestartApiServer => disturb(&["restart-api-server"]),
        }
    }
}

impl Change {
    fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Grow => "grow from 3 to 5",
            Self::Shrink => "shrink from 3 to 1",
            Self::GrowAndBack => "grow, taken back",
            Self::Upgrade => "upgrade",
            Self::UpgradeAndBack => "upgrade, taken back",
            Self::Backup => "backup",
            Self::Restore => "restore",
        }
    }

    async fn begin(self, name: &str, old: &str, new: &str) -> Result<()> {
        let object = format!("etcdcluster/{name}");
        let size = |size: u32| patch(&object, &json!({ "spec": { "size": size } }));
        let version = |version: &str| patch(&object, &json!({ "spec": { "version": version } }));
        match self {
            // `restored` asks for the restore, when a majority is lost.
            Self::Nothing | Self::Restore => Ok(()),
            Self::Grow => size(5),
            Self::Shrink => size(1),
            Self::GrowAndBack => {
                size(5)?;
                eventually(async || {
                    ensure!(pods(name)?.len() > 3, "no member joins");
                    Ok(())
                })
                .await?;
                size(3)
            }
            Self::Upgrade => version(new),
            Self::UpgradeAndBack => {
                version(new)?;
                eventually(async || {
                    ensure!(runs(name, new)?, "no member runs {new}");
                    Ok(())
                })
                .await?;
                version(old)
            }
            Self::Backup => apply(&backup(name, name)),
        }
    }
}

/// Whether a Pod of the cluster was made for a version.
fn runs(cluster: &str, version: &str) -> Result<bool> {
    let pods = pods(cluster)?;
    let mut images = pods
        .iter()
        .map(|pod| &pod["spec"]["containers"][0]["image"]);
    Ok(images.any(|image| image.as_str().is_some_and(|it| it.ends_with(version))))
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
            &["delete", "etcdrestore,etcdbackup,etcdcluster", "--all"],
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
        Change::Restore => restored(name, workload, fault).await?,
        _ => {
            change.begin(name, old, new).await?;
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
            if change == Change::UpgradeAndBack {
                ensure!(!runs(name, new)?, "a member runs {new}");
            }
            let mended = begin.elapsed();
            (workload.finish().await?, mended)
        }
    };
    healthy(&outcome)?;
    Ok((outcome, mended))
}

/// Takes a snapshot of a cluster that is written to, loses two of three disks, and restores.
async fn restored(name: &str, workload: Workload, fault: Fault) -> Result<(Outcome, Duration)> {
    apply(&backup(name, name))?;
    ready(&format!("etcdbackup/{name}"), PATIENCE).await?;
    sleep(Duration::from_secs(1)).await;
    let mut outcome = workload.finish().await?;
    healthy(&outcome)?;
    let lost = Instant::now();
    for member in members(name)?.iter().skip(1) {
        disturb(&["lose-disk", member])?;
    }
    let object = format!("etcdcluster/{name}");
    reason(&object, "MajorityLost", PATIENCE).await?;
    apply(&restore(name, name, name, false))?;
    fault.strike(name, Change::Restore).await?;
    let begin = Instant::now();
    let mut last = name.to_owned();
    if fault == Fault::LoseDisk && is_lost_again(name).await? {
        // It was the only copy. Nothing is restored unasked.
        last += "-again";
        apply(&restore(&last, name, name, false))?;
    }
    ready(&format!("etcdrestore/{last}"), PATIENCE).await?;
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

/// Whether a cluster that is being restored loses its majority again, before it is ready.
async fn is_lost_again(name: &str) -> Result<bool> {
    let begin = Instant::now();
    while begin.elapsed() < PATIENCE {
        let cluster = eventually(async || get(&format!("etcdcluster/{name}"))).await?;
        let (is_ready, text) = condition(&cluster, "Ready");
        if is_ready || text.starts_with("MajorityLost:") {
            return Ok(!is_ready);
        }
        sleep(Duration::from_millis(200)).await;
    }
    anyhow::bail!("{name} is neither ready nor lost within {PATIENCE:?}")
}

fn healthy(outcome: &Outcome) -> Result<()> {
    if let Some(violation) = &outcome.violation {
        anyhow::bail!("{violation}");
    }
    ensure!(outcome.lost == 0, "{} writes are lost", outcome.lost);
    ensure!(outcome.acknowledged > 0, "no write was acknowledged");
    Ok(())
}
