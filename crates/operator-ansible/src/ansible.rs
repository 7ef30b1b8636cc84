//! The roles and playbooks of an operator.

use std::{
    any::{Any, TypeId, type_name},
    collections::HashMap,
    io,
    sync::Arc,
};

use kube::{api::DynamicObject, runtime::reflector::ObjectRef};
use operator_runtime::{
    Action, Controller, Manager, ObjectScope, Predicate, ScopedResource, Verb, Watch,
};
use parking_lot::Mutex;

use crate::{
    added::{Added, AnsibleObject, FIRST, LAST, Shared},
    automation::{Automation, Content},
    dependents::{Dependents, Key},
    environment,
    error::Error,
    marks,
    metrics::Metrics,
    options::AnsibleOptions,
    owner,
    proxy::Proxy,
    reconcile::Reconcile,
    runs::Runs,
};

/// Runs roles and playbooks for custom resources. The context of the controllers has one.
pub struct Ansible {
    shared: Shared,
    /// What was added, by the types of the custom resources.
    added: HashMap<TypeId, Arc<dyn Any + Send + Sync>>,
}

impl Ansible {
    /// Without a role or playbook yet. Call it in the runtime of tokio in which the manager runs.
    ///
    /// # Errors
    /// The proxy for the calls of runs cannot listen on loopback.
    pub fn new(manager: &Manager, options: AnsibleOptions) -> io::Result<Self> {
        Ok(Self {
            shared: Shared {
                client: manager.client(),
                recorder: manager.recorder(),
                proxy: Proxy::start(manager.client())?,
                runs: Runs::new(options),
                metrics: Metrics::new(manager),
            },
            added: HashMap::new(),
        })
    }

    /// Adds a role or playbook: it runs for each object of type `K`, in the reconciles of the controller of this name.
    pub fn add<K: AnsibleObject>(
        &mut self,
        manager: &Manager,
        controller: &'static str,
        mut automation: Automation,
    ) {
        automation.verbosity = environment::verbosity::<K>().or(automation.verbosity);
        let dependents = Arc::<Dependents>::default();
        let is_namespaced = <K::Scope as ObjectScope>::NAMESPACED;
        let owner = move |metadata: &_| {
            owner::owner_of(metadata, (&K::group(&()), &K::kind(&())), is_namespaced)
        };
        // A predicate sees deletions as such; objects are seen below.
        let gone = dependents.clone();
        let predicate = Predicate::new(move |event| {
            let (Some(before), None) = (event.before(), event.after()) else {
                return true;
            };
            match (owner(before), &before.uid) {
                (Some(key), Some(uid)) => gone.is_gone(&key, uid),
                _ => false,
            }
        });
        let shown = dependents.clone();
        let map = move |object: &DynamicObject| {
            let key = owner(&object.metadata);
            let key = key.filter(|key| shown.shows(key, object) || shown.has_changed(key));
            Vec::from_iter(key.map(reference))
        };
        let label = format!("{}={controller}", marks::CONTROLLER);
        let watch = Watch::new().labels(&label).when(predicate);
        let options = &self.shared.runs.options;
        let find = |content: &Content| {
            let found = content.find(&options.roles_path, &options.collections_path);
            found.map_err(|error| operator_runtime::in_one_line(&error))
        };
        let content = find(&automation.content);
        let finalizer = automation.finalizer.as_ref();
        let finalizer = finalizer.map(|it| it.content.as_ref().map_or(content.clone(), find));
        let added = Added {
            controller,
            content,
            finalizer,
            automation,
            watches: manager.watches_dynamic::<K>(controller, watch, map),
            objects: manager.store::<K>(),
            dependents,
            known: Mutex::default(),
        };
        self.added.insert(TypeId::of::<K>(), Arc::new(added));
    }

    /// Runs the role or playbook for an object, if something has changed that it depends on, or if its period is over. Runs its finalizer,
    /// if the object is being deleted.
    ///
    /// # Errors
    /// The run failed; the conditions of the object say why.
    pub async fn reconcile<K: AnsibleObject>(&self, object: &K) -> Result<Action, Error> {
        let added = self.added.get(&TypeId::of::<K>()).cloned();
        let added = added.and_then(|it| it.downcast::<Added<K>>().ok());
        let added = added.ok_or(Error::NotAdded(type_name::<K>()))?;
        Reconcile::new(&self.shared, &added, object)
            .reconcile()
            .await
    }
}

/// The custom resource with this key.
fn reference<K: AnsibleObject>((namespace, name): Key) -> ObjectRef<K> {
    let reference = ObjectRef::new(&name);
    match namespace {
        Some(namespace) => reference.within(&namespace),
        None => reference,
    }
}

/// What a controller has whose reconcile function runs Ansible.
pub trait RunsAnsible {
    /// Grants the controller what every run needs: to write the status of the object, unless [the role does](Automation::manage_status), to
    /// add a finalizer, and to refer to the object as an owner; and the
    /// [permissions](Automation::rules) of the tasks. Retries of a failed run come after a second, and then ever later.
    #[must_use]
    fn runs_ansible(self, automation: &'static Automation) -> Self;

    /// Grants the controller what runs do with objects of a kind that they create, where this does not follow from the tasks.
    #[must_use]
    fn manages(self, kind: &ScopedResource) -> Self;
}

impl<K: AnsibleObject, C: Send + Sync + 'static> RunsAnsible for Controller<K, C> {
    fn runs_ansible(self, automation: &'static Automation) -> Self {
        let controller = self.finalizer().backoff(FIRST, LAST);
        // The admission plugin OwnerReferencesPermissionEnforcement asks for it, where a reference blocks the owner's deletion.
        let controller = controller.needs_subresource::<K>("finalizers", &[Verb::Update]);
        let controller = match automation.manage_status {
            true => controller.needs_subresource::<K>("status", &[Verb::Patch]),
            false => controller,
        };
        controller
            .needs_one_replica("roles write through a proxy, which knows only the leader")
            .needs_derived(|| automation.rules())
    }

    fn manages(self, kind: &ScopedResource) -> Self {
        let verbs = [
            Verb::Get,
            Verb::List,
            Verb::Watch,
            Verb::Create,
            Verb::Update,
            Verb::Patch,
            Verb::Delete,
        ];
        self.needs_dynamic(kind, &verbs)
    }
}
