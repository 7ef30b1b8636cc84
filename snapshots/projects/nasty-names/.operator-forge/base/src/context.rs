// SPDX-License-Identifier: Apache-2.0

use kube::Client;
use operator_runtime::Manager;

/// Flags of this operator's own, beside those of every operator.
#[derive(Debug, clap::Args)]
#[command(about = None, long_about = None)]
pub struct OperatorFlags {}

/// What every reconcile and webhook can use: clients, stores of watched objects, settings of your
/// own.
pub struct Context {
    /// Talks to the API server; clones are cheap and share its connections.
    pub client: Client,
}

impl Context {
    /// Called once, before the operator starts; tests call it with the defaults of the flags.
    ///
    /// `manager.store::<Secret>()` holds all Secrets in memory, `manager.store_with(…)` some of them
    /// or a part of each. `manager.clock()` tells the time, and a unit test sets it.
    pub async fn new(manager: &Manager, _flags: OperatorFlags) -> anyhow::Result<Self> {
        Ok(Self {
            client: manager.client(),
        })
    }
}
