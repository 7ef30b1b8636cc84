//! Rendering the chart for a release.

use std::{collections::BTreeMap, sync::Arc};

use helm_render::{
    Lookup, Options,
    chart::{Capabilities, Release},
    manifest::{DeletePolicy, Event, Manifests},
    render,
    values::Table,
};
use kube::{
    Api,
    api::{DynamicObject, ListParams},
    core::GroupVersionKind,
};
use parking_lot::Mutex;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::runtime::Handle;

use crate::{
    chart::{Chart, hex},
    cluster::Cluster,
    error::Error,
    history::Texts,
    marks,
    object::{Object, gvk},
    store::Kept,
};

/// What a chart renders for a release.
#[derive(Debug)]
pub(crate) struct Rendering {
    /// What it was rendered from.
    pub(crate) of: Inputs,
    /// What templates looked up, with the digests of what was found.
    pub(crate) looked_up: Vec<(Query, String)>,
    /// In the order in which they are installed.
    pub(crate) objects: Vec<Object>,
    pub(crate) hooks: Vec<Hook>,
    pub(crate) notes: String,
    /// What Helm keeps of it, for a chart with [`Chart::with_helm_storage`].
    pub(crate) texts: Option<Texts>,
    /// The digest of objects and hooks.
    pub(crate) digest: String,
}

/// A hook of a release.
#[derive(Clone, Debug)]
pub(crate) struct Hook {
    pub(crate) object: Object,
    pub(crate) events: Vec<Event>,
    pub(crate) weight: i64,
    pub(crate) policies: Vec<DeletePolicy>,
}

/// What a rendering depends on, beside what templates look up.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Inputs {
    /// The digest of the chart and the values.
    pub(crate) digest: String,
    pub(crate) release: Release,
    pub(crate) capabilities: Arc<Capabilities>,
}

/// API version, kind, namespace and name; without a name, all objects of the namespace.
pub(crate) type Query = [String; 4];

/// The digest of the chart and the values.
pub(crate) fn digest(chart: &Chart, values: &Table) -> String {
    digest_of(&json!([chart.digest, values]))
}

fn digest_of(value: &Value) -> String {
    hex(&Sha256::digest(value.to_string()))
}

impl Inputs {
    /// Whether both are the same, apart from the versions of the cluster.
    pub(crate) fn is_same_but_for_cluster(&self, other: &Self) -> bool {
        self.digest == other.digest && self.release == other.release
    }
}

/// What templates looked up, and the first failure.
#[derive(Default)]
struct LookedUp {
    found: BTreeMap<Query, String>,
    failed: Option<kube::Error>,
}

/// Renders the chart for the custom resource with this uid. Returns the texts of the templates, too.
///
/// # Errors
/// The chart does not render with these values, or renders what is no object; or the API server fails while a template looks an object up.
pub(crate) async fn of(
    cluster: &Arc<Cluster>,
    chart: &'static Chart,
    values: Table,
    of: Inputs,
    uid: String,
) -> Result<(Rendering, BTreeMap<String, String>), Error> {
    let looked_up = Arc::new(Mutex::new(LookedUp::default()));
    let options = Options {
        release: of.release.clone(),
        capabilities: (*of.capabilities).clone(),
        lookup: Some(lookup(cluster.clone(), looked_up.clone(), uid)),
        ..Options::default()
    };
    // On a thread of its own: what is large takes a while.
    let run = move || {
        let rendered = render(&chart.chart, &values, &options);
        let LookedUp { found, failed } = std::mem::take(&mut *looked_up.lock());
        if let Some(failed) = failed {
            return Err(Error::Kube(failed));
        }
        let rendered = rendered.map_err(Error::Render)?;
        let found = found.into_iter().collect();
        let rendering = Rendering::sorted(chart, of, found, rendered.manifests)?;
        Ok((rendering, rendered.templates))
    };
    let run = tokio::task::spawn_blocking(run).await;
    // It ends early only at the end of the process.
    run.unwrap_or_else(|error| Err(kube::Error::Service(error.into()).into()))
}

/// What the chart rendered once.
///
/// # Errors
/// The texts are no objects.
pub(crate) fn of_kept(chart: &Chart, of: Inputs, kept: &Kept) -> Result<Rendering, Error> {
    let name = chart.chart.name();
    let manifests = Manifests::of(&kept.templates, name, false).map_err(Error::Render)?;
    Rendering::sorted(chart, of, kept.looked_up.clone(), manifests)
}

impl Rendering {
    fn sorted(
        chart: &Chart,
        of: Inputs,
        looked_up: Vec<(Query, String)>,
        manifests: Manifests,
    ) -> Result<Self, Error> {
        let (mut objects, mut hooks) = (Vec::<Object>::new(), Vec::new());
        for manifest in &manifests.manifests {
            for object in Object::read(&manifest.path, &manifest.text)? {
                let is_same = |other: &&Object| {
                    let group = |it: &Object| (it.kind.group.clone(), it.kind.kind.clone());
                    let name = |it: &Object| (it.namespace.clone(), it.name.clone());
                    group(other) == group(&object) && name(other) == name(&object)
                };
                if let Some(other) = objects.iter().find(is_same) {
                    return Err(Error::NoObject {
                        path: object.path.clone(),
                        what: format!("{object}, as {} does", other.path),
                    });
                }
                objects.push(object);
            }
        }
        for hook in &manifests.hooks {
            for object in Object::read(&hook.path, &hook.text)? {
                hooks.push(Hook {
                    object,
                    events: hook.events.clone(),
                    weight: hook.weight,
                    policies: hook.delete_policies.clone(),
                });
            }
        }
        // They run by weight, and those of equal weight by name.
        hooks.sort_by(|a, b| (a.weight, &a.object.name).cmp(&(b.weight, &b.object.name)));
        let values = objects.iter().chain(hooks.iter().map(|hook| &hook.object));
        let values: Vec<_> = values.map(|object| &object.value).collect();
        Ok(Self {
            digest: digest_of(&json!(values)),
            of,
            looked_up,
            objects,
            hooks,
            texts: chart.helm_storage.then(|| Texts::of(&manifests)),
            notes: manifests.notes,
        })
    }

    /// Whether what templates looked up is still what they found.
    ///
    /// # Errors
    /// Errors of the API server.
    pub(crate) async fn is_current(&self, cluster: &Cluster, uid: &str) -> Result<bool, Error> {
        for (query, digest) in &self.looked_up {
            let found = find(cluster, query).await?;
            if seen(&found, uid) != *digest {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The hooks of an event, in the order in which they run.
    pub(crate) fn hooks_of(&self, event: Event) -> impl Iterator<Item = &Hook> {
        let hooks = self.hooks.iter();
        hooks.filter(move |hook| hook.events.contains(&event))
    }

    /// The kinds of its objects and hooks.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = &GroupVersionKind> {
        let hooks = self.hooks.iter().map(|hook| &hook.object);
        self.objects.iter().chain(hooks).map(|object| &object.kind)
    }
}

/// Looks objects up for templates, on the thread that renders them.
fn lookup(cluster: Arc<Cluster>, looked_up: Arc<Mutex<LookedUp>>, uid: String) -> Arc<Lookup> {
    let runtime = Handle::current();
    Arc::new(
        move |version: &str, kind: &str, namespace: &str, name: &str| {
            let query = [version, kind, namespace, name].map(str::to_owned);
            let found = runtime.block_on(find(&cluster, &query));
            let mut looked_up = looked_up.lock();
            match found {
                Ok(found) => {
                    looked_up.found.insert(query, seen(&found, &uid));
                    Ok(found)
                }
                Err(error) => {
                    let text = error.to_string();
                    looked_up.failed.get_or_insert(error);
                    Err(text)
                }
            }
        },
    )
}

/// The digest of what was found, without what changes by itself. Objects of the release count as none: a chart that makes what it does
/// not find would make it by turns.
fn seen(found: &Value, uid: &str) -> String {
    let is_own = |object: &Value| object["metadata"]["annotations"][marks::UID] == uid;
    let plain = |object: &Value| {
        let mut object = object.clone();
        if let Some(metadata) = object["metadata"].as_object_mut() {
            metadata.remove("managedFields");
            metadata.remove("resourceVersion");
        }
        object
    };
    match found["items"].as_array() {
        Some(items) => {
            let others = items.iter().filter(|item| !is_own(item)).map(plain);
            digest_of(&Value::Array(others.collect()))
        }
        None if is_own(found) => digest_of(&json!({})),
        None => digest_of(&plain(found)),
    }
}

/// What `lookup` returns: the object, the list, or an empty map.
async fn find(cluster: &Cluster, [version, kind, namespace, name]: &Query) -> kube::Result<Value> {
    let kind = gvk(version, kind);
    let Some(of) = cluster.find(&kind).await? else {
        return Ok(json!({}));
    };
    let namespace = Some(namespace.as_str()).filter(|it| !it.is_empty());
    let api: Api<DynamicObject> = of.api(cluster.client.clone(), namespace);
    let shown =
        |object: DynamicObject| serde_json::to_value(object).map_err(kube::Error::SerdeError);
    if !name.is_empty() {
        let found = api.get_opt(name).await?;
        return found.map_or(Ok(json!({})), shown);
    }
    let list = api.list(&ListParams::default()).await?;
    let items = list.items.into_iter().map(shown);
    let items = items.collect::<kube::Result<Vec<_>>>()?;
    Ok(json!({
        "apiVersion": kind.api_version(),
        "kind": format!("{}List", kind.kind),
        "items": items,
    }))
}
