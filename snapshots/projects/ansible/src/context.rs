// SPDX-License-Identifier: Apache-2.0

use kube::Client;
use kube::runtime::events::Recorder;
use operator_ansible::{Ansible, AnsibleFlags};
use operator_runtime::{Applier, Manager};

/// The operator's own flags, in addition to the manager's.
#[derive(Debug, clap::Args)]
#[command(about = None, long_about = None)]
pub struct OperatorFlags {
    /// How Ansible runs.
    #[command(flatten)]
    pub ansible: AnsibleFlags,
}

/// The state that reconciles and webhooks share: clients, stores of watched objects, your settings.
///
/// The memory does not grow with objects of others if the operator labels its own, and caches only
/// those: `manager.store_with(StoreOptions::<Deployment>::new().labels("LABEL=VALUE"))`. A
/// controller then has `.owns_with::<Deployment>(Watch::new().labels("LABEL=VALUE"))`.
pub struct Context {
    /// Calls the API server. Clones are cheap and share its connections.
    pub client: Client,
    /// Applies owned objects, and skips unchanged ones.
    pub applier: Applier,
    /// Publishes events about objects.
    pub recorder: Recorder,
    /// Runs the roles and playbooks.
    pub ansible: Ansible,
}

impl Context {
    /// The API of the type of `object`: for the objects in its namespace, or in the cluster.
    pub fn api<K: operator_runtime::TypedObject>(&self, object: &K) -> kube::Api<K> {
        operator_runtime::api_of(&self.client, object)
    }

    /// Runs once, before the operator starts; in tests, with the default flags.
    ///
    /// `manager.store::<Secret>()` caches all Secrets, `manager.store_with(…)` some of them, or a
    /// part of each. `manager.clock()` is a clock that unit tests can set.
    pub async fn new(manager: &Manager, flags: OperatorFlags) -> anyhow::Result<Self> {
        Ok(Self {
            client: manager.client(),
            applier: manager.applier(),
            recorder: manager.recorder(),
            ansible: crate::controllers::ansible(manager, flags.ansible.options())?,
        })
    }
}
