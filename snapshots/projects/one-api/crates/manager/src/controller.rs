//! Controllers as data: what is watched, what is allowed, and the function that reconciles.

mod backoff;
mod owner;
mod run;

use std::{error::Error, marker::PhantomData, sync::Arc};

use futures::{FutureExt, future::BoxFuture};
use kube::{
    Resource,
    api::DynamicObject,
    runtime::{controller::Action, reflector::ObjectRef},
};

use crate::{
    Rules, Verb,
    object::{Object, Type, decode},
};

pub(crate) use run::Environment;

/// What a reconcile function fails with.
pub trait ReconcileError: Error + Send + Sync + 'static {
    /// What went wrong, in one CamelCase word from a small fixed set, without names or messages: it
    /// is meant for logs, metrics and the reason of a condition.
    fn reason(&self) -> &'static str;

    /// Whether to wait for a change instead of trying again.
    fn is_terminal(&self) -> bool {
        false
    }
}

impl ReconcileError for kube::Error {
    fn reason(&self) -> &'static str {
        "ApiCallFailed"
    }
}

/// Why an object was not reconciled.
enum Failure {
    /// It does not decode.
    Invalid(String),
    /// The reconcile function failed.
    Error {
        error: Box<dyn Error + Send + Sync>,
        reason: &'static str,
        terminal: bool,
    },
}

/// Decodes an object and reconciles it.
type Reconcile<C> = Box<dyn Fn(Arc<DynamicObject>, Arc<C>) -> Reconciling + Send + Sync>;
type Reconciling = BoxFuture<'static, Result<Action, Failure>>;

/// Objects that are watched beside the primary ones.
struct Watch {
    of: Type,
    /// Which primary objects a change concerns.
    map: Map,
}

#[derive(Clone)]
enum Map {
    /// The owner, for which the metadata is enough.
    Owner,
    By(Arc<Mapper>),
}

type Mapper = dyn Fn(&DynamicObject) -> Vec<ObjectRef<DynamicObject>> + Send + Sync;

/// What a controller is, without the type of its objects.
pub(crate) struct Definition<C> {
    pub(crate) name: &'static str,
    rules: Rules,
    primary: Type,
    reconcile: Reconcile<C>,
    watches: Vec<Watch>,
}

impl<C> Definition<C> {
    /// The types that the API server must offer before the controller can run.
    pub(crate) fn types(&self) -> Vec<Type> {
        let watched = self.watches.iter().map(|watch| watch.of.clone());
        [self.primary.clone()].into_iter().chain(watched).collect()
    }
}

/// A controller of the objects of type `K`, whose reconcile function shares a context `C`.
///
/// Everything it watches and needs is declared here, and its RBAC follows from that.
pub struct Controller<K, C> {
    definition: Definition<C>,
    objects: PhantomData<fn() -> K>,
}

impl<K: Object, C: Send + Sync + 'static> Controller<K, C> {
    /// A controller of a type that this project defines. It may get, list, watch and patch the
    /// objects, patch their status, and update their finalizers.
    ///
    /// `name` is unique in the operator; it shows in logs, metrics and readiness.
    pub fn new<F, Fut, E>(name: &'static str, reconcile: F) -> Self
    where
        F: Fn(Arc<K>, Arc<C>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Action, E>> + Send + 'static,
        E: ReconcileError,
    {
        let mut controller = Self::external(name, reconcile);
        let rules = &mut controller.definition.rules;
        rules.allow::<K>(&[Verb::Patch]);
        rules.allow_subresource::<K>("status", &[Verb::Patch]);
        rules.allow_subresource::<K>("finalizers", &[Verb::Update]);
        controller
    }

    /// A controller of a type that somebody else defines, such as a Deployment. It may get, list
    /// and watch the objects; whatever else it does, it [`needs`](Self::needs).
    pub fn external<F, Fut, E>(name: &'static str, reconcile: F) -> Self
    where
        F: Fn(Arc<K>, Arc<C>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Action, E>> + Send + 'static,
        E: ReconcileError,
    {
        let reconcile = Arc::new(reconcile);
        let reconcile = move |object: Arc<DynamicObject>, context| {
            let reconcile = reconcile.clone();
            let run = async move {
                let object = decode(&object).map_err(Failure::Invalid)?;
                let result = reconcile(Arc::new(object), context).await;
                result.map_err(|error| Failure::Error {
                    reason: error.reason(),
                    terminal: error.is_terminal(),
                    error: Box::new(error),
                })
            };
            run.boxed()
        };
        let mut rules = Rules::default();
        rules.allow::<K>(Verb::READ);
        let definition = Definition {
            name,
            rules,
            primary: Type::of::<K>(),
            reconcile: Box::new(reconcile),
            watches: Vec::new(),
        };
        Self {
            definition,
            objects: PhantomData,
        }
    }

    /// Reconciles an object when something that it controls (by owner reference) changes.
    /// Allows to get, list, watch, create and patch objects of type `Child`.
    #[must_use]
    pub fn owns<Child: Object>(mut self) -> Self {
        self.definition.rules.allow::<Child>(Verb::OWN);
        let of = Type::of::<Child>();
        self.definition.watches.push(Watch {
            of,
            map: Map::Owner,
        });
        self
    }

    /// Reconciles the objects that `map` names when an object of type `Other` changes.
    /// Allows to get, list and watch objects of type `Other`.
    #[must_use]
    pub fn watches<Other: Object>(
        mut self,
        map: impl Fn(&Other) -> Vec<ObjectRef<K>> + Send + Sync + 'static,
    ) -> Self {
        self.definition.rules.allow::<Other>(Verb::READ);
        let (name, primary) = (self.definition.name, Type::of::<K>());
        let map = move |object: &DynamicObject| {
            let objects = match decode(object) {
                Ok(object) => map(&object),
                Err(error) => {
                    run::warn_invalid(name, &Other::kind(&()), &object.metadata, &error);
                    Vec::new()
                }
            };
            let reference = |object: &ObjectRef<K>| {
                primary.reference(&object.name, object.namespace.as_deref())
            };
            objects.iter().map(reference).collect()
        };
        let of = Type::of::<Other>();
        self.definition.watches.push(Watch {
            of,
            map: Map::By(Arc::new(map)),
        });
        self
    }

    /// Allows `verbs` on objects of type `T`, which are read or written but not watched.
    #[must_use]
    pub fn needs<T>(mut self, verbs: &[Verb]) -> Self
    where
        T: Resource<DynamicType = ()> + 'static,
    {
        self.definition.rules.allow::<T>(verbs);
        self
    }

    /// Allows `verbs` on a subresource of objects of type `T`, such as `scale` or `exec`.
    #[must_use]
    pub fn needs_subresource<T>(mut self, subresource: &str, verbs: &[Verb]) -> Self
    where
        T: Resource<DynamicType = ()> + 'static,
    {
        let rules = &mut self.definition.rules;
        rules.allow_subresource::<T>(subresource, verbs);
        self
    }
}

/// The controllers of an operator, which share a context of type `C`.
pub struct Controllers<C>(Vec<Definition<C>>);

impl<C> Default for Controllers<C> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<C> Controllers<C> {
    /// Adds a controller.
    pub fn add<K>(&mut self, controller: Controller<K, C>) {
        self.0.push(controller.definition);
    }

    /// What all of them together are allowed.
    pub fn rules(&self) -> Rules {
        let mut rules = Rules::default();
        self.0
            .iter()
            .for_each(|controller| rules.extend(&controller.rules));
        rules
    }

    pub(crate) fn into_vec(self) -> Vec<Definition<C>> {
        self.0
    }
}
