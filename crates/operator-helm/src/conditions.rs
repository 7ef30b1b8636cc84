//! The conditions of a release.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use operator_runtime::{ReadyCondition, ReconcileError, conditions};

use crate::{error::Error, readiness::Readiness, releases::ReleaseObject};

/// The condition of a release whose objects the API server has, and whose hooks have run. They may not be ready yet.
pub const RELEASED: ReadyCondition = ReadyCondition::positive("Released");

/// The longest message, in characters: of 32768 that the API server takes, for readability.
const MESSAGE: usize = 2048;

/// What is known about a release after a reconcile.
pub(crate) enum Outcome<'a> {
    /// A revision is installed, with these notes.
    Installed {
        is_upgrade: bool,
        /// Whether it was installed just now.
        is_new: bool,
        notes: &'a str,
        readiness: Readiness,
        /// The objects that others changed and that were applied again.
        drifted: Vec<String>,
        /// Whether they change again and again.
        is_fought: bool,
        /// Why a newer revision is not installed.
        rolled_back: Option<String>,
    },
    /// An installation or an upgrade waits for something.
    Waiting { is_upgrade: bool, why: String },
    /// An installation or an upgrade failed.
    Failed { is_upgrade: bool, error: &'a Error },
}

/// The conditions after a reconcile: `Ready`, `Released` and `Drifted`, then those of operator-sdk for scripts that wait for them.
pub(crate) fn of<K: ReleaseObject>(object: &K, outcome: &Outcome<'_>) -> Vec<Condition> {
    let new = |type_: &str, holds: bool, reason: &str, message: &str| {
        let message: String = message.chars().take(MESSAGE).collect();
        conditions::new(object, type_, holds, reason, message)
    };
    // Those of the release that is installed, which stay until another one is.
    let of_object = object.status().map(|it| it.conditions.as_slice());
    let deployed = of_object.and_then(|all| condition(all, "Deployed"));
    let deployed = deployed.filter(|it| it.status == "True");
    let notes = deployed.map_or("", |it| it.message.as_str());
    let verb = |is_upgrade: &bool| if *is_upgrade { "Upgrade" } else { "Install" };
    match outcome {
        Outcome::Installed {
            is_upgrade,
            is_new,
            notes,
            readiness,
            drifted,
            is_fought,
            rolled_back,
        } => {
            let success = format!("{}Successful", verb(is_upgrade));
            let (is_ready, reason, message) = match readiness {
                Readiness::Ready => (true, "Ready", "every object is ready"),
                Readiness::Waiting(what) => (false, "Waiting", what.as_str()),
                Readiness::Failed(why) => (false, "ObjectFailed", why.as_str()),
                Readiness::Terminating => (false, "Terminating", "an object is being deleted"),
            };
            let former = object
                .status()
                .and_then(|it| condition(&it.conditions, "Drifted"));
            let drift = match (drifted.as_slice(), former) {
                ([], Some(former)) if !*is_new && former.status == "False" => former.clone(),
                ([], _) => new(
                    "Drifted",
                    false,
                    "InSync",
                    "no object was changed by others",
                ),
                (drifted, _) if *is_fought => {
                    let message = format!(
                        "somebody else changes them again and again, so they are applied with pauses: {}",
                        drifted.join(", ")
                    );
                    new("Drifted", true, "Fought", &message)
                }
                (drifted, _) => {
                    let message = format!("applied again: {}", drifted.join(", "));
                    new("Drifted", false, "Corrected", &message)
                }
            };
            let (released, failed) = match rolled_back {
                None => (
                    new("Released", true, &success, ""),
                    new("ReleaseFailed", false, &success, ""),
                ),
                Some(why) => (
                    new("Released", false, "RolledBack", why),
                    new("ReleaseFailed", true, "UpgradeError", why),
                ),
            };
            vec![
                new("Ready", is_ready, reason, message),
                released,
                drift,
                new("Initialized", true, "Initialized", ""),
                new("Deployed", true, &success, notes),
                failed,
                new("Irreconcilable", false, "Reconciled", ""),
            ]
        }
        Outcome::Waiting { is_upgrade, why } => {
            let reason = format!("{}Running", verb(is_upgrade));
            vec![
                new("Ready", false, &reason, why),
                new("Released", false, &reason, why),
                new("Initialized", true, "Initialized", ""),
                new("Deployed", *is_upgrade, &reason, notes),
                new("ReleaseFailed", false, &reason, ""),
                new("Irreconcilable", false, "Reconciled", ""),
            ]
        }
        Outcome::Failed { is_upgrade, error } => {
            let message = operator_runtime::in_one_line(*error);
            let failed = format!("{}Error", verb(is_upgrade));
            // The runtime reports the failure in `Ready`.
            let ready = object
                .status()
                .and_then(|it| condition(&it.conditions, "Ready"));
            let ready = ready.cloned().into_iter();
            let all = [
                new("Released", false, error.reason(), &message),
                new("Initialized", true, "Initialized", ""),
                new("Deployed", *is_upgrade, &failed, notes),
                new("ReleaseFailed", true, &failed, &message),
                new(
                    "Irreconcilable",
                    error.is_of_values(),
                    "ReconcileError",
                    &message,
                ),
            ];
            ready.chain(all).collect()
        }
    }
}

/// The condition of a type.
pub(crate) fn condition<'a>(all: &'a [Condition], type_: &str) -> Option<&'a Condition> {
    all.iter().find(|condition| condition.type_ == type_)
}
