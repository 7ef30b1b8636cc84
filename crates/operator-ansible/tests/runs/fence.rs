//! An operator that loses the lease ends its runs, and what they still write is refused.

use std::{fs, path::Path, time::Duration};

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::{coordination::v1::Lease, core::v1::ConfigMap};
use k8s_openapi::jiff::Timestamp;
use kube::{
    Api, ResourceExt as _,
    api::{Patch, PatchParams},
};
use operator_runtime::envtest::{Cluster, NAMESPACE, eventually};
use serde_json::json;
use tokio::time::sleep;

use crate::{
    app::{self, Subject, value},
    process::{Process, processes, signal},
};

/// A lease is taken over 15 s after its last renewal.
const LIMIT: Duration = Duration::from_secs(120);

const FLAGS: &str = "--leader-elect --leader-elect-resource-namespace=default";

/// A replica whose role waits at the gate.
fn replica(cluster: &Cluster, place: &Path, name: &str) -> Result<Process> {
    let own = place.join(name);
    fs::create_dir_all(&own)?;
    let gate = place.join("gate");
    let environment = [
        ("OF_TEST_REPLICA", name),
        ("OF_TEST_GATE", gate.to_str().context("a path")?),
    ];
    Process::start_with(cluster, &own, "gate", FLAGS, &environment)
}

fn leases(cluster: &Cluster) -> Result<Api<Lease>> {
    Ok(Api::namespaced(cluster.client()?, NAMESPACE))
}

async fn holder(leases: &Api<Lease>) -> Result<String> {
    let lease = leases.get(app::OPTIONS.name).await?;
    let holder = lease.spec.and_then(|it| it.holder_identity);
    holder.filter(|it| !it.is_empty()).context("no holder")
}

/// Waits until a ConfigMap is written by this replica.
async fn is_written(subject: &Subject, name: &str, by: &str) -> Result<ConfigMap> {
    let maps = subject.api::<ConfigMap>(NAMESPACE);
    eventually(LIMIT, async || {
        let map = maps.get(name).await?;
        ensure!(value(&map, "writer") == Some(by), "{map:?}");
        Ok(map)
    })
    .await
}

/// Waits until a replica has ended, with all its processes, and not by itself well.
async fn has_ended(replica: &mut Process) -> Result<()> {
    eventually(LIMIT, async || {
        let left = processes(&replica.mark);
        ensure!(left.is_empty(), "{left:?}");
        Ok(())
    })
    .await?;
    let status = replica.child.wait()?;
    ensure!(!status.success(), "{status}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replica_that_was_paused_past_its_lease_writes_nothing_more() -> Result<()> {
    let cluster = Cluster::start()?;
    cluster.install(app::crds()).await?;
    let place = tempfile::tempdir()?;
    let sample = Subject::new(&cluster, "sample")?;
    sample.create(json!({})).await?;
    let mut first = replica(&cluster, place.path(), "first")?;
    is_written(&sample, "sample-before", "first").await?;
    let leases = leases(&cluster)?;
    let before = holder(&leases).await?;

    // The operator is paused, and its run goes on.
    signal("-STOP", first.child.id())?;
    let second = replica(&cluster, place.path(), "second")?;
    eventually(LIMIT, async || {
        ensure!(holder(&leases).await? != before);
        Ok(())
    })
    .await?;
    is_written(&sample, "sample-before", "second").await?;
    fs::write(place.path().join("gate"), "")?;
    let after = is_written(&sample, "sample-after", "second").await?;
    // By now, the run of the first one waits for the answer to its write.
    sleep(Duration::from_secs(5)).await;
    ensure!(!processes(&first.mark).is_empty());

    signal("-CONT", first.child.id())?;
    has_ended(&mut first).await?;
    let maps = sample.api::<ConfigMap>(NAMESPACE);
    let same = maps.get("sample-after").await?;
    ensure!(
        same.resource_version() == after.resource_version(),
        "{same:?}"
    );
    sample.condition("Ready", "True", "").await?;
    ensure!(!processes(&second.mark).is_empty());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replica_whose_lease_is_taken_ends_its_run() -> Result<()> {
    let cluster = Cluster::start()?;
    cluster.install(app::crds()).await?;
    let place = tempfile::tempdir()?;
    let sample = Subject::new(&cluster, "sample")?;
    sample.create(json!({})).await?;
    let mut only = replica(&cluster, place.path(), "only")?;
    is_written(&sample, "sample-before", "only").await?;
    let taken = json!({ "spec": {
        "holderIdentity": "thief",
        "leaseDurationSeconds": 3600,
        "renewTime": Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string(),
    } });
    let leases = leases(&cluster)?;
    leases
        .patch(
            app::OPTIONS.name,
            &PatchParams::default(),
            &Patch::Merge(taken),
        )
        .await?;
    has_ended(&mut only).await?;
    fs::write(place.path().join("gate"), "")?;
    sleep(Duration::from_secs(2)).await;
    let maps = sample.api::<ConfigMap>(NAMESPACE);
    ensure!(maps.get_opt("sample-after").await?.is_none());
    ensure!(holder(&leases).await? == "thief");
    Ok(())
}
