//! Webhooks: defaulting, validation, and conversion between two versions.
//!
//! A `Cache` is stored as `v1`, and `v1alpha1` is served as well. The API server calls the webhooks over
//! HTTPS, so it must reach this process. `--webhook-host` names the host at which it can: the operator issues
//! a certificate for that host, points the webhook configurations at it, and restores them when it stops.
//!
//! ```sh
//! cargo run --example webhooks -- --crd | kubectl apply -f -
//! cargo run --example webhooks -- --webhook-host 192.168.1.20
//! ```

use std::error::Error;

use clap::Parser;
use operator_runtime::{
    Crds, Flags, Manager, ManagerOptions, WatchScope,
    webhook::{
        Change, Conversion, Denied, FieldErrors, Hub, Operation, Request, Spoke, Webhook, Webhooks,
    },
};

/// The storage version, which is the hub.
mod v1 {
    use kube::CustomResource;
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    #[derive(Clone, Debug, CustomResource, Deserialize, JsonSchema, Serialize)]
    #[kube(
        group = "cache.example.com",
        version = "v1",
        kind = "Cache",
        namespaced
    )]
    pub struct CacheSpec {
        pub replicas: i32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub owner: Option<String>,
    }
}

/// The older version: `replicas` was named `size`, and a cache had no owner.
mod v1alpha1 {
    use kube::CustomResource;
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    use super::v1;

    #[derive(Clone, Debug, CustomResource, Deserialize, JsonSchema, Serialize)]
    #[kube(
        group = "cache.example.com",
        version = "v1alpha1",
        kind = "Cache",
        namespaced
    )]
    pub struct CacheSpec {
        pub size: i32,
    }

    // Destructures both specs without `..`: a field that is added later does not compile until it is
    // converted.
    impl From<Cache> for v1::Cache {
        fn from(old: Cache) -> Self {
            let CacheSpec { size } = old.spec;
            let spec = v1::CacheSpec {
                replicas: size,
                owner: None,
            };
            Self {
                metadata: old.metadata,
                spec,
            }
        }
    }

    impl From<v1::Cache> for Cache {
        fn from(new: v1::Cache) -> Self {
            // Kept in an annotation, see `webhooks()`.
            let v1::CacheSpec { replicas, owner: _ } = new.spec;
            Self {
                metadata: new.metadata,
                spec: CacheSpec { size: replicas },
            }
        }
    }
}

/// Sets the owner to the user who creates the cache. The schema cannot do that, because it does not know
/// the user.
async fn default(cache: &mut v1::Cache, request: &Request, _: &()) -> Result<(), Denied> {
    if cache.spec.owner.is_none() {
        cache.spec.owner.clone_from(&request.user.username);
    }
    Ok(())
}

/// Returns all errors at once, each with its field.
async fn validate(change: &Change<v1::Cache>, request: &Request, _: &()) -> Result<(), Denied> {
    let mut errors = FieldErrors::default();
    match change {
        Change::Create(new) => check(new, request, &mut errors),
        Change::Update { old, new } => {
            check(new, request, &mut errors);
            if old.spec.owner != new.spec.owner {
                errors.forbidden("spec.owner", "may not change");
            }
        }
        Change::Delete(old) if old.spec.replicas > 0 => {
            return Err(Denied::forbidden("scale it to 0 replicas first"));
        }
        Change::Delete(_) => {}
    }
    errors.into_result()
}

fn check(cache: &v1::Cache, request: &Request, errors: &mut FieldErrors) {
    let replicas = cache.spec.replicas;
    if replicas < 0 {
        errors.invalid("spec.replicas", replicas, "may not be negative");
    }
    if replicas == 0 {
        request.warn("spec.replicas: a cache without replicas keeps nothing");
    }
}

fn webhooks() -> Webhooks<()> {
    let mut all = Webhooks::default();
    all.add(Webhook::defaulting(default).schema_first());
    all.add(Webhook::validating(validate).operations(&[
        Operation::Create,
        Operation::Update,
        Operation::Delete,
    ]));
    let mut hub: Hub<v1::Cache> = Conversion::to();
    hub.add(Spoke::of::<v1alpha1::Cache>());
    all.convert(hub);
    all
}

/// Serves the webhooks of a Cache
#[derive(Parser)]
struct Args {
    #[command(flatten)]
    flags: Flags,
    /// Print the CRD and exit
    #[arg(long)]
    crd: bool,
}

const OPTIONS: ManagerOptions = ManagerOptions {
    name: "webhooks.example.com",
    scope: WatchScope::Cluster,
};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    if args.crd {
        let mut crds = Crds::default();
        crds.add_storage::<v1::Cache>();
        crds.add_served::<v1alpha1::Cache>();
        for crd in crds.merge()? {
            println!("{}", serde_json::to_string_pretty(&crd)?);
        }
        return Ok(());
    }
    let manager = Manager::new(&OPTIONS, args.flags).await?;
    Ok(manager.webhooks(webhooks(), ()).run().await?)
}
