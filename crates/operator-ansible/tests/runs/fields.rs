//! The fields of `watches.yaml`: a test of each, which has its name. They share one cluster and one operator, which has four kinds.

use std::{
    sync::{Arc, LazyLock, Mutex, Weak},
    thread::panicking,
    time::Duration,
};

use anyhow::{Context as _, Result, bail, ensure};
use k8s_openapi::api::{
    core::v1::{ConfigMap, Secret},
    scheduling::v1::PriorityClass,
};
use kube::{
    Api, Client, CustomResource,
    api::{ApiResource, DeleteParams, DynamicObject, Patch, PatchParams, PostParams},
};
use operator_ansible::{
    Ansible, AnsibleStatus, Automation, Error, Finalizer, Foreign, RunsAnsible as _,
};
use operator_runtime::{
    Action, Controller, Controllers, Crds, Manager, ManagerOptions, ScopedResource, Watch,
    WatchScope,
    envtest::{Cluster, NAMESPACE, Operator, eventually},
    webhook::Webhooks,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio::time::sleep;

use crate::app;

/// How long a test waits. All share a few workers.
const LIMIT: Duration = Duration::from_secs(180);

/// How long nothing is to happen.
const QUIET: Duration = Duration::from_secs(5);

const OPTIONS: ManagerOptions = ManagerOptions {
    name: "fields.example.com",
    scope: WatchScope::Cluster,
};

fn open(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true })
}

macro_rules! kinds {
    ($($kind:literal $type:ident $spec:ident $controller:literal $reconcile:ident),*) => {$(
        #[derive(Clone, Debug, Default, CustomResource, Deserialize, JsonSchema, Serialize)]
        #[kube(group = "fields.example.com", version = "v1", kind = $kind, namespaced, status = "AnsibleStatus")]
        #[serde(transparent)]
        pub struct $spec(#[schemars(schema_with = "open")] pub Map<String, Value>);

        async fn $reconcile(object: Arc<$type>, context: Arc<Context>) -> Result<Action, Error> {
            context.ansible.reconcile(&*object).await
        }
    )*};
}

kinds! {
    "Plain" Plain PlainSpec "fields-plain" plain,
    "Turned" Turned TurnedSpec "fields-turned" turned,
    "Timed" Timed TimedSpec "fields-timed" timed,
    "Scoped" Scoped ScopedSpec "fields-scoped" scoped
}

async fn secrets(object: Arc<Foreign<Secret>>, context: Arc<Context>) -> Result<Action, Error> {
    context.ansible.reconcile(&*object).await
}

struct Context {
    ansible: Ansible,
}

const FINALIZER: &str = "fields.example.com/finalizer";

macro_rules! path {
    ($path:literal) => {
        concat!(env!("CARGO_MANIFEST_DIR"), "/tests/", $path)
    };
}

/// All fields have their defaults, but for the finalizer.
static PLAIN: LazyLock<Automation> = LazyLock::new(|| {
    let vars = json!({ "state": "absent", "by": "vars" });
    Automation::role(path!("roles/fields")).finalizer(Finalizer::new(FINALIZER).vars(vars))
});

/// All flags are the other way round.
static TURNED: LazyLock<Automation> = LazyLock::new(|| {
    Automation::playbook(path!("playbooks/fields.yml"))
        .vars(json!({ "size": "{{ 40 + 2 }}" }))
        .finalizer(Finalizer::new(FINALIZER).role(path!("roles/farewell")))
        .manage_status(false)
        .watch_dependent_resources(false)
        .watch_annotations_changes(true)
        .snake_case_parameters(false)
        .evaluate_objects(true)
});

static TIMED: LazyLock<Automation> = LazyLock::new(|| {
    Automation::role(path!("roles/fields"))
        .reconcile_period(Duration::from_secs(2))
        .finalizer(Finalizer::new(FINALIZER).playbook(path!("playbooks/farewell.yml")))
});

static SCOPED: LazyLock<Automation> = LazyLock::new(|| {
    Automation::role(path!("roles/fields"))
        .vars(json!({ "classed": true }))
        .watch_cluster_scoped_resources(true)
        .blacklist("", "v1", "ConfigMap")
});

/// For objects of a kind of Kubernetes.
static SECRETS: LazyLock<Automation> = LazyLock::new(|| {
    Automation::role(path!("roles/fields"))
        .vars(json!({ "text": "{{ __secret.data.word | b64decode }}" }))
        .manage_status(false)
});

fn context(manager: &Manager) -> Context {
    let mut ansible = Ansible::new(manager, app::options()).expect("a proxy");
    ansible.add::<Plain>(manager, "fields-plain", PLAIN.clone());
    ansible.add::<Turned>(manager, "fields-turned", TURNED.clone());
    ansible.add::<Timed>(manager, "fields-timed", TIMED.clone());
    ansible.add::<Scoped>(manager, "fields-scoped", SCOPED.clone());
    ansible.add::<Foreign<Secret>>(manager, "fields-secrets", SECRETS.clone());
    Context { ansible }
}

fn controllers() -> Controllers<Context> {
    let maps = ScopedResource::of::<ConfigMap>();
    let classes = ScopedResource::of::<PriorityClass>();
    let mut all = Controllers::default();
    let plain = Controller::new("fields-plain", plain).runs_ansible(&PLAIN);
    all.add(plain.manages(&maps).manages(&classes));
    let turned = Controller::external("fields-turned", turned).runs_ansible(&TURNED);
    all.add(turned.manages(&maps));
    let timed = Controller::new("fields-timed", timed).runs_ansible(&TIMED);
    all.add(
        timed
            .manages(&maps)
            .primary_watch(Watch::new().labels("choose=me")),
    );
    let scoped = Controller::new("fields-scoped", scoped).runs_ansible(&SCOPED);
    all.add(scoped.manages(&maps).manages(&classes));
    let secrets = Controller::external("fields-secrets", secrets).runs_ansible(&SECRETS);
    all.add(
        secrets
            .manages(&maps)
            .primary_watch(Watch::new().labels("choose=me")),
    );
    all
}

/// What the tests that run at the same time share.
struct Shared {
    operator: Option<Operator>,
    cluster: Cluster,
}

impl Drop for Shared {
    fn drop(&mut self) {
        let stopped = self.operator.take().map(Operator::stop);
        if let Some(Err(error)) = stopped
            && !panicking()
        {
            panic!("{error:#}");
        }
    }
}

fn shared() -> Result<Arc<Shared>> {
    static SHARED: Mutex<Weak<Shared>> = Mutex::new(Weak::new());
    let mut weak = SHARED.lock().unwrap_or_else(|poison| poison.into_inner());
    if let Some(shared) = weak.upgrade() {
        return Ok(shared);
    }
    let cluster = Cluster::start()?;
    let mut crds = Crds::default();
    crds.add_storage::<Plain>();
    crds.add_storage::<Turned>();
    crds.add_storage::<Timed>();
    crds.add_storage::<Scoped>();
    let operator = cluster.run(
        &OPTIONS,
        crds.merge(),
        controllers(),
        Webhooks::default(),
        context,
    )?;
    let shared = Arc::new(Shared {
        operator: Some(operator),
        cluster,
    });
    *weak = Arc::downgrade(&shared);
    Ok(shared)
}

/// An object of one of the kinds.
struct Object {
    client: Client,
    objects: Api<DynamicObject>,
    name: String,
    _shared: Arc<Shared>,
}

impl Object {
    async fn create(kind: &str, name: &str, spec: Value) -> Result<Self> {
        Self::create_with(kind, name, spec, json!({})).await
    }

    async fn create_with(kind: &str, name: &str, spec: Value, metadata: Value) -> Result<Self> {
        let shared = shared()?;
        let client = shared.cluster.client()?;
        let resource = ApiResource {
            group: "fields.example.com".to_owned(),
            version: "v1".to_owned(),
            api_version: "fields.example.com/v1".to_owned(),
            kind: kind.to_owned(),
            plural: format!("{}s", kind.to_lowercase()),
        };
        let objects = Api::namespaced_with(client.clone(), NAMESPACE, &resource);
        let mut object = json!({
            "apiVersion": resource.api_version,
            "kind": kind,
            "metadata": metadata,
            "spec": spec,
        });
        object["metadata"]["name"] = name.into();
        let object = serde_json::from_value(object)?;
        objects.create(&PostParams::default(), &object).await?;
        Ok(Self {
            client,
            objects,
            name: name.to_owned(),
            _shared: shared,
        })
    }

    fn maps(&self) -> Api<ConfigMap> {
        Api::namespaced(self.client.clone(), NAMESPACE)
    }

    /// Waits until a run reports these variables, and returns its report.
    async fn tells(&self, key: &str, value: &str) -> Result<ConfigMap> {
        let maps = self.maps();
        eventually(LIMIT, async || {
            let map = maps.get(&self.name).await?;
            ensure!(app::value(&map, key) == Some(value), "{:?}", map.data);
            Ok(map)
        })
        .await
    }

    /// When it was run for, if it was.
    async fn ran(&self) -> Result<Option<String>> {
        let map = self.maps().get_opt(&self.name).await?;
        Ok(map.and_then(|map| app::value(&map, "ran").map(str::to_owned)))
    }

    /// Waits until nothing happens, and returns when it was run for.
    async fn rests(&self) -> Result<Option<String>> {
        eventually(LIMIT, async || {
            let ran = self.ran().await?;
            sleep(QUIET).await;
            let after = self.ran().await?;
            ensure!(ran.is_some() && after == ran, "{ran:?} {after:?}");
            Ok(ran)
        })
        .await
    }

    /// Waits until it is run for again.
    async fn runs_again(&self, before: &Option<String>) -> Result<()> {
        eventually(LIMIT, async || {
            let ran = self.ran().await?;
            ensure!(ran.is_some() && ran != *before, "{ran:?}");
            Ok(())
        })
        .await
    }

    async fn annotate(&self, annotation: &str, value: &str) -> Result<()> {
        let patch = Patch::Merge(json!({ "metadata": { "annotations": { annotation: value } } }));
        self.objects
            .patch(&self.name, &PatchParams::default(), &patch)
            .await?;
        Ok(())
    }

    async fn delete_map(&self) -> Result<()> {
        self.maps()
            .delete(&self.name, &DeleteParams::default())
            .await?;
        Ok(())
    }

    /// Deletes it, and waits until the finalizer has said who it is, and the object is gone.
    async fn says_farewell(&self, by: &str) -> Result<()> {
        self.objects
            .delete(&self.name, &DeleteParams::default())
            .await?;
        let maps: Api<ConfigMap> = Api::namespaced(self.client.clone(), "kube-public");
        let farewell = format!("{}-farewell", self.name);
        eventually(LIMIT, async || {
            let map = maps.get(&farewell).await?;
            ensure!(app::value(&map, "by") == Some(by), "{:?}", map.data);
            match self.objects.get_opt(&self.name).await? {
                None => Ok(()),
                Some(_) => bail!("it is there"),
            }
        })
        .await
    }
}

/// The kind is one of Kubernetes: all fields of the object are variables, and each change of them causes a run.
#[tokio::test(flavor = "multi_thread")]
async fn kind_of_kubernetes() -> Result<()> {
    let shared = shared()?;
    let client = shared.cluster.client()?;
    let secrets: Api<Secret> = Api::namespaced(client.clone(), NAMESPACE);
    let maps: Api<ConfigMap> = Api::namespaced(client, NAMESPACE);
    let tells = async |word: &str| {
        eventually(LIMIT, async || {
            let map = maps.get("kind-of-kubernetes").await?;
            ensure!(app::value(&map, "text") == Some(word), "{:?}", map.data);
            Ok(map)
        })
        .await
    };
    let secret = json!({
        "metadata": { "name": "kind-of-kubernetes", "labels": { "choose": "me" } },
        "stringData": { "word": "hello" },
    });
    let secret: Secret = serde_json::from_value(secret)?;
    let created = secrets.create(&PostParams::default(), &secret).await?;
    let map = tells("hello").await?;
    let owners = map.metadata.owner_references.unwrap_or_default();
    let owners: Vec<_> = owners.iter().map(|it| (&*it.kind, &*it.uid)).collect();
    let uid = created.metadata.uid.unwrap_or_default();
    assert_eq!(owners, [("Secret", &*uid)]);
    let patch = Patch::Merge(json!({ "stringData": { "word": "again" } }));
    secrets
        .patch("kind-of-kubernetes", &PatchParams::default(), &patch)
        .await?;
    tells("again").await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn role() -> Result<()> {
    let object = Object::create("Plain", "role", json!({ "size": 3 })).await?;
    let map = object.tells("by", "role").await?;
    ensure!(app::value(&map, "size") == Some("3"), "{:?}", map.data);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn playbook() -> Result<()> {
    let object = Object::create("Turned", "playbook", json!({})).await?;
    object.tells("by", "playbook").await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn vars() -> Result<()> {
    // They win over the spec, and templates in them are evaluated.
    let object = Object::create("Turned", "vars", json!({ "size": 3 })).await?;
    object.tells("size", "42").await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn finalizer_vars() -> Result<()> {
    let object = Object::create("Plain", "finalizer-vars", json!({})).await?;
    object.tells("by", "role").await?;
    object.says_farewell("vars").await
}

#[tokio::test(flavor = "multi_thread")]
async fn finalizer_role() -> Result<()> {
    let object = Object::create("Turned", "finalizer-role", json!({})).await?;
    object.tells("by", "playbook").await?;
    object.says_farewell("farewell").await
}

#[tokio::test(flavor = "multi_thread")]
async fn finalizer_playbook() -> Result<()> {
    let chosen = json!({ "labels": { "choose": "me" } });
    let object = Object::create_with("Timed", "finalizer-playbook", json!({}), chosen).await?;
    object.tells("by", "role").await?;
    object.says_farewell("playbook").await
}

#[tokio::test(flavor = "multi_thread")]
async fn reconcile_period() -> Result<()> {
    let chosen = json!({ "labels": { "choose": "me" } });
    let timed = Object::create_with("Timed", "period", json!({}), chosen).await?;
    timed.tells("by", "role").await?;
    for _ in 0..2 {
        let before = timed.ran().await?;
        timed.runs_again(&before).await?;
    }
    // The default is 10 h; an annotation wins.
    let plain = Object::create("Plain", "period-by-default", json!({})).await?;
    let before = plain.rests().await.context("10 h")?;
    let period = "ansible.sdk.operatorframework.io/reconcile-period";
    plain.annotate(period, "2s").await?;
    plain.runs_again(&before).await?;
    plain.annotate(period, "0").await?;
    plain.rests().await.context("zero means never")?;
    timed.annotate(period, "0").await?;
    timed
        .rests()
        .await
        .context("zero means never, for any default")?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn manage_status() -> Result<()> {
    let managed = Object::create("Plain", "managed", json!({})).await?;
    eventually(LIMIT, async || {
        let object = managed.objects.get("managed").await?;
        let conditions = &object.data["status"]["conditions"];
        ensure!(
            conditions.as_array().is_some_and(|it| it.len() == 4),
            "{conditions}"
        );
        Ok(())
    })
    .await?;
    let own = Object::create("Turned", "unmanaged", json!({})).await?;
    own.rests().await?;
    let object = own.objects.get("unmanaged").await?;
    ensure!(object.data["status"].is_null(), "{}", object.data);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn watch_dependent_resources() -> Result<()> {
    let watched = Object::create("Plain", "watched", json!({})).await?;
    watched.rests().await?;
    watched.delete_map().await?;
    watched.tells("by", "role").await?;
    let alone = Object::create("Turned", "unwatched", json!({})).await?;
    alone.rests().await?;
    alone.delete_map().await?;
    sleep(QUIET).await;
    ensure!(alone.ran().await?.is_none());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn watch_cluster_scoped_resources() -> Result<()> {
    let watching = Object::create("Scoped", "classes", json!({})).await?;
    watching.rests().await?;
    let classes: Api<PriorityClass> = Api::all(watching.client.clone());
    classes
        .delete("fields-classes", &DeleteParams::default())
        .await?;
    eventually(LIMIT, async || {
        classes.get("fields-classes").await?;
        Ok(())
    })
    .await?;
    // Not by default.
    let plain = Object::create("Plain", "unseen", json!({ "classed": true })).await?;
    plain.rests().await?;
    classes
        .delete("fields-unseen", &DeleteParams::default())
        .await?;
    sleep(QUIET).await;
    ensure!(classes.get_opt("fields-unseen").await?.is_none());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn watch_annotations_changes() -> Result<()> {
    let watching = Object::create("Turned", "annotated", json!({})).await?;
    let before = watching.rests().await?;
    watching.annotate("example.com/a", "b").await?;
    watching.runs_again(&before).await?;
    let plain = Object::create("Plain", "annotated-in-vain", json!({})).await?;
    let before = plain.rests().await?;
    plain.annotate("example.com/a", "b").await?;
    sleep(QUIET).await;
    ensure!(plain.ran().await? == before);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn snake_case_parameters() -> Result<()> {
    let spec = json!({ "twoWords": "seen" });
    let snake = Object::create("Plain", "snake", spec.clone()).await?;
    let map = snake.tells("snake", "seen").await?;
    ensure!(app::value(&map, "camel") == Some("none"), "{:?}", map.data);
    let camel = Object::create("Turned", "camel", spec).await?;
    let map = camel.tells("camel", "seen").await?;
    ensure!(app::value(&map, "snake") == Some("none"), "{:?}", map.data);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn mark_unsafe() -> Result<()> {
    let spec = json!({ "text": "{{ 7 * 7 }}" });
    let safe = Object::create("Plain", "marked", spec.clone()).await?;
    safe.tells("text", "{{ 7 * 7 }}").await?;
    // Only if the author asks for it.
    let evaluated = Object::create("Turned", "evaluated", spec).await?;
    evaluated.tells("text", "49").await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn blacklist() -> Result<()> {
    let object = Object::create("Scoped", "listed", json!({})).await?;
    object.rests().await?;
    object.delete_map().await?;
    sleep(QUIET).await;
    ensure!(object.ran().await?.is_none(), "a ConfigMap is watched");
    // Another kind is.
    let classes: Api<PriorityClass> = Api::all(object.client.clone());
    classes
        .delete("fields-listed", &DeleteParams::default())
        .await?;
    object.tells("by", "role").await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn selector() -> Result<()> {
    let other = json!({ "labels": { "choose": "other" } });
    let ignored = Object::create_with("Timed", "ignored", json!({}), other).await?;
    let chosen = json!({ "labels": { "choose": "me" } });
    let object = Object::create_with("Timed", "chosen", json!({}), chosen).await?;
    object.tells("by", "role").await?;
    sleep(QUIET).await;
    ensure!(ignored.ran().await?.is_none());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn verbosity() -> Result<()> {
    let annotations = json!({ "ansible.sdk.operatorframework.io/verbosity": "3" });
    let metadata = json!({ "annotations": annotations });
    let object = Object::create_with("Plain", "verbosity", json!({}), metadata).await?;
    object.tells("verbosity", "3").await?;
    let usual = Object::create("Plain", "usual-verbosity", json!({})).await?;
    usual.tells("verbosity", "0").await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn max_runner_artifacts() -> Result<()> {
    // It has no meaning: a run leaves nothing.
    let annotations = json!({ "ansible.sdk.operatorframework.io/max-runner-artifacts": "3" });
    let metadata = json!({ "annotations": annotations });
    let object = Object::create_with("Plain", "artifacts", json!({}), metadata).await?;
    let ran = object.tells("by", "role").await?;
    let owner = ran.metadata.owner_references.context("an owner")?;
    ensure!(owner.len() == 1);
    eventually(LIMIT, async || {
        let mut left = Vec::new();
        for entry in std::fs::read_dir(std::env::temp_dir())?.flatten() {
            let is_ours = entry
                .file_name()
                .to_string_lossy()
                .starts_with("operator-ansible-");
            if is_ours {
                let runs = std::fs::read_dir(entry.path().join("runs"));
                left.extend(runs.into_iter().flatten().flatten());
            }
        }
        let artifacts = |entry: &std::fs::DirEntry| entry.path().join("artifacts").exists();
        ensure!(!left.iter().any(artifacts), "{left:?}");
        Ok(())
    })
    .await
}
