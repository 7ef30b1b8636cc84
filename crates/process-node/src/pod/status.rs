//! The status of a Pod, as the node reports it.

use std::time::Duration;

use anyhow::Result;
use k8s_openapi::{api::core::v1::Container, jiff::Timestamp};
use kube::{
    ResourceExt,
    api::{Patch, PatchParams},
};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::{State, Worker};
use crate::network;

impl Worker {
    /// Reports each change to the API server.
    pub(super) async fn publish(&self) -> Result<()> {
        let mut shown = Value::Null;
        loop {
            let status = self.status(&shown);
            if status != shown {
                let pod = self.pod.borrow().clone();
                let patch =
                    Patch::Merge(json!({ "metadata": { "uid": pod.uid() }, "status": status }));
                let params = PatchParams::default();
                match self
                    .pods(&pod)
                    .patch_status(&pod.name_any(), &params, &patch)
                    .await
                {
                    Ok(_) => shown = status,
                    Err(kube::Error::Api(error)) if error.is_not_found() || error.is_conflict() => {
                        std::future::pending::<()>().await;
                    }
                    Err(_) => {
                        sleep(Duration::from_millis(500)).await;
                        continue;
                    }
                }
            }
            self.changed.notified().await;
        }
    }

    /// The status of the Pod. Conditions keep their times from `shown` while they hold.
    fn status(&self, shown: &Value) -> Value {
        let pod = self.pod.borrow().clone();
        let states = self.states().clone();
        let spec = pod.spec.clone().unwrap_or_default();
        let of = |containers: &[Container]| -> Vec<State> {
            let state = |it: &Container| states.get(&it.name).cloned().unwrap_or_default();
            containers.iter().map(state).collect()
        };
        let inits = spec.init_containers.unwrap_or_default();
        let (init_states, main_states) = (of(&inits), of(&spec.containers));
        let code = |state: &State| Some(state.terminated.as_ref()?["exitCode"].as_i64()? == 0);
        let policy = spec.restart_policy.as_deref().unwrap_or("Always");
        let initialized = init_states.iter().all(|state| code(state) == Some(true));
        let init_failed = init_states.iter().any(|state| code(state) == Some(false));
        let ends: Vec<_> = main_states.iter().map(code).collect();
        let over = policy != "Always" && !ends.is_empty() && ends.iter().all(Option::is_some);
        let failed = ends.contains(&Some(false));
        let phase = match () {
            () if policy == "Never" && init_failed => "Failed",
            () if over && failed && policy == "Never" => "Failed",
            () if over && !failed => "Succeeded",
            () if main_states
                .iter()
                .any(|it| it.running.is_some() || it.restarts > 0 || it.terminated.is_some()) =>
            {
                "Running"
            }
            () => "Pending",
        };
        let ready = phase == "Running" && main_states.iter().all(|state| state.ready);
        let now = Timestamp::now();
        let condition = |type_: &str, holds: bool| {
            let status = if holds { "True" } else { "False" };
            let mut old = shown["conditions"].as_array().into_iter().flatten();
            let old = old.find(|it| it["type"] == type_ && it["status"] == status);
            let time = old.map_or(json!(now), |it| it["lastTransitionTime"].clone());
            json!({ "type": type_, "status": status, "lastTransitionTime": time })
        };
        let shown_states = |containers: &[Container], states: &[State]| -> Vec<Value> {
            containers
                .iter()
                .zip(states)
                .map(|(it, state)| state.show(it))
                .collect()
        };
        json!({
            "phase": phase,
            "hostIP": network::GATEWAY,
            "podIP": self.address.to_string(),
            "podIPs": [{ "ip": self.address.to_string() }],
            "startTime": self.since,
            "conditions": [
                condition("PodScheduled", true),
                condition("Initialized", initialized),
                condition("ContainersReady", ready),
                condition("Ready", ready),
            ],
            "initContainerStatuses": shown_states(&inits, &init_states),
            "containerStatuses": shown_states(&spec.containers, &main_states),
        })
    }
}

impl State {
    fn show(&self, container: &Container) -> Value {
        let state = match (&self.running, &self.terminated) {
            (Some((_, at)), _) => json!({ "running": { "startedAt": at } }),
            (None, Some(end)) => json!({ "terminated": end }),
            (None, None) => {
                let (reason, message) = &self.waiting;
                let reason = if reason.is_empty() {
                    "ContainerCreating"
                } else {
                    reason
                };
                json!({ "waiting": { "reason": reason, "message": message } })
            }
        };
        let last = self
            .last
            .as_ref()
            .map_or(json!({}), |end| json!({ "terminated": end }));
        json!({
            "name": container.name,
            "image": container.image,
            "imageID": "",
            "ready": self.ready,
            "started": self.started,
            "restartCount": self.restarts,
            "state": state,
            "lastState": last,
        })
    }
}
