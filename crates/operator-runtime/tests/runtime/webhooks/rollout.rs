//! A rollout: the webhook configuration is already that of the newer operator, while the older one answers.

use std::process::Output;

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::{
    admissionregistration::v1::ValidatingWebhookConfiguration, core::v1::ConfigMap,
};
use kube::{
    Api, Client,
    api::{DeleteParams, PostParams},
};
use operator_runtime::{
    Controllers, ManagerOptions, WatchScope,
    envtest::Operator,
    webhook::{Change, Denied, FailurePolicy, Operation, Request, Webhook, Webhooks},
};
use serde_json::{from_value, json};

use crate::webhooks::{cluster, gadget, hooks::label, until};

/// Denies what the name of the object says.
async fn judge(change: &Change<ConfigMap>, request: &Request, _: &()) -> Result<(), Denied> {
    let operation = match change {
        Change::Create(_) => "create",
        Change::Update { .. } => "update",
        Change::Delete(_) => "delete",
    };
    match request.name.contains(&format!("-{operation}-")) {
        true => Err(Denied::forbidden(format!("no {operation}"))),
        false => Ok(()),
    }
}

fn webhook(policy: FailurePolicy, operations: &[Operation]) -> Webhook<ConfigMap, ()> {
    Webhook::validating(judge)
        .failure_policy(policy)
        .object_selector(label("rollout", &format!("{policy:?}")))
        .operations(operations)
        .name(&format!("{policy:?}").to_lowercase())
        .path(&format!("/{policy:?}"))
}

fn run(name: &'static str, webhooks: Webhooks<()>) -> Result<Operator> {
    let options = ManagerOptions {
        name,
        scope: WatchScope::Cluster,
    };
    let crds = gadget::crds();
    cluster()?.run(&options, crds, Controllers::default(), webhooks, |_| ())
}

const POLICIES: [FailurePolicy; 2] = [FailurePolicy::Fail, FailurePolicy::Ignore];

async fn create(client: &Client, name: &str, policy: FailurePolicy) -> kube::Result<ConfigMap> {
    let labels = json!({"rollout": format!("{policy:?}")});
    let object = json!({"metadata": {"name": name, "labels": labels}});
    let object = from_value(object).map_err(kube::Error::SerdeError)?;
    let api: Api<ConfigMap> = Api::default_namespaced(client.clone());
    api.create(&PostParams::default(), &object).await
}

/// Deletes by kubectl, which prints warnings.
fn delete(name: &str) -> Result<(Output, String)> {
    let mut kubectl = cluster()?.control_plane().kubectl();
    let output = kubectl.args(["delete", "configmap", name]).output()?;
    let printed = String::from_utf8(output.stderr.clone())?;
    Ok((output, printed))
}

#[tokio::test]
async fn an_older_replica_blocks_nothing_that_a_newer_one_declares() -> Result<()> {
    let client = cluster()?.client()?;
    let configurations: Api<ValidatingWebhookConfiguration> = Api::all(client.clone());
    let [mut older, mut newer] = [Webhooks::default(), Webhooks::default()];
    for policy in POLICIES {
        older.add(webhook(policy, &[Operation::Create]));
        newer.add(webhook(policy, &[Operation::Create, Operation::Delete]));
    }
    // A webhook that only the newer operator has.
    let added = Webhook::validating(judge)
        .operations(&[Operation::Update])
        .object_selector(label("rollout", "Fail"))
        .name("added")
        .path("/added");
    newer.add(added);
    let _older = run("older", older)?;
    let newer = run("newer", newer)?;
    let configured = configurations.get("newer-validating").await?;
    let mut wanted = configured.clone();
    // The webhooks of the newer operator are called in its place below.
    configurations
        .delete("newer-validating", &DeleteParams::default())
        .await?;
    // `make deploy` of the newer operator: its configuration, while the API server still reaches the older one.
    let old = configurations.get("older-validating").await?;
    let client_of_old = old.webhooks.iter().flatten().next().context("a webhook")?;
    let url = client_of_old.client_config.url.as_deref();
    let host = url.and_then(|url| url.rsplit_once('/')).context("a URL")?.0;
    for webhook in wanted.webhooks.iter_mut().flatten() {
        let url = webhook.client_config.url.take().context("a URL")?;
        let (_, path) = url.rsplit_once('/').context("a path")?;
        webhook.client_config = client_of_old.client_config.clone();
        webhook.client_config.url = Some(format!("{host}/{path}"));
    }
    wanted.metadata = old.metadata;
    configurations
        .replace("older-validating", &PostParams::default(), &wanted)
        .await?;

    // The API server has the new configuration when an older replica warns about it.
    until("the API server asks for deletions", async || {
        let name = format!("probe-{}", fastrand::u32(..));
        create(&client, &name, FailurePolicy::Fail).await?;
        let (output, printed) = delete(&name)?;
        ensure!(output.status.success(), "{printed}");
        Ok(
            printed
                .contains("Warning: allowed without its webhook: `/Fail` does not handle DELETE"),
        )
    })
    .await?;
    for policy in POLICIES {
        let name = format!("a-delete-{}", format!("{policy:?}").to_lowercase());
        create(&client, &name, policy).await?;
        // The new path.
        let mut kubectl = cluster()?.control_plane().kubectl();
        let changed = ["annotate", "configmap", &name, "a=b"];
        let changed = kubectl.args(changed).output()?;
        let printed = String::from_utf8(changed.stderr)?;
        ensure!(changed.status.success(), "{printed}");
        let expected = "Warning: allowed without its webhook: `/added` does not handle ConfigMap";
        let asked = policy == FailurePolicy::Fail;
        ensure!(printed.contains(expected) == asked, "{printed}");

        let (output, printed) = delete(&name)?;
        ensure!(output.status.success(), "{printed}");
        ensure!(printed.contains("does not handle DELETE"), "{printed}");
        // What it declares, it still judges.
        let error = create(&client, "a-create-b", policy).await.err();
        let error = error.context("it was allowed")?.to_string();
        ensure!(error.contains("no create"), "{error}");
    }

    // The end of the rollout: the API server reaches the newer operator.
    create(&client, "b-delete-b", FailurePolicy::Fail).await?;
    wanted.webhooks = configured.webhooks;
    wanted.metadata = configurations.get("older-validating").await?.metadata;
    configurations
        .replace("older-validating", &PostParams::default(), &wanted)
        .await?;
    until("the deletion is denied", async || {
        let (output, printed) = delete("b-delete-b")?;
        if output.status.success() {
            create(&client, "b-delete-b", FailurePolicy::Fail).await?;
            return Ok(false);
        }
        ensure!(printed.contains("no delete"), "{printed}");
        Ok(true)
    })
    .await?;
    newer.stop()
}
