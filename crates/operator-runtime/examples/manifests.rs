//! A project's `manifests` binary, for webhooks that use every declaration.

use std::{env, process::ExitCode, time::Duration};

use k8s_openapi::{
    api::{
        apps::v1::Deployment,
        core::v1::{ConfigMap, Pod},
    },
    apimachinery::pkg::apis::meta::v1::LabelSelector,
};
use operator_runtime::{
    Controllers, Crds, ManagerOptions, Verb, WatchScope,
    webhook::{
        Change, Denied, FailurePolicy, MatchPolicy, Operation, ReinvocationPolicy, Request,
        SideEffects, Webhook, Webhooks,
    },
};

const OPTIONS: ManagerOptions = ManagerOptions {
    name: "manifests.example.com",
    scope: WatchScope::Cluster,
};

async fn default(_: &mut Pod, _: &Request, _: &()) -> Result<(), Denied> {
    Ok(())
}

async fn validate(_: &Change<Deployment>, _: &Request, _: &()) -> Result<(), Denied> {
    Ok(())
}

fn webhooks() -> Webhooks<()> {
    let selector = LabelSelector {
        match_labels: Some([("webhook".to_owned(), "on".to_owned())].into()),
        ..LabelSelector::default()
    };
    let mut all = Webhooks::default();
    let defaulting = Webhook::defaulting(default)
        .failure_policy(FailurePolicy::Ignore)
        .timeout(Duration::from_secs(3))
        .match_policy(MatchPolicy::Exact)
        .match_condition("others", "request.userInfo.username != 'me'")
        .namespace_selector(selector.clone())
        .object_selector(selector)
        .side_effects(SideEffects::NoneOnDryRun)
        .reinvocation(ReinvocationPolicy::IfNeeded)
        .needs::<ConfigMap>(&[Verb::Get]);
    all.add(defaulting);
    all.add(Webhook::validating(validate).operations(&[Operation::Delete]));
    let scale = Webhook::validating(validate)
        .subresources(&["status"])
        .path("/deployments/status")
        .name("status");
    all.add(scale);
    if env::var_os("TWO_AT_ONE_PATH").is_some() {
        all.add(Webhook::validating(validate));
    }
    all
}

fn main() -> ExitCode {
    let controllers = Controllers::default();
    operator_runtime::manifests::main(&OPTIONS, Crds::default().merge(), &controllers, &webhooks())
}
