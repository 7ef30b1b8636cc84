//! How the probes of a container change what is known of it.

use std::time::Duration;

use k8s_openapi::api::core::v1::{Container, Probe};
use tokio::{select, time::sleep};

use super::Worker;
use crate::probe::{self, Target};

impl Worker {
    /// Follows the probes. Returns when the container should end.
    pub(super) async fn probe(&self, container: &Container, target: Target<'_>) {
        if let Some(startup) = &container.startup_probe {
            sleep(probe::initial_delay(startup)).await;
            if !self.until(startup, target, true).await {
                return;
            }
        }
        self.update(container, |state| {
            state.started = true;
            state.ready = container.readiness_probe.is_none();
        });
        let readiness = async {
            let Some(probe) = &container.readiness_probe else {
                return std::future::pending().await;
            };
            sleep(probe::initial_delay(probe)).await;
            loop {
                self.until(probe, target, true).await;
                self.update(container, |state| state.ready = true);
                self.until(probe, target, false).await;
                self.update(container, |state| state.ready = false);
            }
        };
        let liveness = async {
            match &container.liveness_probe {
                Some(probe) => {
                    sleep(probe::initial_delay(probe)).await;
                    self.until(probe, target, false).await
                }
                None => std::future::pending().await,
            }
        };
        select! {
            () = readiness => {}
            _ = liveness => {}
        }
    }

    /// Runs a probe until its result is `wanted`, often enough. False if a startup probe failed too often.
    async fn until(&self, probe: &Probe, target: Target<'_>, wanted: bool) -> bool {
        let limit = match wanted {
            true => probe.success_threshold.unwrap_or(1),
            false => probe.failure_threshold.unwrap_or(3),
        };
        let is_startup = target.container.startup_probe.as_ref() == Some(probe);
        let (mut hits, mut failures) = (0, 0);
        loop {
            let passes = target.passes(probe).await;
            hits = if passes == wanted { hits + 1 } else { 0 };
            failures = if passes { 0 } else { failures + 1 };
            if hits >= limit {
                return true;
            }
            if is_startup && failures >= probe.failure_threshold.unwrap_or(3) {
                return false;
            }
            // The first success is what tests wait for: look often until then.
            let period = probe::period(probe);
            sleep(if wanted {
                period.min(Duration::from_millis(300))
            } else {
                period
            })
            .await;
        }
    }
}
