// SPDX-FileCopyrightText: Example Inc.
// SPDX-License-Identifier: Apache-2.0

use kube::Client;
use operator_runtime::Manager;

/// What every reconcile and webhook can use: clients, stores of watched objects, settings of your
/// own.
pub struct Context {
    /// Talks to the API server; clones are cheap and share its connections.
    pub client: Client,
}

impl Context {
    /// Called once, before the operator starts.
    pub fn new(manager: &Manager) -> Self {
        Self {
            client: manager.client(),
        }
    }
}
