//! The permissions that follow from the tasks of a role.

use std::sync::LazyLock;

use anyhow::{Result, ensure};
use operator_ansible::Automation;
use operator_runtime::envtest::Cluster;
use serde_json::json;

use crate::app::{self, Subject, automation};

/// A role whose tasks ask nothing of the cluster.
static OTHER: LazyLock<Automation> =
    LazyLock::new(|| Automation::role(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/roles/many")));

#[tokio::test(flavor = "multi_thread")]
async fn a_task_without_a_permission_is_named_and_one_with_it_succeeds() -> Result<()> {
    let cluster = Cluster::start()?;
    let sample = Subject::new(&cluster, "sample")?;

    let operator = app::run_with(&cluster, automation(), &OTHER)?;
    sample.create(json!({ "size": 1 })).await?;
    let ready = sample
        .condition("Ready", "False", "write the settings")
        .await?;
    ensure!(ready.to_string().contains("configmaps"), "{ready}");
    ensure!(!operator.refused().is_empty());
    drop(operator);

    let operator = app::run(&cluster, automation())?;
    sample.condition("Ready", "True", "").await?;
    sample.delete().await?;
    sample.lacks::<app::App>("default", "sample").await?;
    ensure!(operator.refused().is_empty(), "{:?}", operator.refused());
    Ok(())
}
