use kube::Client;
use kube::runtime::events::Recorder;
use operator_runtime::{Applier, Manager};

/// The operator's own flags, in addition to the manager's.
#[derive(Debug, clap::Args)]
#[command(about = None, long_about = None)]
pub struct OperatorFlags {
    /// The namespace of the cards of all Rotas
    #[arg(long, default_value = "default")]
    board_namespace: String,
}

/// The state that reconciles and webhooks share: clients, stores of watched objects, your settings.
pub struct Context {
    /// Calls the API server. Clones are cheap and share its connections.
    pub client: Client,
    /// Applies owned objects, and skips unchanged ones.
    pub applier: Applier,
    /// Publishes events about objects.
    pub recorder: Recorder,
    /// The namespace of the cards.
    pub board: String,
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
            board: flags.board_namespace,
        })
    }
}
