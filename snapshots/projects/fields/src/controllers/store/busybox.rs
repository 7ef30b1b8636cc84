// SPDX-License-Identifier: Apache-2.0

use std::{
    collections::BTreeMap,
    env,
    sync::{Arc, LazyLock},
};

use k8s_openapi::api::{apps::v1 as apps, core::v1 as core, policy::v1 as policy};
use k8s_openapi::apimachinery::pkg::api::resource;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{self as meta, ObjectMeta};
use k8s_openapi::apimachinery::pkg::util::intstr;
use kube::runtime::events;
use kube::{Resource, ResourceExt};
use operator_runtime::{Action, Controller, ReadyCondition, ReconcileError, status};

use crate::Context;
use crate::api::store::busybox::{Busybox, BusyboxStatus};

/// The name of this controller in logs, metrics and probes.
const NAME: &str = "store-busybox";

/// The label `app.kubernetes.io/name` of the Pods. It cannot change: a Deployment's selector is immutable.
const LABEL: &str = "store-busybox";

/// The condition that reports readiness: `True` when all Pods run the wanted template.
pub const READY: ReadyCondition = ReadyCondition::positive("Ready");

/// The environment variable with the image; `config/manager/manager.yaml` sets it.
const IMAGE_VARIABLE: &str = "RELATED_IMAGE_STORE_BUSYBOX";

/// The image, unless the environment variable names another one.
const DEFAULT_IMAGE: &str = "busybox:1.37";

/// The image that the Pods run.
static IMAGE: LazyLock<String> = LazyLock::new(|| {
    let image = env::var(IMAGE_VARIABLE).unwrap_or_default();
    match image.is_empty() {
        true => DEFAULT_IMAGE.to_owned(),
        false => image,
    }
});

/// The command of the container, separated by commas.
const COMMAND: &str = "sleep,infinity";

/// The port that the container listens on.
const PORT: i32 = 8080;

/// The user ID that the container runs as.
const USER: i64 = 1001;

/// What a container requests, and the memory that it may use. Set both to what the image needs.
const REQUESTS: [(&str, &str); 2] = [("cpu", "10m"), ("memory", "64Mi")];
const LIMITS: [(&str, &str); 1] = [("memory", "256Mi")];

/// Declares the types that this controller uses. `make manifests` derives its permissions from here.
pub fn controller() -> Controller<Busybox, Context> {
    Controller::new(NAME, reconcile)
        .condition(READY)
        .owns::<apps::Deployment>()
        .owns::<policy::PodDisruptionBudget>()
        .owns::<core::Service>()
}

/// The errors of `reconcile`. A failed reconcile is retried with exponential back-off.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("a call to the API server failed")]
    Kube(#[from] kube::Error),
}

impl ReconcileError for Error {
    fn reason(&self) -> &'static str {
        match self {
            Self::Kube(_) => "ApiCallFailed",
        }
    }
}

/// Drives the cluster toward `busybox.spec`. Runs after every change, so it must be idempotent.
async fn reconcile(busybox: Arc<Busybox>, context: Arc<Context>) -> Result<Action, Error> {
    // The object and its owned objects are being deleted: do not create new ones.
    if busybox.metadata.deletion_timestamp.is_some() {
        return Ok(Action::await_change());
    }
    // An unchanged object is not sent again.
    let applier = &context.applier;
    let deployment = wanted_deployment(&busybox);
    let applied = applier.owned(&*busybox, deployment).await?;
    let budget = wanted_budget(&busybox);
    applier.owned(&*busybox, budget).await?;
    let service = wanted_service(&busybox);
    applier.owned(&*busybox, service).await?;

    // The store may still hold the older Deployment, whose status describes the old spec.
    let namespace = busybox.metadata.namespace.as_deref();
    let name = busybox.name_any();
    let deployment = context.deployments.get(namespace, &name);
    let status = deployment.as_ref().and_then(|it| it.status.as_ref());
    let status = status.filter(|it| it.observed_generation >= applied.generation);
    let wanted = wanted_status(&busybox, status);
    let api = context.api(&*busybox);
    status::patch(&api, &*busybox, &wanted).await?;
    if let Some(event) = transition(&busybox, &wanted) {
        let reference = busybox.object_ref(&());
        let published = context.recorder.publish(&event, &reference).await;
        if let Err(error) = published {
            tracing::warn!(%error, "cannot publish an event");
        }
    }
    Ok(Action::await_change())
}

/// The labels that select the Pods of `busybox`.
fn labels(busybox: &Busybox) -> BTreeMap<String, String> {
    let label = |name: &str| format!("app.kubernetes.io/{name}");
    BTreeMap::from([
        (label("name"), LABEL.to_owned()),
        (label("instance"), busybox.name_any()),
    ])
}

fn selector(busybox: &Busybox) -> meta::LabelSelector {
    meta::LabelSelector {
        match_labels: Some(labels(busybox)),
        ..meta::LabelSelector::default()
    }
}

/// The metadata of every owned object: each has the name of `busybox`.
fn metadata(busybox: &Busybox) -> ObjectMeta {
    ObjectMeta {
        name: Some(busybox.name_any()),
        labels: Some(labels(busybox)),
        ..ObjectMeta::default()
    }
}

/// The Deployment that `busybox` should have. Its Pods meet the Pod Security Standard "restricted", have
/// no token for the API server, and write only to `/tmp`: an image that needs more needs more volumes.
fn wanted_deployment(busybox: &Busybox) -> apps::Deployment {
    let container = core::Container {
        name: "main".to_owned(),
        image: Some(IMAGE.clone()),
        command: Some(COMMAND.split(',').map(str::to_owned).collect()),
        ports: Some(vec![core::ContainerPort {
            name: Some("main".to_owned()),
            container_port: PORT,
            ..core::ContainerPort::default()
        }]),
        // Up to 5 minutes for the start. A better test than a connection is one that the image answers.
        startup_probe: Some(core::Probe {
            failure_threshold: Some(60),
            period_seconds: Some(5),
            ..probe()
        }),
        liveness_probe: Some(probe()),
        readiness_probe: Some(probe()),
        resources: Some(core::ResourceRequirements {
            requests: Some(quantities(&REQUESTS)),
            limits: Some(quantities(&LIMITS)),
            ..core::ResourceRequirements::default()
        }),
        volume_mounts: Some(vec![core::VolumeMount {
            name: "tmp".to_owned(),
            mount_path: "/tmp".to_owned(),
            ..core::VolumeMount::default()
        }]),
        security_context: Some(core::SecurityContext {
            allow_privilege_escalation: Some(false),
            read_only_root_filesystem: Some(true),
            capabilities: Some(core::Capabilities {
                drop: Some(vec!["ALL".to_owned()]),
                ..core::Capabilities::default()
            }),
            ..core::SecurityContext::default()
        }),
        ..core::Container::default()
    };
    let pod = core::PodSpec {
        containers: vec![container],
        automount_service_account_token: Some(false),
        volumes: Some(vec![core::Volume {
            name: "tmp".to_owned(),
            empty_dir: Some(core::EmptyDirVolumeSource::default()),
            ..core::Volume::default()
        }]),
        security_context: Some(core::PodSecurityContext {
            run_as_non_root: Some(true),
            run_as_user: Some(USER),
            seccomp_profile: Some(core::SeccompProfile {
                type_: "RuntimeDefault".to_owned(),
                ..core::SeccompProfile::default()
            }),
            ..core::PodSecurityContext::default()
        }),
        ..core::PodSpec::default()
    };
    apps::Deployment {
        metadata: metadata(busybox),
        spec: apps::DeploymentSpec {
            replicas: Some(busybox.spec.size),
            selector: selector(busybox),
            template: core::PodTemplateSpec {
                metadata: Some(ObjectMeta {
                    labels: Some(labels(busybox)),
                    ..ObjectMeta::default()
                }),
                spec: Some(pod),
            },
            ..apps::DeploymentSpec::default()
        },
        status: None,
    }
}

fn quantities(of: &[(&str, &str)]) -> BTreeMap<String, resource::Quantity> {
    of.iter()
        .map(|(name, value)| (name.to_string(), resource::Quantity(value.to_string())))
        .collect()
}

/// Whether the container accepts connections.
fn probe() -> core::Probe {
    core::Probe {
        tcp_socket: Some(core::TCPSocketAction {
            port: intstr::IntOrString::String("main".to_owned()),
            ..core::TCPSocketAction::default()
        }),
        ..core::Probe::default()
    }
}

/// Lets a node drain evict one Pod at a time.
fn wanted_budget(busybox: &Busybox) -> policy::PodDisruptionBudget {
    policy::PodDisruptionBudget {
        metadata: metadata(busybox),
        spec: Some(policy::PodDisruptionBudgetSpec {
            max_unavailable: Some(intstr::IntOrString::Int(1)),
            selector: Some(selector(busybox)),
            // Pods that are not ready do not block a drain.
            unhealthy_pod_eviction_policy: Some("AlwaysAllow".to_owned()),
            ..policy::PodDisruptionBudgetSpec::default()
        }),
        status: None,
    }
}

/// The Service in front of the Pods.
fn wanted_service(busybox: &Busybox) -> core::Service {
    core::Service {
        metadata: metadata(busybox),
        spec: Some(core::ServiceSpec {
            selector: Some(labels(busybox)),
            ports: Some(vec![core::ServicePort {
                name: Some("main".to_owned()),
                port: PORT,
                target_port: Some(intstr::IntOrString::String("main".to_owned())),
                ..core::ServicePort::default()
            }]),
            ..core::ServiceSpec::default()
        }),
        status: None,
    }
}

/// The status that this controller wants, from that of the Deployment.
fn wanted_status(busybox: &Busybox, deployment: Option<&apps::DeploymentStatus>) -> BusyboxStatus {
    let count = |replicas: Option<i32>| replicas.unwrap_or(0);
    let (available, old) = deployment.map_or((0, 0), |it| {
        let old = count(it.replicas) - count(it.updated_replicas);
        (count(it.available_replicas), old)
    });
    let size = busybox.spec.size;
    // Pods of an old template may be among the available ones.
    let available = (available - old).clamp(0, size.max(0));
    let is_ready = deployment.is_some() && old == 0 && available >= size;
    let conditions = deployment.and_then(|it| it.conditions.as_ref());
    let mut conditions = conditions.into_iter().flatten();
    let stuck = conditions.find(|it| {
        let condition = (it.type_.as_deref(), it.status.as_deref());
        condition == (Some("Progressing"), Some("False"))
    });
    let mut message = format!("{available} of {size} Pods are up to date and available");
    let reason = match stuck {
        _ if is_ready => "Available",
        // The Deployment has not progressed for 10 minutes.
        Some(stuck) => {
            let why = stuck.message.as_deref().unwrap_or_default();
            message = format!("{message}: {why}");
            "ProgressDeadlineExceeded"
        }
        None => "Progressing",
    };
    let mut status = BusyboxStatus::default();
    let ready = READY.of(busybox, is_ready, reason, message);
    status.conditions.push(ready);
    status.observed_generation = busybox.metadata.generation;
    status
}

/// The event for a change of the readiness; `None` if it has not changed.
fn transition(busybox: &Busybox, wanted: &BusyboxStatus) -> Option<events::Event> {
    let ready = |status: &BusyboxStatus| {
        let mut conditions = status.conditions.iter();
        let ready = conditions.find(|it| it.type_ == READY.type_());
        ready.cloned()
    };
    let before = busybox.status.as_ref().and_then(ready);
    let after = ready(wanted)?;
    if before.as_ref().is_some_and(|it| it.status == after.status) {
        return None;
    }
    // Only the change from ready to not ready is a warning.
    let type_ = match before.is_some_and(|it| it.status == "True") {
        true => events::EventType::Warning,
        false => events::EventType::Normal,
    };
    Some(events::Event {
        type_,
        reason: after.reason,
        note: Some(after.message),
        action: "Reconcile".to_owned(),
        secondary: None,
    })
}

#[cfg(test)]
mod tests {
    use k8s_openapi::jiff::Timestamp;
    use operator_runtime::fake::Fake;

    use super::*;

    fn deployment([all, updated, available]: [i32; 3]) -> apps::DeploymentStatus {
        apps::DeploymentStatus {
            replicas: Some(all),
            updated_replicas: Some(updated),
            available_replicas: Some(available),
            ..apps::DeploymentStatus::default()
        }
    }

    #[test]
    fn ready_when_all_pods_are_up_to_date_and_available() {
        let mut busybox = Busybox::default();
        busybox.spec.size = 2;
        let status = |deployment: Option<&apps::DeploymentStatus>| {
            let status = wanted_status(&busybox, deployment);
            status.conditions[0].status.clone()
        };
        let ready = |counts| status(Some(&deployment(counts)));
        assert_eq!(status(None), "False");
        assert_eq!(ready([2, 2, 2]), "True");
        assert_eq!(ready([2, 2, 1]), "False");
        // A rollout: one of the available Pods has the old template.
        assert_eq!(ready([3, 2, 2]), "False");
        assert_eq!(ready([3, 2, 3]), "False");
    }

    #[test]
    fn a_rollout_that_is_stuck_shows() {
        let mut busybox = Busybox::default();
        busybox.spec.size = 1;
        let mut stuck = deployment([1, 1, 0]);
        stuck.conditions = Some(vec![apps::DeploymentCondition {
            type_: Some("Progressing".to_owned()),
            status: Some("False".to_owned()),
            message: Some("timed out".to_owned()),
            ..apps::DeploymentCondition::default()
        }]);
        let status = wanted_status(&busybox, Some(&stuck));
        assert_eq!(status.conditions[0].reason, "ProgressDeadlineExceeded");
        assert!(status.conditions[0].message.ends_with("timed out"));
    }

    #[test]
    fn an_event_for_each_change_of_readiness() {
        let mut busybox = Busybox::default();
        for (available, expected) in [(0, true), (0, false), (1, true), (1, false), (0, true)] {
            busybox.spec.size = 1;
            let deployment = deployment([1, 1, available]);
            let wanted = wanted_status(&busybox, Some(&deployment));
            let event = transition(&busybox, &wanted);
            assert_eq!(event.is_some(), expected);
            busybox.status = Some(wanted);
        }
    }

    #[tokio::test]
    async fn does_not_write_unchanged_or_deleted_objects() {
        let fake = Fake::default();
        // Unchanged owned objects are not applied again.
        fake.watch(controller());
        let context = Arc::new(fake.context(Context::new).await);
        let mut busybox = Busybox::default();
        busybox.metadata.name = Some("test".into());
        fake.insert(busybox);
        let stored = || fake.get("test").map(Arc::new);
        reconcile(stored().unwrap(), context.clone()).await.unwrap();
        let writes = fake.writes();
        assert!(fake.get::<apps::Deployment>("test").is_some());
        reconcile(stored().unwrap(), context.clone()).await.unwrap();
        assert_eq!(fake.writes(), writes);

        let mut deleted = (*stored().unwrap()).clone();
        deleted.metadata.deletion_timestamp = Some(meta::Time(Timestamp::now()));
        deleted.status = None;
        reconcile(Arc::new(deleted), context).await.unwrap();
        assert_eq!(fake.writes(), writes);
    }
}
