// SPDX-License-Identifier: Apache-2.0

use std::sync::{Arc, LazyLock};

use operator_ansible::{Automation, Error, RunsAnsible};
use operator_runtime::{Action, Controller, ReadyCondition};
use serde_json::json;

use crate::Context;
use crate::api::r#type::automation::Automation as AutomationResource;

/// The name of this controller in logs, metrics and probes.
pub const NAME: &str = "type-automation";

/// The condition that reports readiness: `True` when the last run succeeded.
pub const READY: ReadyCondition = ReadyCondition::positive("Ready");

/// How the role runs. The methods of `Automation` say it: `reconcile_period`, for example, sets
/// how often it runs without a change.
pub static AUTOMATION: LazyLock<Automation> = LazyLock::new(automation);

fn automation() -> Automation {
    let vars = json!({
        "service_kind": "ConfigMap",
        "service_version": "v1"
    });
    Automation::role("proxy").vars(vars)
}

/// Runs the role. `make manifests` derives the permissions from its tasks.
///
/// Add `.needs::<Ingress>(&[…])` for a kind that a task takes from a variable: get, list, watch,
/// create, update, patch and delete for one that it writes, get and list for one that it reads.
pub fn controller() -> Controller<AutomationResource, Context> {
    Controller::new(NAME, reconcile)
        .condition(READY)
        .runs_ansible(&AUTOMATION)
}

/// Runs the role for `object`, if something has changed that it depends on.
async fn reconcile(
    object: Arc<AutomationResource>,
    context: Arc<Context>,
) -> Result<Action, Error> {
    context.ansible.reconcile(&*object).await
}
