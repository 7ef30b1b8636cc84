// SPDX-License-Identifier: Apache-2.0

use std::sync::{Arc, LazyLock};

use operator_ansible::{Automation, Error, RunsAnsible};
use operator_runtime::{Action, Controller, ReadyCondition};

use crate::Context;
use crate::api::r#type::option::OptionResource;

/// The name of this controller in logs, metrics and probes.
pub const NAME: &str = "type-option";

/// The condition that reports readiness: `True` when the last run succeeded.
pub const READY: ReadyCondition = ReadyCondition::positive("Ready");

/// How the playbook runs. The methods of `Automation` say it: `reconcile_period`, for example, sets
/// how often it runs without a change.
pub static AUTOMATION: LazyLock<Automation> = LazyLock::new(automation);

fn automation() -> Automation {
    Automation::playbook("playbooks/flush.yml")
}

/// Runs the playbook. `make manifests` derives the permissions from its tasks.
///
/// Add `.needs::<Ingress>(&[…])` for a kind that a task takes from a variable: get, list, watch,
/// create, update, patch and delete for one that it writes, get and list for one that it reads.
pub fn controller() -> Controller<OptionResource, Context> {
    Controller::new(NAME, reconcile)
        .condition(READY)
        .runs_ansible(&AUTOMATION)
}

/// Runs the playbook for `option`, if something has changed that it depends on.
async fn reconcile(option: Arc<OptionResource>, context: Arc<Context>) -> Result<Action, Error> {
    context.ansible.reconcile(&*option).await
}
