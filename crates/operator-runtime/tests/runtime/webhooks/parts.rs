//! Webhooks for subresources and connections.

use std::borrow::Cow;

use anyhow::{Result, ensure};
use k8s_openapi::api::{apps::v1::Deployment, autoscaling::v1::Scale, core::v1::Pod};
use kube::{
    Api, Client, Resource,
    api::{ObjectMeta, Patch, PatchParams, PostParams},
    core::NamespaceResourceScope,
};
use operator_runtime::webhook::{
    Change, Denied, FieldErrors, Operation, Request, Webhook, Webhooks,
};
use serde::{Deserialize, Serialize};
use serde_json::{from_value, json};

use crate::webhooks::{cluster, gadget::Gadget, hooks::label};

pub fn add(webhooks: &mut Webhooks<Client>) {
    let status = Webhook::validating(validate_status)
        .subresources(&["status"])
        .name("status")
        .path("/validate-gadget-status");
    webhooks.add(status);
    let scale = Webhook::validating(validate_scale)
        .parent::<Deployment>()
        .subresources(&["scale"]);
    webhooks.add(scale);
    let exec = Webhook::validating(validate_exec)
        .parent::<Pod>()
        .subresources(&["exec"])
        .operations(&[Operation::Connect])
        .namespace_selector(label("kubernetes.io/metadata.name", "default"));
    webhooks.add(exec);
}

async fn validate_status(
    change: &Change<Gadget>,
    request: &Request,
    _: &Client,
) -> Result<(), Denied> {
    let (Change::Create(new) | Change::Update { new, .. } | Change::Delete(new)) = change;
    let mut errors = FieldErrors::default();
    let state = new
        .status
        .as_ref()
        .and_then(|status| status.state.as_deref());
    if state == Some("broken") {
        let part = request.sub_resource.as_deref().unwrap_or_default();
        errors.invalid(format!("{part}.state"), state, "cannot be");
    }
    errors.into_result()
}

async fn validate_scale(change: &Change<Scale>, _: &Request, _: &Client) -> Result<(), Denied> {
    let mut errors = FieldErrors::default();
    if let Change::Update { old, new } = change {
        let replicas = |scale: &Scale| scale.spec.as_ref().and_then(|spec| spec.replicas);
        let (old, new) = (
            replicas(old).unwrap_or_default(),
            replicas(new).unwrap_or_default(),
        );
        if new > old + 1 {
            errors.invalid("spec.replicas", new, "one at a time");
        }
    }
    errors.into_result()
}

/// The options of `kubectl exec`, which are not an object in `k8s_openapi`.
#[derive(Debug, Deserialize, Serialize)]
struct PodExecOptions {
    #[serde(default)]
    metadata: ObjectMeta,
    #[serde(default)]
    command: Vec<String>,
}

impl Resource for PodExecOptions {
    type DynamicType = ();
    type Scope = NamespaceResourceScope;

    fn kind(_: &()) -> Cow<'_, str> {
        "PodExecOptions".into()
    }

    fn group(_: &()) -> Cow<'_, str> {
        "".into()
    }

    fn version(_: &()) -> Cow<'_, str> {
        "v1".into()
    }

    fn plural(_: &()) -> Cow<'_, str> {
        "pods".into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

async fn validate_exec(
    change: &Change<PodExecOptions>,
    request: &Request,
    _: &Client,
) -> Result<(), Denied> {
    match change {
        Change::Create(options) => {
            let (command, pod) = (options.command.join(" "), &request.name);
            Err(Denied::forbidden(format!(
                "running `{command}` in {pod} is forbidden"
            )))
        }
        _ => Ok(()),
    }
}

#[tokio::test]
async fn a_sub_resource_has_webhooks_of_its_own() -> Result<()> {
    let api = cluster()?.api::<Gadget>()?;
    let gadget: Gadget = from_value(json!({"metadata": {"name": "with-status"}, "spec": {}}))?;
    api.create(&PostParams::default(), &gadget).await?;
    let write = async |state: &str| {
        let patch = Patch::Merge(json!({"status": {"state": state}}));
        api.patch_status("with-status", &PatchParams::default(), &patch)
            .await
    };
    let written = write("good").await?;
    ensure!(written.status.and_then(|status| status.state).as_deref() == Some("good"));
    let error = write("broken").await.unwrap_err().to_string();
    ensure!(
        error.contains("status.state: Invalid value: \\\"broken\\\": cannot be"),
        "{error}"
    );
    Ok(())
}

#[tokio::test]
async fn a_scale_is_validated_through_its_parent() -> Result<()> {
    let api = cluster()?.api::<Deployment>()?;
    let labels = json!({"app": "a"});
    let deployment = json!({
        "metadata": {"name": "scaled"},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "a", "image": "a"}]},
            },
        },
    });
    api.create(&PostParams::default(), &from_value(deployment)?)
        .await?;
    let scale = async |replicas: i32| {
        let patch = Patch::Merge(json!({"spec": {"replicas": replicas}}));
        api.patch_scale("scaled", &PatchParams::default(), &patch)
            .await
    };
    scale(2).await?;
    let error = scale(4).await.unwrap_err().to_string();
    ensure!(
        error.contains("spec.replicas: Invalid value: 4: one at a time"),
        "{error}"
    );
    Ok(())
}

#[tokio::test]
async fn a_connection_is_validated() -> Result<()> {
    let api: Api<Pod> = cluster()?.api()?;
    let pod = json!({"metadata": {"name": "shell"}, "spec": {"containers": [{"name": "a", "image": "a"}]}});
    api.create(&PostParams::default(), &from_value(pod)?)
        .await?;
    let mut kubectl = cluster()?.control_plane().kubectl();
    let output = kubectl
        .args(["exec", "shell", "--", "rm", "-rf"])
        .output()?;
    let error = String::from_utf8(output.stderr)?;
    ensure!(
        error.contains("denied the request: running `rm -rf` in shell is forbidden"),
        "{error}"
    );
    Ok(())
}
