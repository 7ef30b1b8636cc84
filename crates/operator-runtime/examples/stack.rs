//! Applies the objects in the spec of a `Stack`, of any types: also of those that nobody knew when the
//! operator was built, such as the custom resources of a CRD that is installed later.
//!
//! ```sh
//! cargo run --example stack -- --crd | kubectl apply -f -
//! cargo run --example stack
//! ```
//!
//! The operator needs permissions on the types that Stacks name. `make manifests` cannot derive them: grant
//! them in a ClusterRole of your own.

use std::{
    collections::{BTreeMap, BTreeSet},
    error::Error,
    sync::Arc,
    time::Duration,
};

use clap::Parser;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{
    Api, Client, CustomResource, CustomResourceExt, KubeSchema, Resource, ResourceExt,
    api::{DeleteParams, DynamicObject, Patch, PatchParams, Preconditions},
    core::GroupVersionKind,
};
use operator_runtime::{
    Action, Controller, DynamicWatches, Flags, Manager, ManagerOptions, Predicate, ReconcileError,
    ScopedResource, Watch, WatchScope, api_of, conditions, status,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

const NAME: &str = "stack.example.com";

#[derive(Clone, Debug, CustomResource, Deserialize, JsonSchema, Serialize)]
#[kube(
    group = "stack.example.com",
    version = "v1",
    kind = "Stack",
    namespaced,
    status = "StackStatus"
)]
struct StackSpec {
    /// The objects to apply, in the namespace of the Stack.
    #[schemars(schema_with = "embedded")]
    objects: Vec<DynamicObject>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, KubeSchema, Serialize)]
struct StackStatus {
    /// The types of the objects that may exist, so that those of former specs are found.
    #[serde(default)]
    types: Vec<Type>,
    #[serde(default)]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    conditions: Vec<Condition>,
}

/// The type of an object in a spec.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
struct Type {
    api_version: String,
    kind: String,
}

impl Type {
    fn of(object: &DynamicObject) -> Self {
        let types = object.types.clone().unwrap_or_default();
        Self {
            api_version: types.api_version,
            kind: types.kind,
        }
    }

    fn gvk(&self) -> GroupVersionKind {
        let (group, version) = self
            .api_version
            .split_once('/')
            .unwrap_or(("", &self.api_version));
        GroupVersionKind::gvk(group, version, &self.kind)
    }
}

fn embedded(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "items": {
            "type": "object",
            "x-kubernetes-embedded-resource": true,
            "x-kubernetes-preserve-unknown-fields": true,
        },
    })
}

struct Context {
    client: Client,
    children: DynamicWatches<Stack>,
}

#[derive(Debug, thiserror::Error)]
enum Failed {
    #[error("a call failed")]
    Api(#[from] kube::Error),
    #[error("the API server does not serve {} in {}", .0.kind, .0.api_version)]
    NotServed(Type),
    /// A namespaced object cannot own it.
    #[error("{} in {} is cluster-scoped", .0.kind, .0.api_version)]
    ClusterScoped(Type),
}

impl ReconcileError for Failed {
    fn reason(&self) -> &'static str {
        match self {
            Self::Api(_) => "ApiCallFailed",
            Self::NotServed(_) => "TypeNotServed",
            Self::ClusterScoped(_) => "TypeIsClusterScoped",
        }
    }
}

async fn reconcile(stack: Arc<Stack>, ctx: Arc<Context>) -> Result<Action, Failed> {
    let api = api_of(&ctx.client, &*stack);
    let mut status = stack.status.clone().unwrap_or_default();
    let wanted: BTreeSet<Type> = stack.spec.objects.iter().map(Type::of).collect();
    let former: BTreeSet<Type> = status.types.iter().cloned().collect();
    let mut kinds = BTreeMap::new();
    for of in wanted.union(&former) {
        match ScopedResource::discover(&ctx.client, &of.gvk()).await? {
            Some(kind) if kind.is_namespaced() => _ = kinds.insert(of.clone(), kind),
            Some(_) => return Err(Failed::ClusterScoped(of.clone())),
            None if wanted.contains(of) => return Err(Failed::NotServed(of.clone())),
            // Its objects are gone, too.
            None => {}
        }
    }
    // Before the first object of a type exists, so that each is found again.
    status.types = kinds.keys().cloned().collect();
    let stack = status::patch(&api, &*stack, &status).await?;
    let Some(stores) = ctx.children.set(&stack, kinds.values().cloned()) else {
        return Ok(Action::await_change());
    };
    for ((of, kind), store) in kinds.clone().iter().zip(stores) {
        let api = kind.api(ctx.client.clone(), stack.namespace().as_deref());
        let objects = || stack.spec.objects.iter().filter(|one| Type::of(one) == *of);
        for object in objects() {
            apply(&api, &stack, object).await?;
        }
        let mut children = store.controlled_by(&stack);
        children.retain(|child| objects().all(|one| one.name_any() != child.name_any()));
        for child in &children {
            delete(&api, child).await?;
        }
        // Otherwise, the events of the deletions are still to come.
        if children.is_empty() && !wanted.contains(of) {
            kinds.remove(of);
        }
    }
    // The watches of the other types end.
    ctx.children.set(&stack, kinds.values().cloned());
    status.types = kinds.into_keys().collect();
    let text = format!("applied {} objects", stack.spec.objects.len());
    let ready = conditions::new(&stack, "Ready", true, "Applied", text);
    conditions::set(&mut status.conditions, ready);
    status::patch(&api, &stack, &status).await?;
    Ok(Action::await_change())
}

/// Applying an object again changes nothing, and causes no event.
async fn apply(
    api: &Api<DynamicObject>,
    stack: &Stack,
    object: &DynamicObject,
) -> kube::Result<()> {
    let mut object = object.clone();
    object.metadata.namespace = stack.namespace();
    object
        .owner_references_mut()
        .extend(stack.controller_owner_ref(&()));
    let (name, params) = (object.name_any(), PatchParams::apply(NAME).force());
    api.patch(&name, &params, &Patch::Apply(object)).await?;
    Ok(())
}

async fn delete(api: &Api<DynamicObject>, child: &DynamicObject) -> kube::Result<()> {
    let params = DeleteParams::default().preconditions(Preconditions {
        uid: child.uid(),
        resource_version: None,
    });
    match api.delete(&child.name_any(), &params).await {
        Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
        result => result.map(|_| ()),
    }
}

/// Applies the objects of Stacks
#[derive(Parser)]
struct Args {
    #[command(flatten)]
    flags: Flags,
    /// Print the CRD and exit
    #[arg(long)]
    crd: bool,
}

const OPTIONS: ManagerOptions = ManagerOptions {
    name: NAME,
    scope: WatchScope::Cluster,
};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    if args.crd {
        println!("{}", serde_json::to_string_pretty(&Stack::crd())?);
        return Ok(());
    }
    let manager = Manager::new(&OPTIONS, args.flags).await?;
    let context = Context {
        client: manager.client(),
        children: manager.owns_dynamic("stack"),
    };
    let watch = Watch::new().when(Predicate::generation());
    // Nothing tells when the API server begins to serve a type.
    let controller = Controller::new("stack", reconcile)
        .primary_watch(watch)
        .backoff(Duration::from_secs(1), Duration::from_secs(30));
    Ok(manager.controllers(controller, context).run().await?)
}
