//! Rendering the chart for a release.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use helm_render::{
    Options,
    chart::{Capabilities, Release},
    engine::Lookup,
    manifest::{self, DeletePolicy, Event, Manifests},
    render,
    values::Table,
};
use kube::{
    Api,
    api::{DynamicObject, ListParams},
    core::GroupVersionKind,
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::runtime::Handle;

use crate::{
    chart::{Chart, hex},
    cluster::Cluster,
    error::Error,
    history::Texts,
    object::Object,
};

/// What a chart renders for a release.
#[derive(Debug)]
pub(crate) struct Rendering {
    /// What it was rendered from.
    pub(crate) of: Inputs,
    /// What templates looked up, with the digests of what was found.
    looked_up: BTreeMap<Query, String>,
    /// In the order in which they are installed.
    pub(crate) objects: Vec<Object>,
    pub(crate) hooks: Vec<Hook>,
    /// The objects of `crds/`.
    pub(crate) crds: Vec<Object>,
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
type Query = [String; 4];

/// The digest of the chart and the values.
pub(crate) fn digest(chart: &Chart, values: &Table) -> String {
    digest_of(&json!([chart.digest, values]))
}

fn digest_of(value: &Value) -> String {
    hex(&Sha256::digest(value.to_string()))
}

/// Renders the chart. Returns the texts of the templates, too.
///
/// # Errors
/// The chart does not render with these values, or renders what is no object.
pub(crate) async fn of(
    cluster: &Arc<Cluster>,
    chart: &'static Chart,
    values: Table,
    of: Inputs,
) -> Result<(Rendering, BTreeMap<String, String>), Error> {
    let looked_up = Arc::new(Mutex::new(BTreeMap::new()));
    let options = Options {
        release: of.release.clone(),
        capabilities: (*of.capabilities).clone(),
        lookup: Some(lookup(cluster.clone(), looked_up.clone())),
        ..Options::default()
    };
    let run = move || render(&chart.chart, &values, &options);
    let rendered = match tokio::task::spawn_blocking(run).await {
        Ok(rendered) => rendered.map_err(Error::Render)?,
        // Only at the end of the process.
        Err(error) => return Err(Error::Render(error.to_string().into())),
    };
    let looked_up = std::mem::take(&mut *looked_up.lock().unwrap_or_else(PoisonError::into_inner));
    let rendering = Rendering::sorted(chart, of, looked_up, rendered.manifests)?;
    Ok((rendering, rendered.templates))
}

/// What the chart rendered once, by the texts of the templates.
///
/// # Errors
/// They are no objects.
pub(crate) fn of_texts(
    chart: &Chart,
    of: Inputs,
    templates: &BTreeMap<String, String>,
) -> Result<Rendering, Error> {
    let manifests = Manifests::of(templates, chart.chart.name(), false).map_err(Error::Render)?;
    Rendering::sorted(chart, of, BTreeMap::new(), manifests)
}

impl Rendering {
    fn sorted(
        chart: &Chart,
        of: Inputs,
        looked_up: BTreeMap<Query, String>,
        manifests: Manifests,
    ) -> Result<Self, Error> {
        let (mut objects, mut hooks, mut crds) = (Vec::new(), Vec::new(), Vec::new());
        for manifest in &manifests.manifests {
            objects.extend(Object::read(&manifest.path, &manifest.text)?);
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
        for crd in &chart.chart.crds() {
            for document in manifest::split(&crd.file.text()) {
                crds.extend(Object::read(&crd.path, document)?);
            }
        }
        let values = objects.iter().chain(hooks.iter().map(|hook| &hook.object));
        let values: Vec<_> = values.map(|object| &object.value).collect();
        Ok(Self {
            digest: digest_of(&json!(values)),
            of,
            looked_up,
            objects,
            hooks,
            crds,
            texts: chart.helm_storage.then(|| Texts::of(&manifests)),
            notes: manifests.notes,
        })
    }

    /// Whether what templates looked up is still what they found.
    pub(crate) async fn is_current(&self, cluster: &Cluster) -> bool {
        for (query, digest) in &self.looked_up {
            match find(cluster, query).await {
                Ok(found) if digest_of(&found) == *digest => {}
                _ => return false,
            }
        }
        true
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
fn lookup(cluster: Arc<Cluster>, looked_up: Arc<Mutex<BTreeMap<Query, String>>>) -> Arc<Lookup> {
    let runtime = Handle::current();
    Arc::new(
        move |version: &str, kind: &str, namespace: &str, name: &str| {
            let query = [version, kind, namespace, name].map(str::to_owned);
            let found = runtime.block_on(find(&cluster, &query));
            let found = found.map_err(|error| error.to_string())?;
            let mut looked_up = looked_up.lock().unwrap_or_else(PoisonError::into_inner);
            looked_up.insert(query, digest_of(&found));
            Ok(found)
        },
    )
}

/// What `lookup` returns: the object, the list, or an empty map.
async fn find(cluster: &Cluster, [version, kind, namespace, name]: &Query) -> kube::Result<Value> {
    let (group, version) = version.split_once('/').unwrap_or(("", version));
    let kind = GroupVersionKind::gvk(group, version, kind);
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
