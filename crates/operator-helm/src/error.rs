//! Why a release is not what it should be.

use operator_runtime::ReconcileError;

use crate::storage;

/// Why a release cannot be installed, upgraded or uninstalled.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A template fails, or the values do not fit the chart: in the words of Helm, which name the template and the line.
    #[error("the chart does not render: {0}")]
    Render(helm_render::Error),
    /// A template renders what is no object.
    #[error("{path} renders {what}")]
    NoObject {
        /// The template.
        path: String,
        /// What it renders instead.
        what: String,
    },
    /// The API server does not serve the kind of an object.
    #[error("{path} renders the kind {kind} of {api_version}, which the API server does not serve")]
    NotServed {
        /// The template.
        path: String,
        /// The kind.
        kind: String,
        /// Its API version.
        api_version: String,
    },
    /// An object exists that is not of this release.
    #[error("{object} exists, and belongs to {owner}; {advice}")]
    Foreign {
        /// The kind and the name.
        object: String,
        /// Whom it belongs to, in words.
        owner: String,
        /// How it can be taken over.
        advice: &'static str,
    },
    /// The API server refuses an object.
    #[error("the API server refuses {object} of {path}")]
    Refused {
        /// The kind and the name.
        object: String,
        /// The template.
        path: String,
        /// The answer.
        source: kube::Error,
    },
    /// A hook failed.
    #[error("the hook {object} of {path} failed: {message}")]
    Hook {
        /// The kind and the name.
        object: String,
        /// The template.
        path: String,
        /// Its own words.
        message: String,
    },
    /// A hook failed in a former reconcile, and its object is gone.
    #[error("{0}")]
    HookFailed(String),
    /// What was rendered for the installed revision is lost, or somebody changed it.
    #[error(
        "the Secret {0} no longer has what was rendered for the installed revision, and the chart would render something else; other \
         values make a new revision"
    )]
    Lost(String),
    /// What an unrepeatable chart renders does not fit into the Secret that keeps it.
    #[error("what the chart renders takes {size} bytes packed, and a Secret holds {most}")]
    TooLarge {
        /// The size in bytes.
        size: usize,
        /// The most in bytes.
        most: usize,
    },
    /// Helm's Secret of a revision cannot be written.
    #[error("the revision cannot be kept for Helm: {0}")]
    Storage(#[from] storage::Error),
    /// A Secret of Helm does not say what the former operator installed.
    #[error(
        "the Secret {name} does not say what the former operator installed: {source}; without that Secret, what the chart no longer \
         renders stays"
    )]
    Former {
        /// The name of the Secret.
        name: String,
        /// Why it cannot be read.
        source: storage::Error,
    },
    /// No chart was added for the type.
    #[error("no chart was added for the type `{0}`: `Releases::add` adds one")]
    NoChart(&'static str),
    /// A call of the API server failed.
    #[error("a call to the API server failed")]
    Kube(#[from] kube::Error),
}

impl Error {
    /// Whether an object was refused because its namespace is being deleted.
    pub(crate) fn is_of_end_of_namespace(&self) -> bool {
        let (Self::Refused { source, .. } | Self::Kube(source)) = self else {
            return false;
        };
        let kube::Error::Api(status) = source else {
            return false;
        };
        let mut causes = status.details.iter().flat_map(|details| &details.causes);
        causes.any(|cause| cause.reason == "NamespaceTerminating")
    }

    /// Whether an upgrade that has begun fails, rather than the API server.
    pub(crate) fn is_of_upgrade(&self) -> bool {
        match self {
            Self::Refused { source, .. } => {
                let is_passing =
                    |code: u16| code >= 500 || matches!(code, 401 | 404 | 408 | 409 | 429);
                matches!(source, kube::Error::Api(status) if !is_passing(status.code))
            }
            Self::Foreign { .. } | Self::Hook { .. } | Self::HookFailed(_) => true,
            _ => false,
        }
    }

    /// Whether somebody else wrote the object meanwhile, which the next try resolves.
    pub(crate) fn is_conflict(&self) -> bool {
        let (Self::Refused { source, .. } | Self::Kube(source)) = self else {
            return false;
        };
        matches!(source, kube::Error::Api(status) if status.is_conflict())
    }

    /// Whether the same values would fail in the same way.
    pub(crate) fn is_of_values(&self) -> bool {
        matches!(self, Self::Render(_) | Self::NoObject { .. })
    }
}

impl ReconcileError for Error {
    fn reason(&self) -> &'static str {
        match self {
            Self::Render(_) => "RenderFailed",
            Self::NoObject { .. } => "NoObject",
            Self::NotServed { .. } => "KindNotServed",
            Self::Foreign { .. } => "ObjectExists",
            Self::Refused { .. } => "ObjectRefused",
            Self::Hook { .. } | Self::HookFailed(_) => "HookFailed",
            Self::Lost(_) => "RenderingLost",
            Self::TooLarge { .. } => "RenderingTooLarge",
            Self::Storage(_) => "HelmStorageFailed",
            Self::Former { .. } => "FormerReleaseUnreadable",
            Self::NoChart(_) => "NoChart",
            Self::Kube(_) => "ApiCallFailed",
        }
    }

    /// Values that do not render wait for a change of the values.
    fn is_terminal(&self) -> bool {
        self.is_of_values()
    }
}
