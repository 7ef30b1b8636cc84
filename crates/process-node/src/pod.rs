//! The life of one Pod on this node.

mod end;
mod environment;
mod health;
mod status;
mod waiting;

use std::{
    collections::BTreeMap,
    fs,
    net::Ipv4Addr,
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::ExitStatus,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use anyhow::{Context, Result};
use futures::future::join_all;
use k8s_openapi::{
    api::core::v1::{Container, Pod},
    jiff::Timestamp,
};
use kube::{Api, ResourceExt, api::DeleteParams};
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::{
    process::{Child, Command},
    select,
    sync::{Notify, watch},
    time::{Instant, sleep},
};

use crate::{container::Start, host::Host, image::Image, network, probe::Target, volume::Volumes};

/// The back-off of a container that ends, doubled each time up to the limit. A kubelet begins with 10 s.
const BACK_OFF: Duration = Duration::from_millis(500);
const BACK_OFF_LIMIT: Duration = Duration::from_secs(10);

/// How often volumes are compared with their objects.
const REFRESH: Duration = Duration::from_secs(2);

/// The end of a log that stands for a missing termination message: at most 2048 bytes, or 80 lines.
const LOG_BYTES: usize = 2048;
const LOG_LINES: usize = 80;

/// What is known of one container.
#[derive(Clone, Default)]
struct State {
    running: Option<(u32, Timestamp)>,
    terminated: Option<Value>,
    last: Option<Value>,
    restarts: u32,
    started: bool,
    ready: bool,
    /// Why it does not run yet: a reason and a message.
    waiting: (&'static str, String),
}

/// One Pod, and how far it is.
struct Worker {
    host: Arc<Host>,
    pod: watch::Receiver<Arc<Pod>>,
    directory: PathBuf,
    states: Mutex<BTreeMap<String, State>>,
    changed: Notify,
    address: Ipv4Addr,
    since: Timestamp,
}

/// Runs a Pod until it is deleted. `pod` shows its newest form.
pub(crate) async fn run(host: Arc<Host>, pod: watch::Receiver<Arc<Pod>>) {
    let first = pod.borrow().clone();
    let uid = first.uid().unwrap_or_default();
    let worker = Worker {
        directory: host.directory.join("containers").join(&uid),
        host,
        pod,
        states: Mutex::default(),
        changed: Notify::new(),
        address: network::next_address(),
        since: Timestamp::now(),
    };
    let end = select! {
        end = worker.work() => end,
        never = worker.publish() => never,
    };
    if let Err(error) = end {
        eprintln!("process-node: Pod {}: {error:#}", first.name_any());
    }
    worker.delete().await;
    _ = fs::remove_dir_all(&worker.directory);
    _ = fs::remove_dir_all(worker.facts());
}

impl Worker {
    /// Runs the containers, and returns when the Pod is being deleted and they have ended.
    async fn work(&self) -> Result<()> {
        let pod = self.pod.borrow().clone();
        fs::create_dir_all(self.facts())?;
        let hostname = pod.spec.as_ref().and_then(|spec| spec.hostname.clone());
        let mut holder = hold(&hostname.unwrap_or_else(|| pod.name_any()))?;
        let id = holder.id().context("the holder of the namespaces ended")?;
        has_own_network(id).await?;
        network::join(id, self.address).await?;
        fs::write(self.facts().join("network.pid"), id.to_string())?;
        fs::write(self.facts().join("address"), self.address.to_string())?;
        let mut volumes = Volumes::new(
            self.host.client.clone(),
            self.directory.join("volumes"),
            self.host.directory.join("volumes"),
        );
        let directories = loop {
            match volumes.refresh(&pod).await {
                Ok(directories) => break directories,
                Err(error) if self.is_deleted() => return Err(error),
                Err(error) => self.wait_for_volumes(&pod, &error),
            }
            sleep(Duration::from_millis(300)).await;
        };
        let refresh = async {
            loop {
                sleep(REFRESH).await;
                let pod = self.pod.borrow().clone();
                // A Secret that is gone stays as it was, as in a kubelet.
                _ = volumes.refresh(&pod).await;
            }
        };
        select! {
            () = self.containers(&pod, id, &directories) => {}
            () = refresh => {}
        }
        self.deletion().await;
        _ = holder.kill().await;
        Ok(())
    }

    async fn containers(&self, pod: &Pod, holder: u32, volumes: &BTreeMap<String, PathBuf>) {
        let Some(spec) = &pod.spec else { return };
        for container in spec.init_containers.iter().flatten() {
            let policy = match spec.restart_policy.as_deref() {
                Some("Never") => "Never",
                _ => "OnFailure",
            };
            self.supervise(container, policy, holder, volumes).await;
            let states = self.states();
            let end = states
                .get(&container.name)
                .and_then(|state| state.terminated.as_ref());
            if end.is_none_or(|end| end["exitCode"] != 0) {
                return;
            }
        }
        let policy = spec.restart_policy.as_deref().unwrap_or("Always");
        join_all(
            spec.containers
                .iter()
                .map(|it| self.supervise(it, policy, holder, volumes)),
        )
        .await;
    }

    /// Runs one container, again as its Pod's restart policy says.
    async fn supervise(
        &self,
        container: &Container,
        policy: &str,
        holder: u32,
        volumes: &BTreeMap<String, PathBuf>,
    ) {
        let mut back_off = BACK_OFF;
        while let Some(environment) = self.wait_for_environment(container).await {
            let began = Instant::now();
            let end = match self.start(container, environment, holder, volumes) {
                Ok(child) => self.attend(container, child).await,
                Err(error) => json!({
                    "exitCode": 128, "reason": "StartError", "message": format!("{error:#}"),
                    "startedAt": Timestamp::now(), "finishedAt": Timestamp::now(),
                }),
            };
            _ = fs::remove_file(self.facts().join(format!("{}.pid", container.name)));
            let failed = end["exitCode"] != 0;
            let again = policy == "Always" || policy == "OnFailure" && failed;
            self.update(container, |state| {
                state.running = None;
                (state.started, state.ready) = (false, false);
                state.terminated = Some(end);
            });
            if !again {
                return;
            }
            if began.elapsed() > BACK_OFF_LIMIT {
                back_off = BACK_OFF;
            }
            select! {
                () = sleep(back_off) => {}
                () = self.deletion() => return,
            }
            back_off = (back_off * 2).min(BACK_OFF_LIMIT);
            self.update(container, |state| {
                state.last = state.terminated.take();
                state.restarts += 1;
                state.waiting = ("CrashLoopBackOff", String::new());
            });
        }
    }

    fn image(&self, container: &Container) -> Result<&Image> {
        let name = container.image.as_deref().unwrap_or_default();
        let image = self.host.images.get(name);
        image.with_context(|| format!("there is no image `{name}`: name it by --image"))
    }

    fn start(
        &self,
        container: &Container,
        environment: Vec<(String, String)>,
        holder: u32,
        volumes: &BTreeMap<String, PathBuf>,
    ) -> Result<Child> {
        let image = self.image(container)?;
        let directory = self.directory.join(&container.name);
        let child = Start {
            container,
            image,
            holder,
            directory: &directory,
            log: &self.log(&container.name),
            volumes,
            environment,
        }
        .spawn()?;
        let id = child.id().context("the process ended at once")?;
        fs::write(
            self.facts().join(format!("{}.pid", container.name)),
            id.to_string(),
        )?;
        self.update(container, |state| {
            state.running = Some((id, Timestamp::now()));
            state.terminated = None;
        });
        Ok(child)
    }

    /// Probes a running container until it ends, and ends it if its Pod is deleted or it is not alive.
    async fn attend(&self, container: &Container, mut child: Child) -> Value {
        let began = Timestamp::now();
        let id = child.id().unwrap_or_default();
        let target = Target {
            container,
            address: self.address,
            process: id,
        };
        let status = select! {
            status = child.wait() => status,
            () = self.probe(container, target) => self.stop(container, &mut child, target).await,
            () = self.deletion() => self.stop(container, &mut child, target).await,
        };
        // What the process left behind ends with it, as in a container.
        end::signal(id, Signal::KILL);
        let message = self.termination_message(container, &status);
        let (code, by) = match &status {
            Ok(status) => (status.code(), status.signal()),
            Err(_) => (None, None),
        };
        let code = code.unwrap_or_else(|| 128 + by.unwrap_or_default());
        json!({
            "exitCode": code,
            "signal": by,
            "reason": if code == 0 { "Completed" } else { "Error" },
            "message": message,
            "startedAt": began,
            "finishedAt": Timestamp::now(),
        })
    }

    /// What the container wrote to its termination message, or the end of its log if it failed.
    fn termination_message(
        &self,
        container: &Container,
        status: &std::io::Result<ExitStatus>,
    ) -> String {
        let file = self.directory.join(&container.name).join("termination");
        let message = fs::read_to_string(file).unwrap_or_default();
        let from_log =
            container.termination_message_policy.as_deref() == Some("FallbackToLogsOnError");
        let failed = !status.as_ref().is_ok_and(ExitStatus::success);
        if !message.is_empty() || !from_log || !failed {
            return message;
        }
        let log = fs::read(self.log(&container.name)).unwrap_or_default();
        let log = String::from_utf8_lossy(&log[log.len().saturating_sub(LOG_BYTES)..]).into_owned();
        let lines: Vec<_> = log.lines().collect();
        lines[lines.len().saturating_sub(LOG_LINES)..].join("\n")
    }

    fn log(&self, container: &str) -> PathBuf {
        let pod = self.pod.borrow();
        let namespace = pod.namespace().unwrap_or_default();
        let logs = self.host.directory.join("logs").join(namespace);
        logs.join(pod.name_any()).join(format!("{container}.log"))
    }

    /// The directory with the process IDs of the Pod, for those who want to disturb it.
    fn facts(&self) -> PathBuf {
        let pod = self.pod.borrow();
        facts(
            &self.host.directory,
            &pod.namespace().unwrap_or_default(),
            &pod.name_any(),
        )
    }

    fn is_deleted(&self) -> bool {
        self.pod.borrow().metadata.deletion_timestamp.is_some()
    }

    /// Waits until the Pod is being deleted.
    async fn deletion(&self) {
        let mut pod = self.pod.clone();
        // An error means that the API server has no such Pod any more.
        _ = pod
            .wait_for(|pod| pod.metadata.deletion_timestamp.is_some())
            .await;
    }

    fn states(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, State>> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn update(&self, container: &Container, change: impl FnOnce(&mut State)) {
        change(self.states().entry(container.name.clone()).or_default());
        self.changed.notify_one();
    }

    /// Removes the Pod from the API server: its containers have ended.
    async fn delete(&self) {
        let pod = self.pod.borrow().clone();
        let params = DeleteParams::default().grace_period(0);
        let uid = kube::api::Preconditions {
            uid: pod.uid(),
            ..Default::default()
        };
        let params = DeleteParams {
            preconditions: Some(uid),
            ..params
        };
        while let Err(error) = self.pods(&pod).delete(&pod.name_any(), &params).await {
            if matches!(&error, kube::Error::Api(it) if it.is_not_found() || it.is_conflict()) {
                return;
            }
            sleep(Duration::from_millis(500)).await;
        }
    }

    fn pods(&self, pod: &Pod) -> Api<Pod> {
        Api::namespaced(
            self.host.client.clone(),
            &pod.namespace().unwrap_or_default(),
        )
    }
}

/// The directory with the process IDs of a Pod: `CONTAINER.pid`, and `network.pid` for its network namespace; and
/// with its `address`.
pub(crate) fn facts(directory: &Path, namespace: &str, pod: &str) -> PathBuf {
    directory.join("pods").join(namespace).join(pod)
}

/// A process that holds the network and the host name of a Pod.
fn hold(hostname: &str) -> Result<Child> {
    let script = "echo \"$1\" >/proc/sys/kernel/hostname && exec sleep infinity";
    let mut command = Command::new("unshare");
    command
        .args(["-n", "-u", "sh", "-c", script, "sh", hostname])
        .kill_on_drop(true);
    command.spawn().context("cannot run `unshare`")
}

/// Waits until a process has left the network namespace of the machine.
async fn has_own_network(id: u32) -> Result<()> {
    let machine = fs::read_link("/proc/self/ns/net")?;
    while fs::read_link(format!("/proc/{id}/ns/net"))? == machine {
        sleep(Duration::from_millis(5)).await;
    }
    Ok(())
}
