//! An operator whose reconcile waits 50 ms on the outside world, and then writes nothing or an annotation.

use std::{env, sync::Arc, time::Duration};

use clap::Parser;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Client,
    api::{Patch, PatchParams},
};
use operator_runtime::{
    Action, Controller, Controllers, Flags, Manager, ManagerOptions, ShardKey, WatchScope,
};
use serde_json::json;
use tokio::time::sleep;

const OPTIONS: ManagerOptions = ManagerOptions {
    name: "shards.bench.example.com",
    scope: WatchScope::Cluster,
};

struct Context {
    client: Client,
    writes: bool,
}

async fn reconcile(object: Arc<ConfigMap>, context: Arc<Context>) -> kube::Result<Action> {
    sleep(Duration::from_millis(50)).await;
    if context.writes {
        let api: Api<ConfigMap> = operator_runtime::api_of(&context.client, &*object);
        let version = &object.metadata.resource_version;
        let patch = json!({"metadata": {"annotations": {"seen": version}}});
        let name = object.metadata.name.as_deref().unwrap_or_default();
        api.patch(name, &PatchParams::default(), &Patch::Merge(patch))
            .await?;
    }
    // All workers always have something to do.
    Ok(Action::requeue(Duration::from_millis(100)))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let manager = Manager::new(&OPTIONS, Flags::parse()).await?;
    let mut controllers = Controllers::default();
    controllers.add(Controller::external("waits", reconcile).sharded(ShardKey::uid()));
    let context = Context {
        client: manager.client(),
        writes: env::var_os("BENCH_WRITES").is_some(),
    };
    Ok(manager.controllers(controllers, context).run().await?)
}
