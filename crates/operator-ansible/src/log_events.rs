//! Which events of runs are in the operator's log.

use crate::events::RunEvent;

/// Which events of runs are logged: operator-sdk's `--ansible-log-events`. Events at a lower level are there, too, if the log shows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum LogEvents {
    /// Failures, as warnings.
    #[default]
    Nothing,
    /// The tasks, too.
    Tasks,
    /// What each task came to, too, and what Ansible says.
    Everything,
}

impl LogEvents {
    pub(crate) fn log(self, event: &RunEvent) {
        match event {
            RunEvent::Failed {
                of,
                ignored: false,
                rescued: false,
            } => tracing::warn!(
                task = of.task,
                action = of.action,
                path = of.path,
                message = of.message,
                "a task failed"
            ),
            RunEvent::Unreachable { of, .. } => tracing::warn!(
                task = of.task,
                message = of.message,
                "a host is unreachable"
            ),
            RunEvent::Task { task, action } if self != Self::Nothing => {
                tracing::info!(task, action, "a task begins");
            }
            RunEvent::Task { task, action } => tracing::debug!(task, action, "a task begins"),
            RunEvent::Log { message } if self == Self::Everything => {
                tracing::info!(message, "Ansible says");
            }
            RunEvent::Log { message } => tracing::debug!(message, "Ansible says"),
            RunEvent::Ok { of, .. } | RunEvent::ItemOk { of, .. } if self == Self::Everything => {
                tracing::info!(
                    task = of.task,
                    changed = of.changed,
                    message = of.message,
                    "a task succeeded"
                );
            }
            RunEvent::Skipped { of } if self == Self::Everything => {
                tracing::info!(task = of.task, "a task is skipped");
            }
            RunEvent::Failed { of, .. } | RunEvent::ItemFailed { of, .. }
                if self == Self::Everything =>
            {
                tracing::info!(task = of.task, message = of.message, "a failure is handled");
            }
            _ => {}
        }
    }
}
