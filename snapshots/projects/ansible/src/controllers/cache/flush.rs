// SPDX-License-Identifier: Apache-2.0

use std::sync::{Arc, LazyLock};

use operator_ansible::{Automation, Error, Finalizer, RunsAnsible};
use operator_runtime::{Action, Controller, ReadyCondition, Watch};
use serde_json::json;

use crate::Context;
use crate::api::cache::flush::Flush;

/// The name of this controller in logs, metrics and probes.
pub const NAME: &str = "cache-flush";

/// The condition that reports readiness: `True` when the last run succeeded.
pub const READY: ReadyCondition = ReadyCondition::positive("Ready");

/// How the playbook runs. The methods of `Automation` say it: `reconcile_period`, for example, sets
/// how often it runs without a change.
pub static AUTOMATION: LazyLock<Automation> = LazyLock::new(automation);

fn automation() -> Automation {
    let vars = json!({
        "service_kind": std::env::var("SERVICE_KIND").unwrap_or_default(),
        "service_version": "v1"
    });
    let finalizer = Finalizer::new("cache.example.com/flush")
        .role("proxy")
        .vars(vars);
    Automation::playbook("playbooks/flush.yml")
        .watch_dependent_resources(false)
        .snake_case_parameters(false)
        .finalizer(finalizer)
}

/// The labels of the objects that this operator sees.
const SELECTOR: &str = "cache.example.com/flushes=true";

/// Runs the playbook. `make manifests` derives the permissions from its tasks.
///
/// Add `.needs::<Ingress>(&[…])` for a kind that a task takes from a variable: get, list, watch,
/// create, update, patch and delete for one that it writes, get and list for one that it reads.
pub fn controller() -> Controller<Flush, Context> {
    Controller::new(NAME, reconcile)
        .condition(READY)
        .primary_watch(Watch::new().labels(SELECTOR))
        .runs_ansible(&AUTOMATION)
}

/// Runs the playbook for `flush`, if something has changed that it depends on.
async fn reconcile(flush: Arc<Flush>, context: Arc<Context>) -> Result<Action, Error> {
    context.ansible.reconcile(&*flush).await
}
