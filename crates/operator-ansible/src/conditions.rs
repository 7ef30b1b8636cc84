//! The conditions of an object: those of operator-sdk, and `Ready`.

use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use operator_runtime::{ReconcileError as _, in_one_line};
use serde_json::{Value, json};

use crate::{
    error::Error,
    events::{Outcome, Stats},
    status::AnsibleStatus,
};

/// What a run has come to.
pub(crate) enum Phase<'a> {
    /// It begins.
    Running,
    /// It succeeded.
    Succeeded(&'a Outcome),
    /// It succeeded, and asks to run again after this time.
    Requeued(Duration),
    /// It failed.
    Failed(&'a Outcome, &'a Error),
}

/// How long the message of `Ready` may be: that of the runtime is not longer.
const READY: usize = 1024;

/// Sets the conditions of `old` for a phase. Those that operator-sdk leaves as they are stay.
pub(crate) fn of(phase: &Phase<'_>, old: &AnsibleStatus, generation: Option<i64>) -> Vec<Value> {
    let now = Timestamp::now().to_string();
    let new = |type_: &str, status: bool, reason: &str, message: &str| {
        let status = if status { "True" } else { "False" };
        json!({
            "type": type_,
            "status": status,
            "reason": reason,
            "message": message,
            "observedGeneration": generation,
            "lastTransitionTime": now,
        })
    };
    // operator-sdk changes only the status of one that no longer holds.
    let ended = |type_: &str| {
        let mut condition = old.condition(type_)?.clone();
        if condition["status"] != "False" {
            condition["status"] = "False".into();
            condition["lastTransitionTime"] = now.clone().into();
        }
        Some(condition)
    };
    let kept = |type_: &str| old.condition(type_).cloned();
    let all = match phase {
        Phase::Running => [
            Some(new("Running", true, "Running", "Running reconciliation")),
            ended("Successful"),
            kept("Failure"),
            Some(new("Ready", false, "Running", "Running reconciliation")),
        ],
        Phase::Requeued(after) => {
            let message = format!("the role asks to run again after {after:?}");
            [
                Some(new("Running", true, "Running", "Running reconciliation")),
                ended("Successful"),
                kept("Failure"),
                Some(new("Ready", false, "Requeued", &message)),
            ]
        }
        Phase::Succeeded(outcome) => {
            let mut running = new(
                "Running",
                true,
                "Successful",
                "Awaiting next reconciliation",
            );
            running["ansibleResult"] = result(outcome);
            let done = "Last reconciliation succeeded";
            [
                Some(running),
                Some(new("Successful", true, "Successful", done)),
                Some(new("Failure", false, "", "")),
                Some(new("Ready", true, "Successful", done)),
            ]
        }
        Phase::Failed(outcome, error) => {
            let messages: Vec<_> = outcome
                .failures
                .iter()
                .map(|it| it.message.as_str())
                .collect();
            let whole = in_one_line(*error);
            let message = match messages.is_empty() {
                true => whole.clone(),
                false => messages.join("\n"),
            };
            let mut failure = new("Failure", true, "Failed", &message);
            failure["ansibleResult"] = result(outcome);
            let ready: String = whole.chars().take(READY).collect();
            [
                ended("Running"),
                Some(new("Successful", false, "", "")),
                Some(failure),
                Some(new("Ready", false, error.reason(), &ready)),
            ]
        }
    };
    all.into_iter().flatten().collect()
}

/// The counts, as operator-sdk reports them.
fn result(outcome: &Outcome) -> Value {
    let Stats {
        ok,
        changed,
        skipped,
        failures,
        ..
    } = outcome.stats.unwrap_or_default();
    // Without an offset, as that of ansible-runner.
    let completion = Timestamp::now()
        .strftime("%Y-%m-%dT%H:%M:%S.%6f")
        .to_string();
    json!({ "ok": ok, "changed": changed, "skipped": skipped, "failures": failures, "completion": completion })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::TaskResult;

    fn shown(conditions: &[Value]) -> Vec<String> {
        let all = conditions.iter();
        all.map(|it| {
            let text = |field: &str| it[field].as_str().unwrap().to_owned();
            let result = it
                .get("ansibleResult")
                .map(|it| format!(" ok={}", it["ok"]));
            let (type_, status) = (text("type"), text("status"));
            let (reason, message) = (text("reason"), text("message"));
            format!(
                "{type_}={status} {reason}: {message}{}",
                result.unwrap_or_default()
            )
        })
        .collect()
    }

    fn status(conditions: Vec<Value>) -> AnsibleStatus {
        AnsibleStatus::of(Some(1), conditions, None)
    }

    #[test]
    fn conditions_are_those_of_operator_sdk_and_ready() {
        let mut outcome = Outcome::default();
        outcome.stats = Some(Stats {
            ok: 3,
            ..Stats::default()
        });
        let old = AnsibleStatus::default();
        let running = of(&Phase::Running, &old, Some(1));
        assert_eq!(
            shown(&running),
            [
                "Running=True Running: Running reconciliation",
                "Ready=False Running: Running reconciliation"
            ]
        );
        let succeeded = of(&Phase::Succeeded(&outcome), &status(running), Some(1));
        assert_eq!(
            shown(&succeeded),
            [
                "Running=True Successful: Awaiting next reconciliation ok=3",
                "Successful=True Successful: Last reconciliation succeeded",
                "Failure=False : ",
                "Ready=True Successful: Last reconciliation succeeded"
            ]
        );
        let again = of(&Phase::Running, &status(succeeded.clone()), Some(1));
        assert_eq!(
            shown(&again)[1],
            "Successful=False Successful: Last reconciliation succeeded"
        );
        let failed = TaskResult {
            message: "no".to_owned(),
            ..TaskResult::default()
        };
        outcome.failures = vec![failed.clone(), failed];
        let error = Error::Task {
            task: "a".to_owned(),
            message: "no".to_owned(),
        };
        let failed = of(
            &Phase::Failed(&outcome, &error),
            &status(succeeded),
            Some(1),
        );
        assert_eq!(
            shown(&failed),
            [
                "Running=False Successful: Awaiting next reconciliation ok=3",
                "Successful=False : ",
                "Failure=True Failed: no\nno ok=3",
                "Ready=False TaskFailed: the task `a` failed: no"
            ]
        );
        let requeued = Phase::Requeued(Duration::from_secs(30));
        let requeued = of(&requeued, &status(failed), Some(1));
        assert_eq!(
            shown(&requeued)[3],
            "Ready=False Requeued: the role asks to run again after 30s"
        );
    }
}
