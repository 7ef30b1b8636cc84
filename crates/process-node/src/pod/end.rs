//! How a container ends: its `preStop` hook runs, then it is asked, then it is killed.

use std::{io, process::ExitStatus, time::Duration};

use k8s_openapi::api::core::v1::Container;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::{
    process::Child,
    select,
    time::{Instant, sleep_until},
};

use super::Worker;
use crate::probe::Target;

impl Worker {
    /// Ends a container. Hook and process have the grace period of the Pod together.
    pub(super) async fn stop(
        &self,
        container: &Container,
        child: &mut Child,
        target: Target<'_>,
    ) -> io::Result<ExitStatus> {
        let deadline = Instant::now() + self.grace();
        let lifecycle = container.lifecycle.as_ref();
        if let Some(hook) = lifecycle.and_then(|it| it.pre_stop.as_ref()) {
            select! {
                status = child.wait() => return status,
                () = target.hook(hook) => {}
                () = sleep_until(deadline) => {}
            }
        }
        signal(target.process, Signal::TERM);
        select! {
            status = child.wait() => status,
            () = sleep_until(deadline) => {
                signal(target.process, Signal::KILL);
                child.wait().await
            }
        }
    }

    fn grace(&self) -> Duration {
        let pod = self.pod.borrow();
        let of_spec = pod
            .spec
            .as_ref()
            .and_then(|spec| spec.termination_grace_period_seconds);
        let seconds = pod
            .metadata
            .deletion_grace_period_seconds
            .or(of_spec)
            .unwrap_or(30);
        Duration::from_secs(seconds.max(0).unsigned_abs())
    }
}

/// Sends a signal to the processes of a container.
pub(super) fn signal(id: u32, signal: Signal) {
    if let Some(group) = i32::try_from(id).ok().and_then(Pid::from_raw) {
        // An error means that they are gone.
        _ = kill_process_group(group, signal);
    }
}
