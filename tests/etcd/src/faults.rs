//! Faults under load: while clients write and read, something breaks, and perhaps the cluster changes, too.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::json;
use tokio::time::sleep;

use crate::operations::{
    apply, backup, client, cluster, kill_component, kill_operator, kubectl, leader, lose_disk,
    members, partition, patch, ready, signal,
};
use crate::workload::Workload;

const PATIENCE: Duration = Duration::from_secs(180);

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

const CHANGES: [Change; 5] = [
    Change::Nothing,
    Change::Grow,
    Change::Shrink,
    Change::Upgrade,
    Change::Backup,
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

    async fn strike(self, cluster: &str) -> Result<()> {
        let leader = leader(cluster).await?;
        let all = members(cluster)?;
        let others: Vec<String> = all.into_iter().filter(|name| *name != leader).collect();
        let kill = |member: &str| signal("default", member, "etcd", "KILL");
        match self {
            Self::Nothing => Ok(()),
            Self::KillLeader => kill(&leader),
            Self::KillFollower => kill(others.first().context("there is no follower")?),
            Self::KillOperator => kill_operator(),
            Self::KillLeaderAndOperator => {
                kill(&leader)?;
                kill_operator()
            }
            Self::PauseLeader => {
                signal("default", &leader, "etcd", "STOP")?;
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
    for (number, (change, fault)) in all.enumerate() {
        let row = format!("{}, {}", change.name(), fault.name());
        if !row.contains(only) {
            continue;
        }
        one(&format!("faults-{number}"), change, fault, old, new)
            .await
            .context(row)?;
    }
    Ok(())
}

async fn one(name: &str, change: Change, fault: Fault, old: &str, new: &str) -> Result<()> {
    let object = format!("etcdcluster/{name}");
    apply(&cluster(name, 3, old))?;
    ready(&object, PATIENCE).await?;
    let workload = Workload::start(&client(name)?, 3, 2);
    sleep(Duration::from_secs(2)).await;
    change.begin(name, new)?;
    sleep(Duration::from_millis(fastrand::u64(0..2000))).await;
    fault.strike(name).await?;
    // What is broken has to show before it can be mended.
    sleep(Duration::from_secs(3)).await;
    let mended = ready(&object, PATIENCE).await;
    if change == Change::Backup {
        ready(&format!("etcdbackup/{name}"), PATIENCE).await?;
    }
    let outcome = workload.finish().await;
    println!(
        "| {} | {} | {} | {} | {} | {} | {:.1} s | {} |",
        change.name(),
        fault.name(),
        outcome.acknowledged,
        outcome.unknown,
        outcome.reads,
        u8::from(outcome.violation.is_some()),
        outcome.longest_gap.as_secs_f64(),
        mended.as_ref().map_or("never".to_owned(), |it| format!(
            "{:.0} s",
            it.as_secs_f64() + 3.0
        )),
    );
    if let Some(violation) = outcome.violation {
        anyhow::bail!("{violation}");
    }
    mended?;
    ensure!(outcome.acknowledged > 0, "no write was acknowledged");
    kubectl(
        &[
            "delete",
            "etcdbackup,etcdcluster",
            name,
            "--ignore-not-found",
        ],
        None,
    )?;
    Ok(())
}
