//! The releases of an operator's charts.

use std::{
    any::{Any, TypeId, type_name},
    collections::HashMap,
    fmt::Debug,
    sync::Arc,
};

use kube::{
    api::DynamicObject,
    core::object::HasStatus,
    runtime::{events::Recorder, reflector::ObjectRef},
};
use operator_runtime::{Action, Applier, DynamicWatches, Manager, TypedObject, Watch};
use parking_lot::Mutex;
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    chart::Chart, cluster::Cluster, error::Error, marks, memory::Known, release::Run,
    status::ReleaseStatus, values::Values,
};

/// A custom resource whose objects are releases.
pub trait ReleaseObject:
    TypedObject + HasStatus<Status = ReleaseStatus> + Serialize + DeserializeOwned + Debug
{
}

impl<K> ReleaseObject for K where
    K: TypedObject + HasStatus<Status = ReleaseStatus> + Serialize + DeserializeOwned + Debug
{
}

/// Installs, upgrades and uninstalls the releases of charts. The context of the controllers has one.
pub struct Releases {
    pub(crate) cluster: Arc<Cluster>,
    pub(crate) applier: Applier,
    pub(crate) recorder: Recorder,
    /// The charts, by the types of the custom resources.
    charts: HashMap<TypeId, Arc<dyn Any + Send + Sync>>,
}

/// A chart, and what is known of its releases.
pub(crate) struct Installed<K> {
    /// The controller that installs it.
    pub(crate) controller: &'static str,
    pub(crate) chart: &'static Chart,
    pub(crate) watches: DynamicWatches<K>,
    /// What is known of its releases, by the uids of the custom resources.
    pub(crate) known: Mutex<HashMap<String, Known>>,
}

impl Releases {
    /// The releases of no chart yet.
    pub fn new(manager: &Manager) -> Self {
        Self {
            cluster: Arc::new(Cluster::new(manager.client())),
            applier: manager.applier(),
            recorder: manager.recorder(),
            charts: HashMap::new(),
        }
    }

    /// Adds a chart: each object of type `K` is a release of it, which the controller of this name installs.
    pub fn add<K: ReleaseObject>(
        &mut self,
        manager: &Manager,
        controller: &'static str,
        chart: &'static Chart,
    ) {
        let own = Watch::new().labels(&format!("{}={controller}", marks::CONTROLLER));
        let installed = Installed {
            controller,
            chart,
            watches: manager
                .watches_dynamic::<K>(controller, own, |object| Vec::from_iter(release(object))),
            known: Mutex::default(),
        };
        self.charts.insert(TypeId::of::<K>(), Arc::new(installed));
    }

    /// Drives the cluster toward what the chart renders for `object` with these values: installs or upgrades its release, corrects what
    /// others changed, or uninstalls it.
    ///
    /// # Errors
    /// The release cannot be what the object asks for; its conditions say why.
    pub async fn reconcile<K: ReleaseObject>(
        &self,
        object: &K,
        values: Values,
    ) -> Result<Action, Error> {
        let installed = self.charts.get(&TypeId::of::<K>()).cloned();
        let installed = installed.and_then(|it| it.downcast::<Installed<K>>().ok());
        let installed = installed.ok_or(Error::NoChart(type_name::<K>()))?;
        Run::new(self, &installed, object, values).reconcile().await
    }
}

/// The custom resource of an object, if it is of this kind.
fn release<K: ReleaseObject>(object: &DynamicObject) -> Option<ObjectRef<K>> {
    let annotations = object.metadata.annotations.as_ref()?;
    let (of, rest) = annotations.get(marks::RELEASE)?.split_once('/')?;
    if of != format!("{}.{}", K::plural(&()), K::group(&())) {
        return None;
    }
    Some(match rest.split_once('/') {
        Some((namespace, name)) => ObjectRef::new(name).within(namespace),
        None => ObjectRef::new(rest),
    })
}
