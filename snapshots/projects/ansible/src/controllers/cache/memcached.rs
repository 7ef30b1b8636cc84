// SPDX-License-Identifier: Apache-2.0

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use operator_ansible::{Automation, Error, Finalizer, RunsAnsible};
use operator_runtime::{Action, Controller, ReadyCondition};
use serde_json::json;

use crate::Context;
use crate::api::cache::memcached::Memcached;

/// The name of this controller in logs, metrics and probes.
pub const NAME: &str = "cache-memcached";

/// The condition that reports readiness: `True` when the last run succeeded.
pub const READY: ReadyCondition = ReadyCondition::positive("Ready");

/// How the role runs. The methods of `Automation` say it: `reconcile_period`, for example, sets
/// how often it runs without a change.
pub static AUTOMATION: LazyLock<Automation> = LazyLock::new(automation);

fn automation() -> Automation {
    let vars = json!({
        "state": "absent"
    });
    let finalizer = Finalizer::new("cache.example.com/finalizer").vars(vars);
    let vars = json!({
        "image": "memcached:1.6.39-alpine"
    });
    Automation::role("memcached")
        .vars(vars)
        .reconcile_period(Duration::from_secs(3600))
        .watch_cluster_scoped_resources(true)
        .watch_annotations_changes(true)
        .blacklist("", "v1", "Event")
        .finalizer(finalizer)
}

/// Runs the role. `make manifests` derives the permissions from its tasks.
///
/// Add `.needs::<Ingress>(&[…])` for a kind that a task takes from a variable: get, list, watch,
/// create, update, patch and delete for one that it writes, get and list for one that it reads.
pub fn controller() -> Controller<Memcached, Context> {
    Controller::new(NAME, reconcile)
        .condition(READY)
        .runs_ansible(&AUTOMATION)
}

/// Runs the role for `memcached`, if something has changed that it depends on.
async fn reconcile(memcached: Arc<Memcached>, context: Arc<Context>) -> Result<Action, Error> {
    context.ansible.reconcile(&*memcached).await
}
