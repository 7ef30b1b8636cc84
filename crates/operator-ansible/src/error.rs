//! Why a run failed, or could not begin.

use std::{io, path::PathBuf, time::Duration};

use operator_runtime::ReconcileError;

/// Why an object is not what its role makes of it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A task of the run failed.
    #[error("the task `{task}` failed: {message}")]
    Task {
        /// The name of the task.
        task: String,
        /// What its module says.
        message: String,
    },
    /// Ansible could not run the role or playbook, for example because of a syntax error.
    #[error("Ansible cannot run it: {0}")]
    Content(String),
    /// The run took too long, and was ended.
    #[error("the run was ended, because it took longer than {limit:?}{place}")]
    TimedOut {
        /// The longest time.
        limit: Duration,
        /// The task that ran, in words.
        place: String,
    },
    /// The process of the run ended early.
    #[error("the process of the run {how}{place}")]
    Ended {
        /// How it ended.
        how: String,
        /// The task that ran, in words.
        place: String,
    },
    /// The fork server of Ansible does not start.
    #[error("Ansible does not start: {0}")]
    Start(String),
    /// The fork server ended, and all runs with it.
    #[error("Ansible ended during the run")]
    Gone,
    /// There is no such role or playbook.
    #[error("there is no {0}")]
    Missing(String),
    /// The files of the role or playbook cannot be read.
    #[error("{} cannot be read", path.display())]
    Unreadable {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The annotation for the period is no duration.
    #[error(
        "the annotation {annotation} is `{value}`, and has to be a duration such as 30s, 5m or 1h30m"
    )]
    Annotation {
        /// The annotation.
        annotation: &'static str,
        /// Its value.
        value: String,
    },
    /// Nothing was added for the type.
    #[error("no role or playbook was added for the type `{0}`: `Ansible::add` adds one")]
    NotAdded(&'static str),
    /// The object cannot be written as JSON.
    #[error("the object cannot be written as JSON")]
    Object(#[from] serde_json::Error),
    /// A file, a pipe or a socket between the operator and Ansible failed.
    #[error("the operator cannot speak to Ansible")]
    Io(#[from] io::Error),
    /// A call of the API server failed.
    #[error("a call to the API server failed")]
    Kube(#[from] kube::Error),
}

impl ReconcileError for Error {
    fn reason(&self) -> &'static str {
        match self {
            Self::Task { .. } => "TaskFailed",
            Self::Content(_) => "ContentInvalid",
            Self::TimedOut { .. } => "RunTimedOut",
            Self::Ended { .. } => "RunEnded",
            Self::Start(_) | Self::Gone | Self::Io(_) => "AnsibleUnavailable",
            Self::Missing(_) | Self::Unreadable { .. } => "ContentMissing",
            Self::Annotation { .. } => "AnnotationInvalid",
            Self::NotAdded(_) => "NotAdded",
            Self::Object(_) => "ObjectInvalid",
            Self::Kube(_) => "ApiCallFailed",
        }
    }

    /// An annotation waits for another one.
    fn is_terminal(&self) -> bool {
        matches!(self, Self::Annotation { .. })
    }
}
