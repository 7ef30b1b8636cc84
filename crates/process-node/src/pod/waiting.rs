//! What containers wait for before they start.

use std::time::Duration;

use anyhow::Error;
use k8s_openapi::api::core::v1::{Container, Pod};
use tokio::{select, time::sleep};

use super::Worker;

impl Worker {
    /// The environment of a container, once there is its image and all that it refers to. None if the Pod is deleted before.
    pub(super) async fn wait_for_environment(
        &self,
        container: &Container,
    ) -> Option<Vec<(String, String)>> {
        while !self.is_deleted() {
            match (self.image(container), self.environment(container).await) {
                (Ok(_), Ok(environment)) => return Some(environment),
                (Err(error), _) => self.wait(container, "ErrImagePull", &error),
                (_, Err(error)) => self.wait(container, "CreateContainerConfigError", &error),
            }
            select! {
                () = sleep(Duration::from_secs(1)) => {}
                () = self.deletion() => {}
            }
        }
        None
    }

    /// Reports that all containers wait for a volume.
    pub(super) fn wait_for_volumes(&self, pod: &Pod, why: &Error) {
        for container in pod.spec.iter().flat_map(|spec| &spec.containers) {
            self.wait(container, "ContainerCreating", why);
        }
    }

    fn wait(&self, container: &Container, reason: &'static str, why: &Error) {
        let waiting = (reason, format!("{why:#}"));
        self.update(container, |state| state.waiting = waiting);
    }
}
