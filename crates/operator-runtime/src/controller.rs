//! Controllers as data: what is watched, what is allowed, and the function that reconciles.

mod action;
mod backoff;
mod controllers;
mod failure;
mod predicate;
mod prepare;
mod trigger;
mod watch;
mod watches;
mod worker;

use std::{marker::PhantomData, sync::Arc, time::Duration};

use futures::{FutureExt, future::BoxFuture};
use k8s_openapi::api::events::v1::Event;
use kube::{Resource, api::DynamicObject, runtime::reflector::Lookup};

use crate::{
    apply::conditions::ReadyCondition,
    cache::{Form, Stored, downcast},
    object::{Rules, ScopedResource, Selector, TypedObject, Verb},
};

pub use action::Action;
pub use controllers::Controllers;
pub use failure::ReconcileError;
use failure::{Failure, Report};
pub use predicate::Predicate;
pub(crate) use prepare::{Environment, Prepared};
pub use trigger::Trigger;
use watch::Secondary;
pub use watch::Watch;

type Reconcile<C> = Box<dyn Fn(Arc<dyn Stored>, Arc<C>) -> Reconciling + Send + Sync>;
type Reconciling = BoxFuture<'static, Result<Action, Failure>>;

/// What a controller is, without the type of its objects.
pub(crate) struct Definition<C> {
    pub(crate) name: &'static str,
    rules: Rules,
    /// What it may do with its own objects, if they are in the cluster of the operator.
    own_rules: Rules,
    pub(crate) primary: ScopedResource,
    form: Form,
    watch: Watch,
    reconcile: Reconcile<C>,
    secondaries: Vec<Secondary<C>>,
    concurrency: Option<u16>,
    timeout: Option<Duration>,
    needs_leadership: bool,
    /// The condition that shows a failure, and how an object gets it.
    condition: ReadyCondition,
    report: Option<Report>,
}

impl<C> Definition<C> {
    /// The type and the condition that shows a failure, if one does.
    pub(crate) fn shows(&self) -> Option<(ScopedResource, &'static str)> {
        let shows = (self.primary.clone(), self.condition.type_());
        self.report.map(|_| shows)
    }

    /// The types of children that it prunes.
    pub(crate) fn prunes(&self) -> impl Iterator<Item = (&ScopedResource, &Selector)> {
        let pruned = self.secondaries.iter().filter(|other| other.prunes);
        pruned.map(|other| (&other.of, &other.watch.selector))
    }
}

/// A controller of the objects of type `K`, whose reconcile function shares a context `C`.
///
/// Everything it watches and needs is declared here, and its RBAC follows from that.
///
/// ```
/// # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.rs")); }
/// # use example::Memcached;
/// use std::{sync::Arc, time::Duration};
/// use k8s_openapi::api::{apps::v1::Deployment, core::v1::Secret};
/// use operator_runtime::{Action, Controller, Controllers, Verb};
///
/// async fn reconcile(memcached: Arc<Memcached>, context: Arc<()>) -> kube::Result<Action> {
///     // Drive the cluster toward `memcached.spec`; look again in an hour if nothing changes.
///     Ok(Action::requeue(Duration::from_secs(3600)))
/// }
///
/// let mut controllers = Controllers::<()>::default();
/// controllers.add(
///     Controller::new("memcached", reconcile)
///         .owns::<Deployment>()
///         .needs::<Secret>(&[Verb::Get])
///         .concurrency(4),
/// );
/// assert_eq!(controllers.rules().policy_rules().len(), 6);
/// ```
pub struct Controller<K, C> {
    definition: Definition<C>,
    objects: PhantomData<fn() -> K>,
}

impl<K: TypedObject, C: Send + Sync + 'static> Controller<K, C> {
    /// A controller of a type that this project defines. It may get, list and watch the objects, and
    /// patch their status.
    ///
    /// `name` is unique in the operator; it shows in logs, metrics and readiness.
    pub fn new<F, Fut, A, E>(name: &'static str, reconcile: F) -> Self
    where
        F: Fn(Arc<K>, Arc<C>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<A, E>> + Send + 'static,
        A: Into<Action>,
        E: ReconcileError,
    {
        let mut controller = Self::external(name, reconcile);
        let definition = &mut controller.definition;
        definition.report = Some(failure::report::<K>);
        let rules = &mut definition.own_rules;
        rules.allow_subresource::<K>("status", &[Verb::Patch]);
        controller
    }

    /// A controller of a type that somebody else defines, such as a Deployment. It may get, list
    /// and watch the objects; whatever else it does, it [`needs`](Self::needs).
    pub fn external<F, Fut, A, E>(name: &'static str, reconcile: F) -> Self
    where
        F: Fn(Arc<K>, Arc<C>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<A, E>> + Send + 'static,
        A: Into<Action>,
        E: ReconcileError,
    {
        Self::define(name, ScopedResource::of::<K>(), Form::of::<K>(), reconcile)
    }
}

impl<C: Send + Sync + 'static> Controller<DynamicObject, C> {
    /// A controller of a type that is known only when the operator runs. It may get, list and watch
    /// the objects.
    pub fn dynamic<F, Fut, A, E>(name: &'static str, kind: ScopedResource, reconcile: F) -> Self
    where
        F: Fn(Arc<DynamicObject>, Arc<C>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<A, E>> + Send + 'static,
        A: Into<Action>,
        E: ReconcileError,
    {
        Self::define(name, kind, Form::dynamic(), reconcile)
    }
}

impl<K, C> Controller<K, C>
where
    K: Lookup + Send + Sync + 'static,
    C: Send + Sync + 'static,
{
    fn define<F, Fut, A, E>(
        name: &'static str,
        kind: ScopedResource,
        form: Form,
        reconcile: F,
    ) -> Self
    where
        F: Fn(Arc<K>, Arc<C>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<A, E>> + Send + 'static,
        A: Into<Action>,
        E: ReconcileError,
    {
        let reconcile = move |object: Arc<dyn Stored>, context| {
            let run = downcast(object).map(|object| reconcile(object, context));
            async move {
                match run {
                    Some(run) => run.await.map(Into::into).map_err(Failure::of),
                    None => Err(Failure::mixed_up()),
                }
            }
            .boxed()
        };
        let (mut rules, mut own_rules) = (Rules::default(), Rules::default());
        own_rules.allow_dynamic(&kind, Verb::READ);
        rules.allow::<Event>(&[Verb::Create, Verb::Patch]);
        let definition = Definition {
            name,
            rules,
            own_rules,
            primary: kind,
            form,
            watch: Watch::new(),
            reconcile: Box::new(reconcile),
            secondaries: Vec::new(),
            concurrency: None,
            timeout: None,
            needs_leadership: true,
            condition: ReadyCondition::default(),
            report: None,
        };
        Self {
            definition,
            objects: PhantomData,
        }
    }

    /// Reconciles only some objects, or after some changes.
    #[must_use]
    pub fn primary_watch(mut self, watch: Watch) -> Self {
        self.definition.watch = watch;
        self
    }

    /// How many objects may be reconciled at once, never one of them twice. Default: what
    /// `--max-concurrent-reconciles` says, which is 1 unless given.
    #[must_use]
    pub fn concurrency(mut self, reconciles: u16) -> Self {
        self.definition.concurrency = Some(reconciles.max(1));
        self
    }

    /// How long a reconcile may take until it is cancelled and counts as failed. Default: for ever.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.definition.timeout = Some(timeout);
        self
    }

    /// Runs in every replica, not only in the one that leads.
    #[must_use]
    pub fn without_leadership(mut self) -> Self {
        self.definition.needs_leadership = false;
        self
    }

    /// The condition that tells whether an object is ready. Default: `Ready`. Controllers that share a
    /// kind need one each.
    ///
    /// It gets its bad status when a reconcile fails; the reconcile function gives it the good one.
    /// `make manifests` makes it a column of `kubectl get`.
    #[must_use]
    pub fn condition(mut self, condition: impl Into<ReadyCondition>) -> Self {
        self.definition.condition = condition.into();
        self
    }

    /// Allows what [`finalizer::ensure`](crate::finalizer::ensure) and
    /// [`remove`](crate::finalizer::remove) send: to patch the objects.
    #[must_use]
    pub fn finalizer(mut self) -> Self {
        let Definition {
            own_rules, primary, ..
        } = &mut self.definition;
        own_rules.allow_dynamic(primary, &[Verb::Patch]);
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

    /// Allows `verbs` on objects of type `T` that are called `name`, and on no others.
    ///
    /// To list or watch takes the field selector `metadata.name=…`, as
    /// [`StoreOptions::fields`](crate::StoreOptions::fields) sends it. RBAC restricts neither `create` nor
    /// `deletecollection` by a name: allow those with [`needs`](Self::needs).
    #[must_use]
    pub fn needs_named<T>(mut self, name: &str, verbs: &[Verb]) -> Self
    where
        T: Resource<DynamicType = ()> + 'static,
    {
        self.definition.rules.allow_named::<T>(name, verbs);
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
