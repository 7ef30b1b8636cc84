use anyhow::Context as _;
use k8s_openapi::api::core::v1::Pod;
use kube::runtime::events::Recorder;
use kube::{Api, Client};
use operator_runtime::{Applier, Manager, Store};
use tokio::sync::OnceCell;

use crate::api::etcd::etcd_backup::EtcdBackup;
use crate::api::etcd::etcd_cluster::EtcdCluster;
use crate::api::etcd::etcd_restore::EtcdRestore;
use crate::metrics::Metrics;

/// The operator's own flags, in addition to the manager's.
#[derive(Debug, clap::Args)]
#[command(about = None, long_about = None)]
pub struct OperatorFlags {
    /// Image that takes snapshots [default: that of the operator's own Pod]
    #[arg(long, env = "SNAPSHOT_IMAGE")]
    snapshot_image: Option<String>,
}

/// The state that reconciles and webhooks share: clients, stores of watched objects, your settings.
pub struct Context {
    /// Calls the API server. Clones are cheap and share its connections.
    pub client: Client,
    /// Applies owned objects, and skips unchanged ones.
    pub applier: Applier,
    /// Publishes events about objects.
    pub recorder: Recorder,
    pub clusters: Store<EtcdCluster>,
    pub backups: Store<EtcdBackup>,
    pub restores: Store<EtcdRestore>,
    pub metrics: Metrics,
    image: OnceCell<String>,
}

impl Context {
    /// The API of the type of `object`: for the objects in its namespace, or in the cluster.
    pub fn api<K: operator_runtime::TypedObject>(&self, object: &K) -> kube::Api<K> {
        operator_runtime::api_of(&self.client, object)
    }

    /// Runs once, before the operator starts; in tests, with the default flags.
    pub async fn new(manager: &Manager, flags: OperatorFlags) -> anyhow::Result<Self> {
        Ok(Self {
            client: manager.client(),
            applier: manager.applier(),
            recorder: manager.recorder(),
            clusters: manager.store(),
            backups: manager.store(),
            restores: manager.store(),
            metrics: Metrics::new(manager),
            image: OnceCell::new_with(flags.snapshot_image),
        })
    }

    /// The image that takes snapshots: this operator's own.
    pub async fn image(&self) -> anyhow::Result<&str> {
        let image = self.image.get_or_try_init(async || {
            // Kubernetes gives a Pod its name as the name of the host.
            let name = std::env::var("HOSTNAME").context("not in a Pod: set --snapshot-image")?;
            let pod = Api::<Pod>::default_namespaced(self.client.clone())
                .get(&name)
                .await?;
            let spec = pod.spec.context("the Pod of this operator has no spec")?;
            let manager = spec.containers.into_iter().find(|it| it.name == "manager");
            manager
                .and_then(|container| container.image)
                .context("the Pod of this operator has no container `manager`")
        });
        Ok(image.await?)
    }
}
