// SPDX-License-Identifier: Apache-2.0

use std::sync::{Arc, LazyLock};

use k8s_openapi::api::core::v1::Secret;
use operator_ansible::{Automation, Error, Foreign, RunsAnsible};
use operator_runtime::{Action, Controller, Watch};

use crate::Context;

/// The name of this controller in logs, metrics and probes.
pub const NAME: &str = "core-secret";

/// How the role runs. The methods of `Automation` say it: `reconcile_period`, for example, sets
/// how often it runs without a change.
pub static AUTOMATION: LazyLock<Automation> = LazyLock::new(automation);

fn automation() -> Automation {
    Automation::role("users").manage_status(false)
}

/// The labels of the objects that this operator sees.
const SELECTOR: &str = "cache.example.com/users=true";

/// Runs the role. `make manifests` derives the permissions from its tasks.
///
/// Add `.needs::<Ingress>(&[…])` for a kind that a task takes from a variable: get, list, watch,
/// create, update, patch and delete for one that it writes, get and list for one that it reads.
pub fn controller() -> Controller<Foreign<Secret>, Context> {
    Controller::external(NAME, reconcile)
        .primary_watch(Watch::new().labels(SELECTOR))
        .runs_ansible(&AUTOMATION)
}

/// Runs the role for `secret`, if something has changed that it depends on.
async fn reconcile(secret: Arc<Foreign<Secret>>, context: Arc<Context>) -> Result<Action, Error> {
    context.ansible.reconcile(&*secret).await
}
