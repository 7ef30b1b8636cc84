//! A role or playbook that was added for a kind, and what is known of its objects.

use std::{
    collections::HashMap,
    fmt::Debug,
    sync::Arc,
    time::{Duration, Instant},
};

use kube::{Client, core::object::HasStatus, runtime::events::Recorder};
use operator_runtime::{DynamicWatches, Store, TypedObject};
use parking_lot::Mutex;
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    automation::{Automation, Found},
    dependents::Dependents,
    memory::Memory,
    metrics::Metrics,
    proxy::Proxy,
    runs::Runs,
    session::Kinds,
    status::AnsibleStatus,
};

/// The pauses before a failed run is tried again.
pub(crate) const FIRST: Duration = Duration::from_secs(1);
pub(crate) const LAST: Duration = Duration::from_secs(1000);

/// An object that a role or playbook runs for: a custom resource of the project, or a [`Foreign`](crate::Foreign) object.
pub trait AnsibleObject:
    TypedObject + HasStatus<Status = AnsibleStatus> + Serialize + DeserializeOwned + Debug
{
}

impl<K> AnsibleObject for K where
    K: TypedObject + HasStatus<Status = AnsibleStatus> + Serialize + DeserializeOwned + Debug
{
}

/// What all kinds share.
pub(crate) struct Shared {
    pub(crate) client: Client,
    pub(crate) recorder: Recorder,
    pub(crate) runs: Runs,
    pub(crate) proxy: Proxy,
    pub(crate) metrics: Metrics,
}

/// A role or playbook, and what is known of its objects.
pub(crate) struct Added<K> {
    /// The controller that runs it.
    pub(crate) controller: &'static str,
    pub(crate) automation: Automation,
    /// The files, for changes of objects and for deletions.
    pub(crate) content: Result<Found, String>,
    pub(crate) finalizer: Option<Result<Found, String>>,
    pub(crate) watches: DynamicWatches<K>,
    pub(crate) objects: Store<K>,
    pub(crate) dependents: Arc<Dependents>,
    /// What is known of the objects, by their uids.
    pub(crate) known: Mutex<HashMap<String, Known>>,
}

/// What is known of an object.
#[derive(Clone, Default)]
pub(crate) struct Known {
    pub(crate) kinds: Arc<Kinds>,
    pub(crate) memory: Arc<Memory>,
    pub(crate) last: Option<Last>,
}

/// The last run for an object.
#[derive(Clone)]
pub(crate) struct Last {
    pub(crate) inputs: String,
    pub(crate) at: Instant,
    /// The time after which the role asks to run again.
    pub(crate) requeue: Option<Duration>,
    /// How often in a row it failed.
    pub(crate) failures: u32,
}
