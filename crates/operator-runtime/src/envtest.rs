//! Integration tests against a real kube-apiserver. The operator runs as in a cluster, under a
//! ServiceAccount of its own with exactly the permissions of `make manifests`.

mod control_plane;
mod foreign;
mod install;
mod operator;
mod record;
mod samples;
mod serve;
mod wait;
mod webhooks;

use std::{
    collections::BTreeSet,
    fmt::Display,
    path::Path,
    sync::{Arc, mpsc},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, anyhow, bail};
use k8s_openapi::{
    api::rbac::v1::PolicyRule,
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};
use tokio::runtime::{Builder, Runtime};

pub use control_plane::{ControlPlane, Options, free_port};
pub use foreign::crds_in;
pub use operator::Operator;
pub use samples::sample;
pub use serve::main;
pub use wait::{eventually, reported, wait_for};

use foreign::Needed;
use install::BoundRole;
use record::Record;
use webhooks::{Address, Configurations};

use crate::{
    controller::Controllers,
    fake::MakeContext,
    logs,
    manager::{Manager, ManagerOptions, WatchScope},
    object::{ObjectScope, TypedObject},
    webhook::{Webhooks, crds as converted},
};

/// The namespace of the operator's ServiceAccount, and the watched namespace of a namespaced operator.
pub const NAMESPACE: &str = "default";

/// The directory with the CRDs of other projects that the tests need, as YAML.
pub const CRDS: &str = "tests/crds";

/// The time within which the operator must become ready.
const READY: Duration = Duration::from_secs(30);

/// A control plane for all tests of a process. It stops when the process ends.
#[derive(Debug)]
pub struct Cluster {
    // Fields drop in this order: the operator before the control plane.
    operator: Option<Operator>,
    roles: Vec<BoundRole>,
    admin: Config,
    control_plane: ControlPlane,
}

impl Cluster {
    /// Starts etcd and kube-apiserver, which takes about 4 s.
    ///
    /// # Errors
    /// If their binaries are missing (the error says how to install them), or if they do not start.
    pub fn start() -> Result<Self> {
        Self::start_with(&Options::default())
    }

    /// Like [`start`](Self::start), with [`Options`].
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn start_with(options: &Options) -> Result<Self> {
        logs::init_for_tests();
        let control_plane = ControlPlane::start_with(options)?;
        let kubeconfig = Kubeconfig::read_from(control_plane.kubeconfig())?;
        let options = KubeConfigOptions::default();
        let admin = async { Config::from_custom_kubeconfig(kubeconfig, &options).await };
        // A separate thread, because the caller may be an async test.
        let mut admin = thread::scope(|scope| {
            let config = scope.spawn(|| anyhow::Ok(Runtime::new()?.block_on(admin)?));
            config
                .join()
                .map_err(|_| anyhow!("cannot read the kubeconfig"))?
        })?;
        // The API server runs on this machine: ignore any proxy in the environment.
        admin.proxy_url = None;
        Ok(Self {
            operator: None,
            roles: Vec::new(),
            admin,
            control_plane,
        })
    }

    /// Binds the Roles and ClusterRoles of a YAML file, such as `config/rbac/backup_role.yaml`, to every
    /// operator that runs from now on, beside the declared permissions. Use it for permissions that cannot
    /// be declared. A Role is created in [`NAMESPACE`].
    ///
    /// # Errors
    /// If the file cannot be read, or contains no role.
    pub fn with_roles(mut self, file: impl AsRef<Path>) -> Result<Self> {
        self.roles.extend(install::roles_in(file.as_ref())?);
        Ok(self)
    }

    /// [Runs](Self::run) an operator, after installing the CRDs of other projects from [`CRDS`]. The
    /// context is built as in `main`, with the defaults of the operator's own flags.
    ///
    /// # Errors
    /// The errors of [`crds_in`] and [`run`](Self::run), and an error of the context function.
    pub fn with_operator<C: Send + Sync + 'static, M>(
        mut self,
        options: &ManagerOptions,
        crds: Result<Vec<CustomResourceDefinition>, impl Display>,
        controllers: Controllers<C>,
        webhooks: Webhooks<C>,
        context: impl MakeContext<C, M> + Send + 'static,
    ) -> Result<Self> {
        let foreign = crds_in(CRDS)?;
        let crds = crds.map(|crds| crds.into_iter().chain(foreign).collect());
        let rules = declared(&controllers, &webhooks);
        let context = async move |manager: &Manager| {
            let made = context.make(manager).await;
            made.map_err(|error| anyhow!("cannot build the context: {error}"))
        };
        let operator = self.begin(options, crds, rules, controllers, webhooks, context)?;
        self.operator = Some(operator);
        Ok(self)
    }

    /// Installs `crds`, and waits until the API server serves them.
    ///
    /// # Errors
    /// If the API server refuses a CRD, or does not serve it within 30 s.
    pub async fn install(
        &self,
        crds: Result<Vec<CustomResourceDefinition>, impl Display>,
    ) -> Result<()> {
        let crds = crds.map_err(|error| anyhow!("cannot merge the CRDs: {error}"))?;
        install::crds(&self.client()?, crds).await
    }

    /// Installs `crds`, and runs `controllers` and `webhooks` on threads of their own until the returned
    /// value is dropped. Returns when the operator is ready.
    ///
    /// # Errors
    /// If the API server refuses a request, does not serve a type of the operator, or the operator is not
    /// ready within 30 s.
    pub fn run<C: Send + Sync + 'static>(
        &self,
        options: &ManagerOptions,
        crds: Result<Vec<CustomResourceDefinition>, impl Display>,
        controllers: Controllers<C>,
        webhooks: Webhooks<C>,
        context: impl FnOnce(&Manager) -> C + Send + 'static,
    ) -> Result<Operator> {
        let rules = declared(&controllers, &webhooks);
        self.run_with(options, crds, rules, controllers, webhooks, context)
    }

    /// Like [`run`](Self::run), with other permissions than the declared ones.
    ///
    /// # Errors
    /// The errors of [`run`](Self::run).
    pub fn run_with<C: Send + Sync + 'static>(
        &self,
        options: &ManagerOptions,
        crds: Result<Vec<CustomResourceDefinition>, impl Display>,
        rules: Vec<PolicyRule>,
        controllers: Controllers<C>,
        webhooks: Webhooks<C>,
        context: impl FnOnce(&Manager) -> C + Send + 'static,
    ) -> Result<Operator> {
        let context = async move |manager: &Manager| Ok(context(manager));
        self.begin(options, crds, rules, controllers, webhooks, context)
    }

    fn begin<C: Send + Sync + 'static>(
        &self,
        options: &ManagerOptions,
        crds: Result<Vec<CustomResourceDefinition>, impl Display>,
        rules: Vec<PolicyRule>,
        controllers: Controllers<C>,
        webhooks: Webhooks<C>,
        context: impl AsyncFnOnce(&Manager) -> Result<C> + Send + 'static,
    ) -> Result<Operator> {
        let (webhooks, asked) = webhooks.recorded();
        let mut crds = crds.map_err(|error| anyhow!("cannot merge the CRDs: {error}"))?;
        let (endpoint, site) = Address::new()?.split();
        converted::convert(&mut crds, webhooks.conversions(), &site.conversion())
            .map_err(|error| anyhow!(error))?;
        let configurations = Configurations::new(options.name, &webhooks, &site);
        let needed = needed(&controllers, &webhooks);
        let (options, admin) = (*options, self.admin.clone());
        let (sender, started) = mpsc::channel();
        let record = Record::default();
        let (allowed, recorded) = (rules.clone(), record.clone());
        let roles = self.roles.clone();
        let thread = thread::spawn(move || {
            let runtime = Builder::new_current_thread().enable_all().build()?;
            let all = install::all(admin.clone(), &options, crds, &allowed, &roles);
            let config = runtime.block_on(all)?;
            let client = || Client::try_from(admin.clone());
            runtime.block_on(async { foreign::check(client()?, needed).await })?;
            let namespaces = match options.scope {
                WatchScope::Cluster => Vec::new(),
                WatchScope::Namespaces => vec![NAMESPACE.to_owned()],
            };
            let own = config.clone();
            // Clients must be created inside the runtime that they use.
            let _inside = runtime.enter();
            let through = |client| recorded.client(client);
            let mut manager = Manager::with_config(&options, config, &namespaces, None, through)?;
            manager.serve_webhooks(endpoint);
            manager.reconcile_concurrently();
            let context = Arc::new(runtime.block_on(context(&manager))?);
            let manager = manager
                .controllers(controllers, context.clone())
                .webhooks(webhooks, context);
            // Before the first check whether the operator is ready.
            manager.readiness().expect(webhooks::CHECK);
            _ = sender.send((manager.stop(), manager.readiness(), own));
            let run = configurations.during(Client::try_from(admin)?, manager);
            runtime.block_on(run)
        });
        let Ok((stop, readiness, config)) = started.recv() else {
            return Err(operator::ended(thread));
        };
        let mut operator = Operator {
            config,
            rules,
            record,
            asked,
            stop,
            thread: Some(thread),
        };
        let begin = Instant::now();
        while !readiness.report().0 {
            if let Some(thread) = operator.thread.take_if(|thread| thread.is_finished()) {
                return Err(operator::ended(thread));
            }
            if begin.elapsed() > READY {
                bail!("the operator is not ready:\n{}", readiness.report().1);
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(operator)
    }

    /// An administrator's client. It belongs to the tokio runtime in which it is created.
    ///
    /// # Errors
    /// If the client cannot be made.
    pub fn client(&self) -> Result<Client> {
        Ok(Client::try_from(self.admin.clone())?)
    }

    /// The administrator's API for objects of type `K`, in [`NAMESPACE`] for a namespaced type. It belongs
    /// to the tokio runtime in which it is created.
    ///
    /// # Errors
    /// If the client cannot be made.
    pub fn api<K: TypedObject>(&self) -> Result<Api<K>> {
        Ok(<K::Scope as ObjectScope>::api(self.client()?, NAMESPACE))
    }

    /// A minimal object of type `K` with this name: it has a value in each field that the schema of its CRD
    /// requires. CEL rules of the CRD may require more.
    ///
    /// # Errors
    /// If there is no such CRD, if no fitting value is known for a field, or if the Rust type does not
    /// accept the object.
    pub async fn minimal_object<K: TypedObject>(&self, name: &str) -> Result<K> {
        foreign::minimal_object(self.client()?, name).await
    }

    /// Like [`api`](Self::api), with the operator's permissions.
    ///
    /// # Errors
    /// If there is no operator, or the client cannot be made.
    pub fn operator_api<K: TypedObject>(&self) -> Result<Api<K>> {
        Ok(<K::Scope as ObjectScope>::api(
            self.operator()?.client()?,
            NAMESPACE,
        ))
    }

    /// The operator of this cluster.
    ///
    /// # Errors
    /// If there is none.
    pub fn operator(&self) -> Result<&Operator> {
        self.operator
            .as_ref()
            .context("the cluster has no operator")
    }

    /// The control plane, with its address and credentials.
    pub fn control_plane(&self) -> &ControlPlane {
        &self.control_plane
    }
}

/// The declared permissions of an operator.
fn declared<C>(controllers: &Controllers<C>, webhooks: &Webhooks<C>) -> Vec<PolicyRule> {
    let mut rules = controllers.rules();
    rules.extend(&webhooks.rules());
    rules.policy_rules()
}

/// The types of an operator.
fn needed<C>(controllers: &Controllers<C>, webhooks: &Webhooks<C>) -> BTreeSet<Needed> {
    let watched = controllers.watched().map(|of| Needed {
        group: of.resource.group.clone(),
        version: of.resource.version.clone(),
        plural: of.resource.plural.clone(),
    });
    let declarations = webhooks.declarations().into_iter();
    let asked = declarations.map(|declaration| Needed {
        group: declaration.resource.group.clone(),
        version: declaration.resource.version.clone(),
        plural: declaration.resource.resource.clone(),
    });
    watched.chain(asked).collect()
}
