//! The status of a release.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The observed state of a release: what is installed, and what was.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, KubeSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReleaseStatus {
    /// The generation of the object that the operator last reconciled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The latest observations, such as whether the release is ready.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
    /// The newest revision that was installed whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<i64>,
    /// The digest of the chart and the values of that revision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inputs: Option<String>,
    /// The revision that is being installed, or that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending: Option<Pending>,
    /// The highest number that a revision had, installed or not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_revision: Option<i64>,
    /// The last revisions, the newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<Revision>,
    /// The objects that the release may have installed: the uninstallation deletes them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objects: Vec<InstalledObject>,
}

/// A revision that is being installed, or the uninstallation.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Pending {
    /// The number of the revision.
    pub revision: i64,
    /// The digest of its chart and values.
    pub inputs: String,
    /// The digest of what was rendered for it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub digest: String,
    /// The hooks that have run, of those before and of those after.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hooks: Vec<String>,
    /// What a hook said that failed and is gone. It does not run again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// Why the revision before is installed again. This one is not tried again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rolled_back: Option<String>,
}

/// A revision that was installed whole.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Revision {
    /// Its number, from 1.
    pub revision: i64,
    /// The name and the version of the chart, such as `memcached-1.2.3`.
    pub chart: String,
    /// The version of what the chart installs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app_version: Option<String>,
    /// The digest of what the chart rendered.
    pub digest: String,
    /// Whether it is an upgrade of another one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub upgrade: bool,
    /// Whether no new values caused it, but what templates look up. It deletes nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub uncaused: bool,
    /// When it was installed.
    pub installed: Time,
}

/// An object that a release installed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InstalledObject {
    /// Such as `apps/v1`.
    pub api_version: String,
    /// The kind.
    pub kind: String,
    /// The namespace; none for a cluster-scoped object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The name.
    pub name: String,
    /// Whether it stays after the uninstallation, as `helm.sh/resource-policy: keep` asks.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub kept: bool,
}

/// How many revisions the history has.
pub(crate) const HISTORY: usize = 10;

impl ReleaseStatus {
    /// Adds a revision that is installed whole.
    pub(crate) fn complete(&mut self, revision: Revision, inputs: String) {
        self.revision = Some(revision.revision);
        self.inputs = Some(inputs);
        self.pending = None;
        self.history.insert(0, revision);
        self.history.truncate(HISTORY);
    }

    /// The newest revision that was installed whole.
    pub(crate) fn installed(&self) -> Option<&Revision> {
        let number = self.revision?;
        self.history.iter().find(|it| it.revision == number)
    }

    /// The number of the last revision, installed or not.
    pub(crate) fn last(&self) -> i64 {
        let pending = self.pending.as_ref().map(|pending| pending.revision);
        let highest = pending.max(self.revision).max(self.last_revision);
        highest.unwrap_or_default()
    }
}
