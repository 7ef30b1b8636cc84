//! Ends the operator right before each of its writes: the next operator has to go on from there.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::json;

use crate::operations::{
    apply, backup, client, cluster, exit_at, has_exited, kubectl, patch, ready, restore,
};

const PATIENCE: Duration = Duration::from_secs(120);

/// More writes than any scenario needs.
const MOST: u64 = 200;

/// What the operator is ended in the middle of.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Scenario {
    Create,
    Grow,
    Upgrade,
    Restore,
}

impl Scenario {
    const ALL: [Self; 4] = [Self::Create, Self::Grow, Self::Upgrade, Self::Restore];

    fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Grow => "grow",
            Self::Upgrade => "upgrade",
            Self::Restore => "restore",
        }
    }

    /// Brings a cluster to where the scenario begins. No fault happens here.
    async fn prepare(self, name: &str, old: &str) -> Result<()> {
        if self == Self::Create {
            return Ok(());
        }
        let size = if self == Self::Upgrade { 3 } else { 1 };
        apply(&cluster(name, size, old))?;
        ready(&format!("etcdcluster/{name}"), PATIENCE).await?;
        client(name)?.put("hello", "world").await?;
        if self == Self::Restore {
            apply(&backup(name, name))?;
            ready(&format!("etcdbackup/{name}"), PATIENCE).await?;
            client(name)?
                .put("hello", "a change after the snapshot")
                .await?;
        }
        Ok(())
    }

    fn begin(self, name: &str, old: &str, new: &str) -> Result<()> {
        let object = format!("etcdcluster/{name}");
        match self {
            Self::Create => apply(&cluster(name, 1, old)),
            Self::Grow => patch(&object, &json!({ "spec": { "size": 3 } })),
            Self::Upgrade => patch(&object, &json!({ "spec": { "version": new } })),
            Self::Restore => apply(&restore(name, name, name, true)),
        }
    }

    /// Waits for the end of the scenario, and looks at the data.
    async fn end(self, name: &str) -> Result<()> {
        if self == Self::Restore {
            ready(&format!("etcdrestore/{name}"), PATIENCE).await?;
        }
        ready(&format!("etcdcluster/{name}"), PATIENCE).await?;
        let etcd = client(name)?;
        let found = etcd.get("hello").await?;
        let wanted = (self != Self::Create).then_some("world");
        ensure!(found.as_deref() == wanted, "the key is {found:?}");
        etcd.put("hello", "again").await
    }
}

/// Runs each scenario for n = 1, 2, … until the operator makes fewer than n writes.
///
/// # Errors
/// If a scenario does not end well.
pub async fn run([old, new]: [&str; 2], only: Option<&str>) -> Result<()> {
    println!("| scenario | operator ended before each of its writes | converged |");
    println!("|---|---|---|");
    for scenario in Scenario::ALL {
        if only.is_some_and(|only| only != scenario.name()) {
            continue;
        }
        let mut exits = 0;
        for n in 1..=MOST {
            let name = format!("{}-{n}", scenario.name());
            let context = || format!("{}, ended before write {n}", scenario.name());
            // Writes are counted from the start of the process, so the fault is set when all is quiet.
            exit_at(0)?;
            scenario.prepare(&name, old).await.with_context(context)?;
            exit_at(n)?;
            scenario.begin(&name, old, new).with_context(context)?;
            scenario.end(&name).await.with_context(context)?;
            let exited = has_exited()?;
            exits += u64::from(exited);
            for object in ["etcdrestore", "etcdbackup", "etcdcluster"] {
                kubectl(&["delete", object, &name, "--ignore-not-found"], None)?;
            }
            eprintln!(
                "{}: {}",
                context(),
                if exited {
                    "ended, and converged"
                } else {
                    "not reached"
                }
            );
            if !exited {
                break;
            }
        }
        println!("| {} | {exits} | {exits} |", scenario.name());
    }
    Ok(())
}
