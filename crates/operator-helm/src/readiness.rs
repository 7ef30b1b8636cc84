//! Whether an applied object is ready, by the rules of kstatus, which Helm 4 waits by. Only Services with a load balancer have a
//! stricter rule.

#[cfg(test)]
mod tests;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

/// Where an object is on its way to what its `spec` asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// It is there.
    Ready,
    /// It is on its way, and this is missing, such as `1 of 3 Pods are available`.
    Waiting(String),
    /// It will not get there by itself, and this is why.
    Failed(String),
    /// It is being deleted.
    Terminating,
}

/// `Err` has what an object is instead of ready.
type Rule = Result<(), Readiness>;

/// How long the scheduler may look for a node. Many Pods are unschedulable for a moment, until a volume is bound.
const TO_SCHEDULE: SignedDuration = SignedDuration::from_secs(15);

/// An entry of `status.conditions`. What is missing or no text is empty.
struct Condition<'a> {
    kind: &'a str,
    status: &'a str,
    reason: &'a str,
    message: &'a str,
}

/// Whether an object, with its `status`, is ready.
///
/// A Job that runs is ready, since Helm does not wait for Jobs of a release to end; see [`job_is_done`]. A kind without rules is ready
/// unless its conditions deny that.
pub fn of(object: &Value) -> Readiness {
    at(object, Timestamp::now())
}

/// Whether a Job ended, and the reason if it failed. Hooks wait for that.
pub fn job_is_done(job: &Value) -> Option<Result<(), String>> {
    conditions(job).find_map(|it| match (it.kind, it.status) {
        ("Complete", "True") => Some(Ok(())),
        ("Failed", "True") => Some(Err(it.text("the Job failed"))),
        _ => None,
    })
}

/// Whether a Pod ended, and the reason if it failed. Hooks wait for that.
pub fn pod_is_done(pod: &Value) -> Option<Result<(), String>> {
    match text(pod, "/status/phase") {
        "Succeeded" => Some(Ok(())),
        "Failed" => Some(Err(words(
            text(pod, "/status/reason"),
            text(pod, "/status/message"),
            "the Pod failed",
        ))),
        _ => None,
    }
}

fn at(object: &Value, now: Timestamp) -> Readiness {
    let rule = any(object).and_then(|()| of_kind(object, now));
    rule.err().unwrap_or(Readiness::Ready)
}

/// The rules for every kind.
fn any(object: &Value) -> Rule {
    if !text(object, "/metadata/deletionTimestamp").is_empty() {
        return Err(Readiness::Terminating);
    }
    let generation = whole(object, "/metadata/generation");
    let observed = whole(object, "/status/observedGeneration");
    if observed.is_some() && generation.is_some() && observed != generation {
        return waiting("its controller has not seen the last change");
    }
    for condition in conditions(object) {
        match (condition.kind, condition.status) {
            ("Reconciling", "True") => return waiting(condition.text("it is being reconciled")),
            ("Stalled", "True") => return failed(condition.text("its controller is stalled")),
            _ => {}
        }
    }
    Ok(())
}

fn of_kind(object: &Value, now: Timestamp) -> Rule {
    let group = match text(object, "/apiVersion").split_once('/') {
        Some((group, _)) => group,
        None => "",
    };
    match (group, text(object, "/kind")) {
        ("apps" | "extensions", "Deployment") => deployment(object),
        ("apps", "StatefulSet") => stateful_set(object),
        ("apps" | "extensions", "DaemonSet") => daemon_set(object),
        ("apps" | "extensions", "ReplicaSet") => replica_set(object),
        ("batch", "Job") => job(object),
        ("", "Pod") => pod(object, now),
        ("", "PersistentVolumeClaim") => claim(object),
        ("", "Service") => service(object),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => definition(object),
        // The generation, which is all that a PodDisruptionBudget has, was compared before.
        ("", "ConfigMap" | "Secret") | ("batch", "CronJob") | ("policy", "PodDisruptionBudget") => {
            Ok(())
        }
        _ => by_condition(object),
    }
}

fn deployment(object: &Value) -> Rule {
    // Without a deadline, the condition `Progressing` is never set.
    let deadline = whole(object, "/spec/progressDeadlineSeconds").unwrap_or(i32::MAX.into());
    let mut is_complete = deadline == i64::from(i32::MAX);
    let mut is_available = false;
    for condition in conditions(object) {
        match (condition.kind, condition.status, condition.reason) {
            ("Progressing", _, "ProgressDeadlineExceeded") => {
                return failed(condition.text("it made no progress"));
            }
            ("Progressing", "True", "NewReplicaSetAvailable") => is_complete = true,
            ("Available", "True", _) => is_available = true,
            _ => {}
        }
    }

    let wanted = whole(object, "/spec/replicas").unwrap_or(1);
    let updated = count(object, "updatedReplicas");
    enough(count(object, "replicas"), wanted, "exist")?;
    enough(updated, wanted, "are of the new version")?;
    not_too_many(count(object, "replicas"), wanted)?;
    enough(count(object, "availableReplicas"), updated, "are available")?;
    enough(count(object, "readyReplicas"), wanted, "are ready")?;
    match (is_complete, is_available) {
        (false, _) => waiting("its new version is not complete"),
        (true, false) => waiting("too few of its Pods are available"),
        (true, true) => Ok(()),
    }
}

fn stateful_set(object: &Value) -> Rule {
    // Whoever chose OnDelete replaces the Pods, perhaps never.
    if text(object, "/spec/updateStrategy/type") == "OnDelete" {
        return Ok(());
    }
    let wanted = whole(object, "/spec/replicas").unwrap_or(1);
    enough(count(object, "replicas"), wanted, "exist")?;
    enough(count(object, "readyReplicas"), wanted, "are ready")?;
    not_too_many(count(object, "replicas"), wanted)?;

    // Pods below the partition keep the old version, so the revisions stay different.
    if let Some(partition) = whole(object, "/spec/updateStrategy/rollingUpdate/partition") {
        let wanted = wanted.saturating_sub(partition);
        return enough(
            count(object, "updatedReplicas"),
            wanted,
            "are of the new version",
        );
    }
    enough(
        count(object, "currentReplicas"),
        wanted,
        "are of the current version",
    )?;
    if text(object, "/status/currentRevision") != text(object, "/status/updateRevision") {
        return waiting("its new version is not complete");
    }
    Ok(())
}

fn daemon_set(object: &Value) -> Rule {
    // The controller has not seen a new DaemonSet whose counts are all 0.
    let is_seen = whole(object, "/metadata/generation").is_some()
        && whole(object, "/status/observedGeneration").is_some();
    let Some(wanted) = whole(object, "/status/desiredNumberScheduled").filter(|_| is_seen) else {
        return waiting("its controller has not seen it");
    };
    enough(count(object, "currentNumberScheduled"), wanted, "exist")?;
    enough(
        count(object, "updatedNumberScheduled"),
        wanted,
        "are of the new version",
    )?;
    enough(count(object, "numberAvailable"), wanted, "are available")?;
    enough(count(object, "numberReady"), wanted, "are ready")
}

fn replica_set(object: &Value) -> Rule {
    let failure = conditions(object).find(|it| it.kind == "ReplicaFailure" && it.status == "True");
    if let Some(failure) = failure {
        return waiting(failure.text("its Pods cannot be created or deleted"));
    }
    let wanted = whole(object, "/spec/replicas").unwrap_or(1);
    let labelled = count(object, "fullyLabeledReplicas");
    enough(labelled, wanted, "have the labels of its template")?;
    enough(count(object, "availableReplicas"), wanted, "are available")?;
    enough(count(object, "readyReplicas"), wanted, "are ready")?;
    not_too_many(count(object, "replicas"), wanted)
}

fn job(object: &Value) -> Rule {
    match job_is_done(object) {
        Some(Ok(())) => Ok(()),
        Some(Err(why)) => failed(why),
        None if text(object, "/status/startTime").is_empty() => waiting("it has not started"),
        None => Ok(()),
    }
}

fn pod(object: &Value, now: Timestamp) -> Rule {
    let condition = |kind| conditions(object).find(move |it| it.kind == kind);
    match text(object, "/status/phase") {
        // A Pod that failed is ready for kstatus, too: nothing more will happen to it.
        "Succeeded" | "Failed" => Ok(()),
        "Running" => {
            if condition("Ready").is_some_and(|it| it.status == "True") {
                return Ok(());
            }
            match crashing(object) {
                names if names.is_empty() => waiting("it runs and is not ready"),
                names => failed(format!("it crashes again and again: {}", names.join(", "))),
            }
        }
        "Pending" => match condition("PodScheduled") {
            Some(it) if it.status == "False" && it.reason == "Unschedulable" => {
                let created = text(object, "/metadata/creationTimestamp").parse::<Timestamp>();
                if created.is_ok_and(|created| now.duration_since(created) < TO_SCHEDULE) {
                    return waiting("it has no node yet");
                }
                failed(it.text("no node can take it"))
            }
            _ => waiting("it is pending"),
        },
        "" => waiting("it has no phase yet"),
        phase => waiting(format!("its phase is `{phase}`")),
    }
}

/// The names of containers that the kubelet restarts with growing delays.
fn crashing(pod: &Value) -> Vec<&str> {
    let statuses = list(pod, "/status/containerStatuses");
    statuses
        .filter(|it| text(it, "/state/waiting/reason") == "CrashLoopBackOff")
        .map(|it| text(it, "/name"))
        .collect()
}

fn claim(object: &Value) -> Rule {
    // A claim of a class with WaitForFirstConsumer is bound once a Pod uses it.
    match text(object, "/status/phase") {
        "Bound" => Ok(()),
        "" => waiting("it is not bound to a volume"),
        phase => waiting(format!(
            "it is not bound to a volume, its phase is `{phase}`"
        )),
    }
}

fn service(object: &Value) -> Rule {
    if text(object, "/spec/type") != "LoadBalancer" {
        return Ok(());
    }
    if text(object, "/spec/clusterIP").is_empty() {
        return waiting("it has no IP address in the cluster");
    }
    // kstatus stops here, so it calls a Service ready that nobody can reach. Helm 3 asks for an address, too.
    let mut addresses =
        list(object, "/status/loadBalancer/ingress").chain(list(object, "/spec/externalIPs"));
    match addresses.next() {
        Some(_) => Ok(()),
        None => waiting("its load balancer has no address"),
    }
}

fn definition(object: &Value) -> Rule {
    for condition in conditions(object) {
        match (condition.kind, condition.status) {
            ("NamesAccepted", "False") => {
                return failed(condition.text("its names are not accepted"));
            }
            ("Established", "True") => return Ok(()),
            ("Established", "False") if condition.reason != "Installing" => {
                return failed(condition.text("it cannot be established"));
            }
            _ => {}
        }
    }
    waiting("it is not established")
}

/// The rule for kinds that have no own: many controllers have a condition `Ready`.
fn by_condition(object: &Value) -> Rule {
    let is_known = |it: &Condition| matches!(it.status, "True" | "False" | "Unknown");
    let ready = conditions(object).find(|it| it.kind == "Ready" && is_known(it));
    match ready {
        Some(ready) if ready.status != "True" => waiting(ready.text("it is not ready")),
        _ => Ok(()),
    }
}

fn waiting(what: impl Into<String>) -> Rule {
    Err(Readiness::Waiting(what.into()))
}

fn failed(why: impl Into<String>) -> Rule {
    Err(Readiness::Failed(why.into()))
}

fn enough(there: i64, wanted: i64, what: &str) -> Rule {
    if there < wanted {
        return waiting(format!("{there} of {wanted} Pods {what}"));
    }
    Ok(())
}

fn not_too_many(there: i64, wanted: i64) -> Rule {
    if there > wanted {
        return waiting(format!("{there} Pods exist, and it wants {wanted}"));
    }
    Ok(())
}

impl Condition<'_> {
    /// What it says, or `otherwise` if it says nothing.
    fn text(&self, otherwise: &str) -> String {
        words(self.reason, self.message, otherwise)
    }
}

fn words(reason: &str, message: &str, otherwise: &str) -> String {
    match (reason, message) {
        ("", "") => otherwise.to_owned(),
        (only, "") | ("", only) => only.to_owned(),
        (reason, message) => format!("{reason}: {message}"),
    }
}

fn conditions(object: &Value) -> impl Iterator<Item = Condition<'_>> {
    list(object, "/status/conditions").map(|it| Condition {
        kind: text(it, "/type"),
        status: text(it, "/status"),
        reason: text(it, "/reason"),
        message: text(it, "/message"),
    })
}

fn list<'a>(object: &'a Value, path: &str) -> impl Iterator<Item = &'a Value> {
    let list = object.pointer(path).and_then(Value::as_array);
    list.into_iter().flatten()
}

/// Empty if there is none.
fn text<'a>(object: &'a Value, path: &str) -> &'a str {
    let text = object.pointer(path).and_then(Value::as_str);
    text.unwrap_or_default()
}

fn whole(object: &Value, path: &str) -> Option<i64> {
    object.pointer(path).and_then(Value::as_i64)
}

/// A number of `status`, which leaves out zeros.
fn count(object: &Value, field: &str) -> i64 {
    let number = object.get("status").and_then(|status| status.get(field));
    number.and_then(Value::as_i64).unwrap_or_default()
}
