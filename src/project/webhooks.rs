//! The webhooks of an entry, and the source of the certificate of their server.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::Extra;
use crate::advice::Flag;
use crate::name::{Version, WebhookPath};

/// The webhooks of one group, version and kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Webhooks {
    /// The webhook that sets defaults of new and changed objects.
    pub defaulting: Option<Admission>,
    /// The webhook that validates new and changed objects.
    pub validation: Option<Admission>,
    /// The versions that are converted to this version, which is then the hub and the storage version.
    pub spokes: BTreeSet<Version>,
    pub(super) extra: Extra,
}

/// An admission webhook.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Admission {
    /// The path at which the API server calls it; the default is that of kubebuilder.
    pub path: Option<WebhookPath>,
}

/// The source of the certificate of the webhook server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Certificates {
    /// The operator issues it, and stores it in a Secret.
    #[default]
    SelfManaged,
    /// cert-manager issues it.
    CertManager,
    /// The cluster administrator provides a Secret, which is mounted.
    Mounted,
}

impl Certificates {
    /// All sources, the default first.
    pub const ALL: [Self; 3] = [Self::SelfManaged, Self::CertManager, Self::Mounted];

    /// The word in `PROJECT` and on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::SelfManaged => "self-managed",
            Self::CertManager => "cert-manager",
            Self::Mounted => "mounted",
        }
    }
}

/// A flag for each version that is converted.
pub fn spoke_flags<'a>(versions: impl IntoIterator<Item = &'a Version>) -> Vec<Flag> {
    let versions = versions.into_iter();
    versions
        .map(|version| Flag::with("--spoke", version))
        .collect()
}

impl Webhooks {
    /// Whether there is an admission webhook.
    pub fn is_asked(&self) -> bool {
        self.defaulting.is_some() || self.validation.is_some()
    }

    /// Whether other versions are converted to this one.
    pub fn is_hub(&self) -> bool {
        !self.spokes.is_empty()
    }

    /// The flags that create the webhooks, and delete them.
    pub fn flags(&self) -> Vec<Flag> {
        let kinds = [
            (self.defaulting.is_some(), "--defaulting"),
            (self.validation.is_some(), "--validation"),
            (self.is_hub(), "--conversion"),
        ];
        let kinds = kinds.into_iter().filter(|(is_there, _)| *is_there);
        let kinds = kinds.map(|(_, flag)| Flag::new(flag, None));
        kinds.chain(spoke_flags(&self.spokes)).collect()
    }

    /// Whether there is no webhook, and no unknown field.
    pub fn is_empty(&self) -> bool {
        !self.is_asked() && !self.is_hub() && self.extra.is_empty()
    }
}
