//! The three writes, which every operator here makes for each object.

use k8s_openapi::{
    api::apps::v1::Deployment,
    apimachinery::pkg::apis::meta::v1::{Condition, Time},
    jiff::Timestamp,
};
use kube::{
    Api, Client, ResourceExt,
    api::{Patch, PatchParams},
};
use operator_runtime::{conditions, status};
use serde_json::json;

use crate::{AVAILABLE, FINALIZER, Server, ServerStatus, deployment};

/// The field manager of the Deployments.
const MANAGER: &str = "server.bench.example.com";

/// Adds the finalizer to the object as `server` shows it, and returns it as it is then.
pub async fn add_finalizer(api: &Api<Server>, server: &Server) -> kube::Result<Server> {
    let mut finalizers = server.finalizers().to_vec();
    finalizers.push(FINALIZER.into());
    let version = &server.metadata.resource_version;
    let patch = json!({ "metadata": { "finalizers": finalizers, "resourceVersion": version } });
    let params = PatchParams::default();
    api.patch(&server.name_any(), &params, &Patch::Merge(patch))
        .await
}

/// Makes the Deployment what `server` wants.
pub async fn apply_deployment(client: &Client, server: &Server) -> kube::Result<()> {
    let namespace = server.namespace().unwrap_or_default();
    let api: Api<Deployment> = Api::namespaced(client.clone(), &namespace);
    let params = PatchParams::apply(MANAGER).force();
    let wanted = Patch::Apply(deployment::wanted(server));
    api.patch(&server.name_any(), &params, &wanted).await?;
    Ok(())
}

/// Sets the condition `Available`, unless it is set already.
pub async fn set_available(api: &Api<Server>, server: &Server) -> kube::Result<()> {
    status::patch(api, server, &wanted_status(server, Timestamp::now())).await?;
    Ok(())
}

fn wanted_status(server: &Server, now: Timestamp) -> ServerStatus {
    let mut status = server.status.clone().unwrap_or_default();
    let available = Condition {
        type_: AVAILABLE.into(),
        status: "True".into(),
        reason: "Reconciled".into(),
        message: "the Deployment is as it should be".into(),
        observed_generation: server.metadata.generation,
        last_transition_time: Time(now),
    };
    conditions::set(&mut status.conditions, available);
    status
}
