//! The `manifests` binary of a project whose types are known only at run time, which makes an OLM bundle of any objects:
//! `kubectl kustomize config/default | bundle --dir config --bundle bundle --version 0.1.0 --channels stable`.

use std::{env, process::ExitCode, sync::Arc};

use k8s_openapi::api::apps::v1::Deployment;
use kube::{
    api::{ApiResource, DynamicObject, GroupVersionKind},
    runtime::reflector::ObjectRef,
};
use operator_runtime::{
    Action, Controller, Crds, ManagerOptions, ScopedResource, Watch, WatchScope, webhook::Webhooks,
};

const fn options(scope: WatchScope) -> ManagerOptions {
    ManagerOptions {
        name: "bundle.example.com",
        scope,
    }
}

fn resource(group: &str, version: &str, kind: &str) -> ScopedResource {
    let kind = GroupVersionKind::gvk(group, version, kind);
    ScopedResource::namespaced(ApiResource::from_gvk(&kind))
}

async fn reconcile(_: Arc<DynamicObject>, _: Arc<()>) -> kube::Result<Action> {
    Ok(Action::await_change())
}

/// Memcacheds own Deployments, and need the certificates of cert-manager.
fn controller() -> Controller<DynamicObject, ()> {
    let memcacheds = resource("cache.example.com", "v1alpha1", "Memcached");
    let certificates = resource("cert-manager.io", "v1", "Certificate");
    let none = |_: &DynamicObject, (): &()| Vec::<ObjectRef<DynamicObject>>::new();
    Controller::dynamic("memcached", memcacheds, reconcile)
        .owns::<Deployment>()
        .watches_dynamic(certificates, Watch::new(), none)
}

fn main() -> ExitCode {
    let scope = match env::var_os("NAMESPACED") {
        Some(_) => WatchScope::Namespaces,
        None => WatchScope::Cluster,
    };
    let controllers = controller().into();
    let crds = Crds::default().merge();
    operator_runtime::manifests::main(&options(scope), crds, &controllers, &Webhooks::default())
}
