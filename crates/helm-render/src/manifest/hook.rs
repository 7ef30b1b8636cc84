//! Hooks: manifests that run at a time of a release's life.

use super::Manifest;

/// A hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hook {
    /// The name in `metadata`.
    pub name: String,
    /// The kind.
    pub kind: String,
    /// The path of the template.
    pub path: String,
    /// The text.
    pub text: String,
    /// When it runs.
    pub events: Vec<Event>,
    /// Its place among hooks of one event: lower ones run first. The default is 0.
    pub weight: i64,
    /// When its resource goes, if not with the next run. Helm takes [`DeletePolicy::BeforeHookCreation`] if there is none.
    pub delete_policies: Vec<DeletePolicy>,
    /// When its logs are printed.
    pub log_policies: Vec<LogPolicy>,
}

/// When a hook runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Event {
    /// Before an installation.
    PreInstall,
    /// After an installation.
    PostInstall,
    /// Before a release goes.
    PreDelete,
    /// After a release went.
    PostDelete,
    /// Before an upgrade.
    PreUpgrade,
    /// After an upgrade.
    PostUpgrade,
    /// Before a rollback.
    PreRollback,
    /// After a rollback.
    PostRollback,
    /// When somebody tests the release.
    Test,
}

/// When the resource of a hook goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeletePolicy {
    /// When it succeeded.
    HookSucceeded,
    /// When it failed.
    HookFailed,
    /// Before it runs again.
    BeforeHookCreation,
    /// Another word, which Helm keeps and does not heed.
    Other(String),
}

/// When the logs of a hook are printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogPolicy {
    /// When it succeeded.
    HookSucceeded,
    /// When it failed.
    HookFailed,
    /// Another word, which Helm keeps and does not heed.
    Other(String),
}

const HOOK: &str = "helm.sh/hook";
const WEIGHT: &str = "helm.sh/hook-weight";
const DELETE_POLICY: &str = "helm.sh/hook-delete-policy";
const LOG_POLICY: &str = "helm.sh/hook-output-log-policy";

impl Event {
    /// Every event.
    pub const ALL: [Self; 9] = [
        Self::PreInstall,
        Self::PostInstall,
        Self::PreDelete,
        Self::PostDelete,
        Self::PreUpgrade,
        Self::PostUpgrade,
        Self::PreRollback,
        Self::PostRollback,
        Self::Test,
    ];

    /// The word in the annotation.
    pub fn name(self) -> &'static str {
        match self {
            Self::PreInstall => "pre-install",
            Self::PostInstall => "post-install",
            Self::PreDelete => "pre-delete",
            Self::PostDelete => "post-delete",
            Self::PreUpgrade => "pre-upgrade",
            Self::PostUpgrade => "post-upgrade",
            Self::PreRollback => "pre-rollback",
            Self::PostRollback => "post-rollback",
            Self::Test => "test",
        }
    }

    /// The event of a word; `test-success` is the old one for `test`.
    pub fn of_name(name: &str) -> Option<Self> {
        match name {
            "test-success" => Some(Self::Test),
            name => Self::ALL.into_iter().find(|it| it.name() == name),
        }
    }
}

/// What a manifest is.
pub(super) enum Sorted {
    /// No hook.
    Manifest,
    /// A hook.
    Hook(Hook),
    /// A hook of an event that does not exist, which Helm leaves out.
    Unknown,
}

pub(super) fn sort(manifest: &Manifest) -> Sorted {
    let Some(metadata) = &manifest.head.metadata else {
        return Sorted::Manifest;
    };
    let Some(hook) = metadata.annotations.get(HOOK) else {
        return Sorted::Manifest;
    };
    let words = |text: &str| -> Vec<String> {
        let words = text.split(',');
        words.map(|word| word.trim().to_lowercase()).collect()
    };
    let policies = |key: &str| match metadata.annotations.get(key) {
        None => Vec::new(),
        Some(text) => words(text),
    };
    let events = words(hook);
    let Some(events) = events.iter().map(|it| Event::of_name(it)).collect() else {
        return Sorted::Unknown;
    };
    let weight = metadata.annotations.get(WEIGHT);
    Sorted::Hook(Hook {
        name: metadata.name.clone(),
        kind: manifest.head.kind.clone(),
        path: manifest.path.clone(),
        text: manifest.text.clone(),
        events,
        weight: weight.and_then(|it| it.parse().ok()).unwrap_or(0),
        delete_policies: policies(DELETE_POLICY)
            .into_iter()
            .map(|word| match word.as_str() {
                "hook-succeeded" => DeletePolicy::HookSucceeded,
                "hook-failed" => DeletePolicy::HookFailed,
                "before-hook-creation" => DeletePolicy::BeforeHookCreation,
                _ => DeletePolicy::Other(word),
            })
            .collect(),
        log_policies: policies(LOG_POLICY)
            .into_iter()
            .map(|word| match word.as_str() {
                "hook-succeeded" => LogPolicy::HookSucceeded,
                "hook-failed" => LogPolicy::HookFailed,
                _ => LogPolicy::Other(word),
            })
            .collect(),
    })
}
