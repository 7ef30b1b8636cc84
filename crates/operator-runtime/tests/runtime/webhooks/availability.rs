//! Webhooks that do not answer.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use futures::future::pending;
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
    webhook::{Change, Denied, FailurePolicy, Request, Webhook, Webhooks},
};
use serde_json::{from_value, json};

use crate::webhooks::{cluster, hooks::label, until};

/// Fails in the way that the name of the object asks for.
async fn fail(_: &Change<ConfigMap>, request: &Request, _: &()) -> Result<(), Denied> {
    match request.name.split_once('-').map(|(what, _)| what) {
        Some("panic") => panic!("at the disco"),
        Some("wait") => pending().await,
        Some("deny") => Err(Denied::forbidden("no")),
        _ => Ok(()),
    }
}

/// An operator whose webhooks cover labelled ConfigMaps, with each failure policy.
fn run(name: &'static str) -> Result<Operator> {
    let options = ManagerOptions {
        name,
        scope: WatchScope::Cluster,
    };
    let mut webhooks = Webhooks::default();
    for (policy, text) in [
        (FailurePolicy::Fail, "fail"),
        (FailurePolicy::Ignore, "ignore"),
    ] {
        let webhook = Webhook::validating(fail)
            .failure_policy(policy)
            .object_selector(label(name, text))
            .timeout(Duration::from_secs(1))
            .path(&format!("/{text}"))
            .name(text);
        webhooks.add(webhook);
    }
    cluster()?.run(
        &options,
        crate::webhooks::gadget::crds(),
        Controllers::default(),
        webhooks,
        |_| (),
    )
}

/// Creates a ConfigMap, and returns the error if there is one.
async fn create(
    client: Client,
    operator: &str,
    name: &str,
    policy: &str,
) -> Result<Option<String>> {
    let labels = json!({ operator: policy });
    let object: ConfigMap = from_value(json!({"metadata": {"name": name, "labels": labels}}))?;
    let api: Api<ConfigMap> = Api::default_namespaced(client);
    match api.create(&PostParams::default(), &object).await {
        Ok(_) => Ok(None),
        Err(kube::Error::Api(status)) => Ok(Some(status.message)),
        Err(error) => Err(error.into()),
    }
}

#[tokio::test]
async fn a_webhook_that_fails_is_ignored_if_that_is_declared() -> Result<()> {
    let _operator = run("failing")?;
    let client = cluster()?.client()?;
    let denied = |policy: &str, text: &str| {
        let name = format!("{policy}.configmap.v1.core.k8s.io");
        Some(format!(
            "admission webhook {name:?} denied the request: {text}"
        ))
    };
    for (what, expected) in [
        ("allow-a", None),
        ("deny-a", denied("fail", "no")),
        (
            "panic-a",
            denied("fail", "the webhook panicked: at the disco"),
        ),
        (
            "wait-a",
            denied("fail", "the webhook did not decide within 500ms"),
        ),
    ] {
        let found = create(client.clone(), "failing", what, "fail").await?;
        ensure!(found == expected, "{what}: {found:?}");
    }
    for (what, expected) in [
        ("allow-b", None),
        ("deny-b", denied("ignore", "no")),
        ("panic-b", None),
        ("wait-b", None),
    ] {
        let begin = Instant::now();
        let found = create(client.clone(), "failing", what, "ignore").await?;
        ensure!(found == expected, "{what}: {found:?}");
        ensure!(begin.elapsed() < Duration::from_secs(5));
    }
    Ok(())
}

#[tokio::test]
async fn without_the_operator_its_failure_policies_decide() -> Result<()> {
    let operator = run("gone")?;
    let client = cluster()?.client()?;
    let api: Api<ValidatingWebhookConfiguration> = Api::all(client.clone());
    let mut left = api.get("gone-validating").await?;
    operator.stop()?;
    ensure!(
        api.get_opt("gone-validating").await?.is_none(),
        "it is not taken away"
    );
    left.metadata.resource_version = None;
    left.metadata.managed_fields = None;
    api.create(&PostParams::default(), &left).await?;

    until("the API server asks a webhook that is gone", async || {
        let name = format!("fail-{}", fastrand::u32(..));
        let failed = create(client.clone(), "gone", &name, "fail").await?;
        let expected =
            "failed calling webhook \"fail.configmap.v1.core.k8s.io\": failed to call webhook";
        match failed {
            Some(text) if text.contains(expected) && text.contains("connection refused") => {
                Ok(true)
            }
            Some(text) => bail!("{text}"),
            None => Ok(false),
        }
    })
    .await
    .context("failure policy Fail")?;
    let failed = create(client.clone(), "gone", "allow-c", "ignore").await?;
    ensure!(failed.is_none(), "{failed:?}");
    api.delete("gone-validating", &DeleteParams::default())
        .await?;
    Ok(())
}
