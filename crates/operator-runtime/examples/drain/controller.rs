//! The type NodeMaintenance and its controller.
//!
//! Each reconcile looks at the cluster, asks once for what is missing, and requeues: nothing waits in a
//! worker, and a restart loses nothing.

use std::{fmt, sync::Arc, time::Duration};

use k8s_openapi::{
    Resource as _,
    api::{
        apps::v1::DaemonSet,
        core::v1::{Node, Pod},
    },
    apimachinery::pkg::apis::meta::v1::{Condition, OwnerReference},
    jiff::{SignedDuration, Timestamp},
};
use kube::{
    Api, Client, CustomResource, KubeSchema, ResourceExt,
    api::{EvictParams, ListParams},
    core::Status,
};
use operator_runtime::{
    Action, Clock, Controller, Controllers, Manager, ManagerOptions, Predicate, ReadyCondition,
    Verb, Watch, WatchScope, api_of, conditions, finalizer, status,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub const OPTIONS: ManagerOptions = ManagerOptions {
    name: "drain.example.com",
    scope: WatchScope::Cluster,
};

/// `True` when no Pod is left to evict.
pub const DRAINED: ReadyCondition = ReadyCondition::positive("Drained");

/// The finalizer uncordons the node.
const FINALIZER: &str = "maintenance.example.com/uncordon";

/// The annotation of a static Pod, which the kubelet runs from a file and only shows to the API server.
const MIRROR: &str = "kubernetes.io/config.mirror";

/// The time between two looks at the Pods, as in `kubectl drain`.
const PERIOD: Duration = Duration::from_secs(5);

/// A message names this many Pods. The status lists all of them.
const NAMED: usize = 5;

/// The maintenance of the node with the same name, so a node has at most one.
///
/// Its Pods are evicted as by `kubectl drain --ignore-daemonsets --delete-emptydir-data`, but those that have
/// ended stay. The node is uncordoned when the object is deleted.
#[derive(Clone, Debug, CustomResource, Deserialize, JsonSchema, Serialize)]
#[kube(
    group = "maintenance.example.com",
    version = "v1",
    kind = "NodeMaintenance",
    status = "NodeMaintenanceStatus"
)]
#[serde(rename_all = "camelCase")]
pub struct NodeMaintenanceSpec {
    /// Evicts Pods without a controller as well, although nothing will create them elsewhere. By default,
    /// such a Pod stops the drain before anything is evicted.
    #[serde(default)]
    pub force: bool,
    /// The seconds since the creation of the object after which an unfinished drain is reported as degraded.
    /// It goes on nevertheless.
    #[serde(default = "ten_minutes")]
    #[schemars(range(min = 1))]
    pub timeout_seconds: i64,
}

fn ten_minutes() -> i64 {
    600
}

#[derive(Clone, Debug, Default, Deserialize, KubeSchema, PartialEq, Serialize)]
pub struct NodeMaintenanceStatus {
    /// The Pods that are still to go.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pods: Vec<Remaining>,
    /// `Drained`, and `Degraded` after the time-out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}

/// A Pod that is still to go.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Remaining {
    pub namespace: String,
    pub name: String,
    /// Why it is still there, such as the disruption budget that does not let it go.
    pub reason: String,
}

impl Remaining {
    fn new(pod: &Pod, reason: impl Into<String>) -> Self {
        Self {
            namespace: pod.namespace().unwrap_or_default(),
            name: pod.name_any(),
            reason: reason.into(),
        }
    }
}

impl fmt::Display for Remaining {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{} ({})", self.namespace, self.name, self.reason)
    }
}

pub struct Context {
    client: Client,
    clock: Clock,
}

impl Context {
    pub fn new(manager: &Manager) -> Self {
        Self {
            client: manager.client(),
            clock: manager.clock(),
        }
    }
}

pub fn controller() -> Controllers<Context> {
    Controller::new("node-maintenance", reconcile)
        .primary_watch(Watch::new().when(Predicate::generation()))
        .condition(DRAINED)
        .finalizer()
        .needs::<Node>(&[Verb::Get, Verb::Patch])
        .needs::<Pod>(&[Verb::List])
        .needs_subresource::<Pod>("eviction", &[Verb::Create])
        .into()
}

pub async fn reconcile(
    maintenance: Arc<NodeMaintenance>,
    ctx: Arc<Context>,
) -> kube::Result<Action> {
    let api = Api::all(ctx.client.clone());
    let apply = async |maintenance: Arc<NodeMaintenance>| drain(&api, &maintenance, &ctx).await;
    let cleanup = async |maintenance: Arc<NodeMaintenance>| {
        uncordon(&ctx.client, &maintenance.name_any()).await
    };
    finalizer::run(&api, maintenance, FINALIZER, apply, cleanup).await
}

async fn drain(
    api: &Api<NodeMaintenance>,
    maintenance: &NodeMaintenance,
    ctx: &Context,
) -> kube::Result<Action> {
    let node = maintenance.name_any();
    cordon(&ctx.client, &node).await?;
    let pods = pods_to_evict(&ctx.client, &node).await?;
    let refused = match maintenance.spec.force {
        true => Vec::new(),
        false => without_controller(&pods),
    };
    // As in kubectl, nothing is evicted before everything may be.
    let remaining = match refused.is_empty() {
        true => evict_all(&ctx.client, &pods).await?,
        false => refused,
    };
    let is_drained = remaining.is_empty();
    let report = report(maintenance, ctx.clock.now(), remaining);
    status::patch(api, maintenance, &report).await?;
    // No watch shows when a Pod is gone or its budget allows the eviction, so look again.
    Ok(match is_drained {
        true => Action::await_change(),
        false => Action::requeue(PERIOD),
    })
}

fn report(
    maintenance: &NodeMaintenance,
    now: Timestamp,
    remaining: Vec<Remaining>,
) -> NodeMaintenanceStatus {
    let since = maintenance.creation_timestamp().map_or(now, |time| time.0);
    let timeout = SignedDuration::from_secs(maintenance.spec.timeout_seconds);
    let is_drained = remaining.is_empty();
    let is_late = !is_drained && now.duration_since(since) > timeout;
    let text = describe(&remaining);
    let drained = match is_drained {
        true => "NoPodRemains",
        false => "PodsRemain",
    };
    let late = format!("not drained within {timeout:#}; {text}");
    let (degraded, why) = match is_late {
        true => ("TimedOut", late),
        false => ("AsExpected", String::new()),
    };
    NodeMaintenanceStatus {
        pods: remaining,
        conditions: vec![
            DRAINED.of(maintenance, is_drained, drained, text),
            conditions::new(maintenance, "Degraded", is_late, degraded, why),
        ],
    }
}

fn describe(remaining: &[Remaining]) -> String {
    let named = remaining.iter().take(NAMED).map(ToString::to_string);
    let named = named.collect::<Vec<_>>().join(", ");
    match remaining.len() {
        0 => "no Pod is left to evict".to_owned(),
        count if count > NAMED => format!("remaining Pods: {named} and {} more", count - NAMED),
        _ => format!("remaining Pods: {named}"),
    }
}

async fn cordon(client: &Client, name: &str) -> kube::Result<()> {
    let nodes: Api<Node> = Api::all(client.clone());
    let node = nodes.get(name).await?;
    if node.spec.and_then(|spec| spec.unschedulable) != Some(true) {
        nodes.cordon(name).await?;
    }
    Ok(())
}

/// Uncordons the node, if it still exists.
async fn uncordon(client: &Client, name: &str) -> kube::Result<()> {
    match Api::<Node>::all(client.clone()).uncordon(name).await {
        Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
        result => result.map(drop),
    }
}

/// The API server has an index of `spec.nodeName`. A store would hold every Pod of the cluster all the time,
/// for a drain now and then.
async fn pods_to_evict(client: &Client, node: &str) -> kube::Result<Vec<Pod>> {
    let on_node = ListParams::default().fields(&format!("spec.nodeName={node}"));
    let mut pods = Api::<Pod>::all(client.clone()).list(&on_node).await?.items;
    pods.retain(|pod| !stays(pod));
    Ok(pods)
}

/// Whether a drain leaves the Pod alone: the kubelet or a DaemonSet would start it again on the same node, or
/// it has ended.
fn stays(pod: &Pod) -> bool {
    let status = pod.status.as_ref();
    let phase = status.and_then(|status| status.phase.as_deref());
    let has_ended = matches!(phase, Some("Succeeded" | "Failed"));
    let is_mirror = pod.annotations().contains_key(MIRROR);
    let is_of_daemon_set = controller_of(pod).is_some_and(|owner| {
        owner.api_version == DaemonSet::API_VERSION && owner.kind == DaemonSet::KIND
    });
    has_ended || is_mirror || is_of_daemon_set
}

fn controller_of(pod: &Pod) -> Option<&OwnerReference> {
    let mut owners = pod.owner_references().iter();
    owners.find(|owner| owner.controller == Some(true))
}

fn without_controller(pods: &[Pod]) -> Vec<Remaining> {
    let alone = pods.iter().filter(|pod| controller_of(pod).is_none());
    let reason = "it has no controller: delete it, or set spec.force";
    alone.map(|pod| Remaining::new(pod, reason)).collect()
}

async fn evict_all(client: &Client, pods: &[Pod]) -> kube::Result<Vec<Remaining>> {
    let mut remaining = Vec::new();
    for pod in pods {
        let reason = evict(client, pod).await?;
        remaining.extend(reason.map(|reason| Remaining::new(pod, reason)));
    }
    Ok(remaining)
}

/// Evicts a Pod, and returns why it is still there: `None` if it is gone.
///
/// A refusal is no error: it is about this Pod, and must not keep the other ones on the node. The next
/// reconcile asks again.
pub async fn evict(client: &Client, pod: &Pod) -> kube::Result<Option<String>> {
    let terminating = || Ok(Some("it is terminating".to_owned()));
    if pod.metadata.deletion_timestamp.is_some() {
        return terminating();
    }
    // kube 5 sends the `delete_options` of an eviction under a name that the API server does not know: it
    // warns, and a grace period or a precondition has no effect.
    let params = EvictParams::default();
    match api_of(client, pod).evict(&pod.name_any(), &params).await {
        // The API server refuses a Pod with two budgets with the code 201 and a failure in the body.
        Ok(status) if status.is_failure() => Ok(Some(refusal(&status))),
        Ok(_) => terminating(),
        Err(kube::Error::Api(status)) if status.is_not_found() => Ok(None),
        // Above all 429, of a disruption budget.
        Err(kube::Error::Api(status)) => Ok(Some(refusal(&status))),
        Err(error) => Err(error),
    }
}

/// What the API server says. Only the cause names the disruption budget.
fn refusal(status: &Status) -> String {
    let mut causes = status.details.iter().flat_map(|details| &details.causes);
    match causes.find(|cause| cause.reason == "DisruptionBudget") {
        Some(budget) => budget.message.clone(),
        None => status.message.clone(),
    }
}
