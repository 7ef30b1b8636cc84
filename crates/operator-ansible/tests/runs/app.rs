//! The operator of these tests: `tests/roles/app` runs for each App.

use std::{
    fmt::Debug,
    num::NonZero,
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, LazyLock},
    time::Duration,
};

use anyhow::{Context as _, Result, bail, ensure};
use k8s_openapi::{
    NamespaceResourceScope, api::core::v1::ConfigMap,
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, Client, CustomResource, Resource,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use operator_ansible::{
    Ansible, AnsibleOptions, AnsibleStatus, Automation, Error, Finalizer, RunsAnsible as _,
};
use operator_runtime::{
    Action, Controller, Controllers, CrdError, Manager, ManagerOptions, ShardKey, WatchScope,
    envtest::{Cluster, NAMESPACE, Operator, eventually},
    webhook::Webhooks,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

/// How long a test waits.
pub const LIMIT: Duration = Duration::from_secs(60);

pub const NAME: &str = "apps-app";

pub const FINALIZER: &str = "apps.example.com/finalizer";

pub const OPTIONS: ManagerOptions = ManagerOptions {
    name: "apps.example.com",
    scope: WatchScope::Cluster,
};

#[derive(Clone, Debug, Default, CustomResource, Deserialize, JsonSchema, Serialize)]
#[kube(
    group = "apps.example.com",
    version = "v1",
    kind = "App",
    namespaced,
    status = "AnsibleStatus"
)]
#[serde(transparent)]
pub struct AppSpec(#[schemars(schema_with = "open")] pub Map<String, Value>);

fn open(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true })
}

pub struct Context {
    ansible: Ansible,
}

impl Context {
    pub fn of(ansible: Ansible) -> Self {
        Self { ansible }
    }
}

async fn reconcile(app: Arc<App>, context: Arc<Context>) -> Result<Action, Error> {
    context.ansible.reconcile(&*app).await
}

/// The Python of the tests; `tests/ansible/build.sh` makes it.
pub fn python() -> PathBuf {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/ansible/build.sh");
    let made = Command::new(script).output().expect("the script runs");
    assert!(
        made.status.success(),
        "{}",
        String::from_utf8_lossy(&made.stderr)
    );
    PathBuf::from(String::from_utf8(made.stdout).expect("a path").trim())
}

pub fn options() -> AnsibleOptions {
    let python = python();
    let place = python.ancestors().nth(2).expect("a virtual environment");
    AnsibleOptions {
        collections_path: vec![place.join("collections")],
        roles_path: vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/roles")],
        workers: NonZero::new(2).expect("a number"),
        environment: vec![("ANSIBLE_GATHERING".to_owned(), "explicit".to_owned())],
        python,
        ..AnsibleOptions::default()
    }
}

/// What the operator-sdk project of this role would have in its `watches.yaml`.
pub fn automation() -> Automation {
    let finalizer = Finalizer::new(FINALIZER).vars(json!({ "state": "absent" }));
    Automation::role("app").finalizer(finalizer)
}

/// The role, whose tasks give the operator its permissions. Those of the crate are in no directory where roles are looked for.
pub static DECLARED: LazyLock<Automation> =
    LazyLock::new(|| Automation::role(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/roles/app")));

/// The controller, with the permissions for what `declared` runs.
pub fn controllers(declared: &'static Automation) -> Controllers<Context> {
    let controller = Controller::new(NAME, reconcile)
        .runs_ansible(declared)
        .concurrency(2);
    Controllers::from(controller)
}

pub fn context(manager: &Manager, automation: Automation) -> Context {
    let mut ansible = Ansible::new(manager, options()).expect("a proxy");
    ansible.add::<App>(manager, NAME, automation);
    Context { ansible }
}

pub fn crds() -> Result<Vec<CustomResourceDefinition>, CrdError> {
    let mut crds = operator_runtime::Crds::default();
    crds.add_storage::<App>();
    crds.merge()
}

/// Starts the operator, with exactly the permissions that follow from the tasks of `tests/roles/app`.
pub fn run(cluster: &Cluster, automation: Automation) -> Result<Operator> {
    run_with(cluster, automation, &DECLARED)
}

/// Starts the operator, with exactly the permissions for what `declared` runs.
pub fn run_with(
    cluster: &Cluster,
    automation: Automation,
    declared: &'static Automation,
) -> Result<Operator> {
    let context = move |manager: &Manager| context(manager, automation);
    cluster.run(
        &OPTIONS,
        crds(),
        controllers(declared),
        Webhooks::default(),
        context,
    )
}

/// The controller, with a share of the objects for each replica.
fn shared() -> Controllers<Context> {
    let controller = Controller::new(NAME, reconcile).runs_ansible(&DECLARED);
    Controllers::from(controller.sharded(ShardKey::uid()))
}

#[tokio::test]
async fn replicas_do_not_share_what_runs_ansible() -> Result<()> {
    let cluster = Cluster::start()?;
    let context = |manager: &Manager| context(manager, automation());
    let started = cluster.run(&OPTIONS, crds(), shared(), Webhooks::default(), context);
    let error = started.map(drop).unwrap_err().to_string();
    let expected = "cannot have `.sharded(..)`: roles write through a proxy, which knows only the";
    ensure!(error.contains(expected), "{error}");
    Ok(())
}

/// An App, from the outside.
pub struct Subject {
    client: Client,
    pub name: &'static str,
}

impl Subject {
    pub fn new(cluster: &Cluster, name: &'static str) -> Result<Self> {
        let client = cluster.client()?;
        Ok(Self { client, name })
    }

    pub fn api<K>(&self, namespace: &str) -> Api<K>
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>,
    {
        Api::namespaced(self.client.clone(), namespace)
    }

    pub fn apps(&self) -> Api<App> {
        self.api(NAMESPACE)
    }

    pub async fn create(&self, spec: Value) -> Result<()> {
        let app: App = serde_json::from_value(json!({
            "apiVersion": "apps.example.com/v1",
            "kind": "App",
            "metadata": { "name": self.name },
            "spec": spec,
        }))?;
        self.apps().create(&PostParams::default(), &app).await?;
        Ok(())
    }

    /// Merges fields into the spec.
    pub async fn change(&self, spec: Value) -> Result<()> {
        let patch = Patch::Merge(json!({ "spec": spec }));
        let params = PatchParams::default();
        self.apps().patch(self.name, &params, &patch).await?;
        Ok(())
    }

    pub async fn delete(&self) -> Result<()> {
        self.apps()
            .delete(self.name, &DeleteParams::default())
            .await?;
        Ok(())
    }

    pub async fn status(&self) -> Result<Value> {
        let app = self.apps().get(self.name).await?;
        Ok(app.status.context("no status")?.0.into())
    }

    /// Waits until a condition of the newest generation has this status and, in its message, these words.
    pub async fn condition(&self, type_: &str, status: &str, words: &str) -> Result<Value> {
        eventually(LIMIT, async || {
            let app = self.apps().get(self.name).await?;
            let generation = json!(app.metadata.generation);
            let all: Value = app.status.context("no status")?.0.into();
            let mut conditions = all["conditions"].as_array().into_iter().flatten();
            let found = conditions.find(|it| it["type"] == type_).cloned();
            let found = found.with_context(|| format!("no {type_} in {all}"))?;
            let message = found["message"].as_str().unwrap_or_default();
            let is_it = found["status"] == status
                && message.contains(words)
                && found["observedGeneration"] == generation;
            ensure!(is_it, "{found}");
            Ok(found)
        })
        .await
    }

    /// When the last run that succeeded ended.
    pub async fn completion(&self) -> Result<String> {
        let status = self.status().await?;
        let conditions = status["conditions"].as_array().context("no conditions")?;
        let running = conditions.iter().find(|it| it["type"] == "Running");
        let running = running.context("no condition")?;
        let completion = running["ansibleResult"]["completion"].as_str();
        Ok(completion.context("no result")?.to_owned())
    }

    /// Waits until an object exists and holds this.
    pub async fn has<K>(&self, namespace: &str, name: &str, holds: impl Fn(&K) -> bool) -> Result<K>
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>
            + Clone
            + DeserializeOwned
            + Debug,
    {
        let api: Api<K> = self.api(namespace);
        eventually(LIMIT, async || match api.get_opt(name).await? {
            Some(found) if holds(&found) => Ok(found),
            found => bail!("{name}: {found:?}"),
        })
        .await
    }

    /// Waits until an object is gone.
    pub async fn lacks<K>(&self, namespace: &str, name: &str) -> Result<()>
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>
            + Clone
            + DeserializeOwned
            + Debug,
    {
        let api: Api<K> = self.api(namespace);
        eventually(LIMIT, async || match api.get_opt(name).await? {
            None => Ok(()),
            Some(found) => bail!("{name} exists: {found:?}"),
        })
        .await
    }
}

/// A value of a ConfigMap.
pub fn value<'a>(map: &'a ConfigMap, key: &str) -> Option<&'a str> {
    Some(map.data.as_ref()?.get(key)?.as_str())
}
