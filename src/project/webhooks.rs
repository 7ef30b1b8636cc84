//! What an entry says of its webhooks, and where the certificate of the server that answers them comes from.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::Extra;
use crate::name::{Version, WebhookPath};

/// The webhooks of one group, version and kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Webhooks {
    /// Set where new and changed objects are defaulted.
    pub defaulting: Option<Admission>,
    /// Set where new and changed objects are validated.
    pub validation: Option<Admission>,
    /// The versions that are converted to this one, which is then the hub and the stored version.
    pub spokes: BTreeSet<Version>,
    pub(super) extra: Extra,
}

/// A webhook that is asked before an object is stored.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Admission {
    /// Where the API server calls it; without one, where kubebuilder would.
    pub path: Option<WebhookPath>,
}

/// Where the certificate of the webhook server comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Certificates {
    /// The operator makes it and keeps it in a Secret.
    #[default]
    SelfManaged,
    /// cert-manager makes it.
    CertManager,
    /// Somebody else puts it into a Secret that is mounted.
    Mounted,
}

impl Certificates {
    /// The word in `PROJECT` and on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::SelfManaged => "self-managed",
            Self::CertManager => "cert-manager",
            Self::Mounted => "mounted",
        }
    }
}

impl Webhooks {
    /// Whether the API server asks before it stores an object.
    pub fn is_asked(&self) -> bool {
        self.defaulting.is_some() || self.validation.is_some()
    }

    /// Whether other versions are converted to this one.
    pub fn is_hub(&self) -> bool {
        !self.spokes.is_empty()
    }

    /// Whether nothing is asked, and nothing else is known of it either.
    pub fn is_empty(&self) -> bool {
        !self.is_asked() && !self.is_hub() && self.extra.is_empty()
    }
}
