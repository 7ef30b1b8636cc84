//! Controllers as data: watches, permissions, and the reconcile function.

mod action;
mod backoff;
mod controllers;
mod dynamic;
mod failure;
mod hubs;
mod predicate;
mod prepare;
mod shares;
mod task;
mod trigger;
mod watch;
mod watches;
mod worker;

use std::{iter, marker::PhantomData, sync::Arc, time::Duration};

use futures::{FutureExt, future::BoxFuture};
use k8s_openapi::api::events::v1::Event;
use kube::{
    Resource,
    api::{ApiResource, DynamicObject},
    runtime::reflector::Lookup,
};
use tokio_util::sync::CancellationToken;

use crate::{
    apply::conditions::ReadyCondition,
    cache::{Form, ShareKey, Stored, downcast},
    error::TaskError,
    object::{Rules, ScopedResource, Selector, TypedObject, Verb},
    queue::LOW_PRIORITY,
};

pub use action::Action;
use backoff::{Rate, Retries};
pub use controllers::Controllers;
pub use dynamic::DynamicWatches;
pub(crate) use dynamic::Found;
pub use failure::ReconcileError;
use failure::{Failure, Report};
pub(crate) use hubs::Hubs;
pub use predicate::Predicate;
pub(crate) use prepare::{Environment, Prepared};
use task::Task;
pub use trigger::Trigger;
use watch::Secondary;
pub use watch::Watch;
pub(crate) use {watch::Map, watches::by_dynamic};

type Reconcile<C> = Box<dyn Fn(Arc<dyn Stored>, Arc<C>) -> Reconciling + Send + Sync>;
type Reconciling = BoxFuture<'static, Result<Action, Failure>>;

/// A controller without the type parameter of its objects.
pub(crate) struct Definition<C> {
    pub(crate) name: &'static str,
    rules: Rules,
    /// Permissions that are worked out when they are asked for.
    derived_rules: Vec<Box<dyn Fn() -> Rules + Send + Sync>>,
    /// Permissions on the primary type, if its objects are in the operator's own cluster.
    own_rules: Rules,
    pub(crate) primary: ScopedResource,
    form: Form,
    watch: Watch,
    reconcile: Reconcile<C>,
    secondaries: Vec<Secondary<C>>,
    concurrency: Option<u16>,
    timeout: Option<Duration>,
    retries: Retries,
    resync_priority: i32,
    needs_leadership: bool,
    sharded: Option<ShareKey>,
    /// Why only one replica can reconcile the objects.
    one_replica: Option<&'static str>,
    /// The types that it writes, but does not watch.
    written: Vec<ApiResource>,
    uses_spokes: bool,
    /// The condition that reports a failure, and the function that builds its patch.
    condition: ReadyCondition,
    report: Option<Report>,
    pub(crate) tasks: Vec<Task<C>>,
}

impl<C> Definition<C> {
    /// The primary type and the condition that reports a failure, if the type has one.
    pub(crate) fn shows(&self) -> Option<(ScopedResource, &'static str)> {
        let shows = (self.primary.clone(), self.condition.type_());
        self.report.map(|_| shows)
    }

    /// The types that it reads or writes and that must not be spokes; none with
    /// [`uses_spokes`](Controller::uses_spokes).
    pub(crate) fn uses(&self) -> impl Iterator<Item = &ApiResource> {
        let secondaries = self.secondaries.iter().map(|other| &other.of);
        let watched = iter::once(&self.primary).chain(secondaries);
        let all = watched.map(|of| &of.resource).chain(&self.written);
        all.filter(|_| !self.uses_spokes)
    }

    /// The types of children that the controller prunes.
    pub(crate) fn prunes(&self) -> impl Iterator<Item = (&ScopedResource, &Selector)> {
        let pruned = self.secondaries.iter().filter(|other| other.prunes);
        pruned.map(|other| (&other.of, &other.watch.selector))
    }
}

/// A controller of objects of type `K`. Its reconciles share a context `C`.
///
/// All watches and permissions are declared here; the RBAC is derived from them.
///
/// ```
/// # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.rs")); }
/// # use example::Memcached;
/// use std::{sync::Arc, time::Duration};
/// use k8s_openapi::api::{apps::v1::Deployment, core::v1::Secret};
/// use operator_runtime::{Action, Controller, Controllers, Verb};
///
/// async fn reconcile(memcached: Arc<Memcached>, context: Arc<()>) -> kube::Result<Action> {
///     // Drive the cluster toward `memcached.spec`; requeue in an hour if nothing changes.
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
    /// A controller of a type that this project defines. Grants get, list and watch on the type, and patch
    /// on its status.
    ///
    /// `name` is unique in the operator, and appears in logs, metrics and readiness checks.
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

    /// A controller of a type that another project defines, such as a Deployment. Grants get, list and
    /// watch on the type; declare other permissions with [`needs`](Self::needs).
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
    /// A controller of a type that is known only at run time. Grants get, list and watch on the type.
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
            derived_rules: Vec::new(),
            own_rules,
            primary: kind,
            form,
            watch: Watch::new(),
            reconcile: Box::new(reconcile),
            secondaries: Vec::new(),
            concurrency: None,
            timeout: None,
            retries: Retries::default(),
            resync_priority: LOW_PRIORITY,
            needs_leadership: true,
            sharded: None,
            one_replica: None,
            written: Vec::new(),
            uses_spokes: false,
            condition: ReadyCondition::default(),
            report: None,
            tasks: Vec::new(),
        };
        Self {
            definition,
            objects: PhantomData,
        }
    }

    /// Narrows the watch of the primary type: to some objects, or to some changes.
    #[must_use]
    pub fn primary_watch(mut self, watch: Watch) -> Self {
        let was_optional = self.definition.watch.optional;
        self.definition.watch = watch;
        self.definition.watch.optional |= was_optional;
        self
    }

    /// Starts when the API server serves the primary type, and stops when it no longer does: see
    /// [`Watch::optional`]. Types that it owns or watches may be optional, too:
    /// `.owns_with::<Route>(Watch::new().optional())`.
    #[must_use]
    pub fn optional(mut self) -> Self {
        self.definition.watch.optional = true;
        self
    }

    /// The maximum number of concurrent reconciles; an object is never reconciled twice at once. Default:
    /// `--max-concurrent-reconciles`, which defaults to 1.
    #[must_use]
    pub fn concurrency(mut self, reconciles: u16) -> Self {
        self.definition.concurrency = Some(reconciles.max(1));
        self
    }

    /// The timeout of a reconcile, after which it is cancelled and counts as failed. Default: none.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.definition.timeout = Some(timeout);
        self
    }

    /// The delays of retries after failures, for each object: `first`, doubled after each failure up to
    /// `max`, and `first` again after a success. Default: 5 ms and 1000 s, as in controller-runtime.
    ///
    /// `first` is at least 1 ms, and `max` at least `first`.
    #[must_use]
    pub fn backoff(mut self, first: Duration, max: Duration) -> Self {
        let retries = &mut self.definition.retries;
        retries.first = first.max(Duration::from_millis(1));
        retries.last = max.max(retries.first);
        self
    }

    /// Limits the retries after failures of all objects together, beside the [back-off](Self::backoff) of
    /// each: `burst` at once, `per_second` on average; both are at least 1. Reconciles after changes, and
    /// requeues after successes, are not limited.
    ///
    /// Default: no limit, as in controller-runtime since its queue has priorities. `rate_limit(10, 100)` is
    /// the limit of its earlier queue, and of client-go.
    #[must_use]
    pub fn rate_limit(mut self, per_second: u32, burst: u32) -> Self {
        self.definition.retries.rate = Some(Rate {
            interval: Duration::from_secs(1) / per_second.max(1),
            burst: burst.max(1),
        });
        self
    }

    /// The [priority](crate::guide::controllers#priorities) of the objects that the start and each resync
    /// queue. Default: [`LOW_PRIORITY`]. With 0, they are first in, first out with the changed ones.
    #[must_use]
    pub fn resync_priority(mut self, priority: i32) -> Self {
        self.definition.resync_priority = priority;
        self
    }

    /// Runs the controller in every replica, not only in the leader.
    #[must_use]
    pub fn without_leadership(mut self) -> Self {
        self.definition.needs_leadership = false;
        self
    }

    /// Runs a task beside the controller while this replica leads, with the same context and permissions. It
    /// must end when its token is cancelled. A task that ends earlier, or fails, ends the operator, whose error
    /// has `name`. [Integration tests](crate::guide::testing) run it, too.
    ///
    /// ```
    /// use std::{sync::Arc, time::Duration};
    /// use k8s_openapi::api::core::v1::ConfigMap;
    /// use kube::Client;
    /// use operator_runtime::{CancellationToken, Controller};
    /// use tokio::time::interval;
    ///
    /// async fn report(client: Arc<Client>, stop: CancellationToken) -> kube::Result<()> {
    ///     let mut hourly = interval(Duration::from_secs(3600));
    ///     while stop.run_until_cancelled(hourly.tick()).await.is_some() {
    ///         tracing::info!("all is well");
    ///     }
    ///     Ok(())
    /// }
    ///
    /// # async fn reconcile(_: Arc<ConfigMap>, _: Arc<Client>) -> kube::Result<()> { Ok(()) }
    /// let controller = Controller::external("configs", reconcile).task("report", report);
    /// ```
    #[must_use]
    pub fn task<F, Fut, E>(mut self, name: &'static str, run: F) -> Self
    where
        F: Fn(Arc<C>, CancellationToken) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<TaskError>,
    {
        self.definition.tasks.push(Task::new(name, true, run));
        self
    }

    /// Like [`task`](Self::task), in every replica.
    #[must_use]
    pub fn task_without_leadership<F, Fut, E>(mut self, name: &'static str, run: F) -> Self
    where
        F: Fn(Arc<C>, CancellationToken) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<TaskError>,
    {
        self.definition.tasks.push(Task::new(name, false, run));
        self
    }

    /// Lets the controller read and write spokes: versions of the project's kinds other than the
    /// [hub](crate::webhook::Conversion). Without this, the manager does not start such a controller.
    ///
    /// Every write through a spoke, also a status patch or a finalizer, is converted to the spoke and back.
    /// A conversion webhook keeps the fields that the spoke lacks, except those of
    /// [`Spoke::drops`](crate::webhook::Spoke::drops). Without a conversion webhook, these fields are erased.
    /// Use it only if this version has every field, or may lose them.
    #[must_use]
    pub fn uses_spokes(mut self) -> Self {
        self.definition.uses_spokes = true;
        self
    }

    /// The condition that shows whether an object is ready. Default: `Ready`. Controllers of the same kind
    /// need different conditions.
    ///
    /// A failed reconcile sets the condition to its bad status; the reconcile function sets the good one.
    /// `make manifests` adds a column for it to `kubectl get`.
    #[must_use]
    pub fn condition(mut self, condition: impl Into<ReadyCondition>) -> Self {
        self.definition.condition = condition.into();
        self
    }

    /// Grants patch on the primary type, which [`finalizer::ensure`](crate::finalizer::ensure) and
    /// [`remove`](crate::finalizer::remove) use.
    #[must_use]
    pub fn finalizer(mut self) -> Self {
        let Definition {
            own_rules, primary, ..
        } = &mut self.definition;
        own_rules.allow_dynamic(primary, &[Verb::Patch]);
        self
    }

    /// Grants `verbs` on the type `T`, whose objects are read or written but not watched.
    #[must_use]
    pub fn needs<T>(mut self, verbs: &[Verb]) -> Self
    where
        T: Resource<DynamicType = ()> + 'static,
    {
        self.definition.rules.allow::<T>(verbs);
        self.writes::<T>(verbs)
    }

    /// Like [`needs`](Self::needs), for a type that is known only at run time.
    #[must_use]
    pub fn needs_dynamic(mut self, kind: &ScopedResource, verbs: &[Verb]) -> Self {
        self.definition.rules.allow_dynamic(kind, verbs);
        self
    }

    /// Grants what `rules` returns, which is called only where permissions are written, or granted in a test:
    /// for permissions that take a while to work out.
    #[must_use]
    pub fn needs_derived(mut self, rules: impl Fn() -> Rules + Send + Sync + 'static) -> Self {
        self.definition.derived_rules.push(Box::new(rules));
        self
    }

    /// Grants `verbs` on the object of type `T` with this name, and on no others.
    ///
    /// list and watch require the field selector `metadata.name=…`, as
    /// [`StoreOptions::fields`](crate::StoreOptions::fields) sends it. RBAC cannot restrict `create` and
    /// `deletecollection` by name: grant them with [`needs`](Self::needs).
    #[must_use]
    pub fn needs_named<T>(mut self, name: &str, verbs: &[Verb]) -> Self
    where
        T: Resource<DynamicType = ()> + 'static,
    {
        self.definition.rules.allow_named::<T>(name, verbs);
        self.writes::<T>(verbs)
    }

    /// Grants `verbs` on a subresource of the type `T`, such as `scale` or `exec`.
    #[must_use]
    pub fn needs_subresource<T>(mut self, subresource: &str, verbs: &[Verb]) -> Self
    where
        T: Resource<DynamicType = ()> + 'static,
    {
        let rules = &mut self.definition.rules;
        rules.allow_subresource::<T>(subresource, verbs);
        self.writes::<T>(verbs)
    }

    /// Notes the type `T` if `verbs` can change objects.
    fn writes<T: Resource<DynamicType = ()>>(mut self, verbs: &[Verb]) -> Self {
        if verbs.contains(&Verb::Patch) || verbs.contains(&Verb::Update) {
            self.definition.written.push(ApiResource::erase::<T>(&()));
        }
        self
    }
}
