// SPDX-License-Identifier: Apache-2.0

//! The operator as a library, for its binaries and tests.

pub mod api;
mod context;
pub mod controllers;
pub mod webhooks;

pub use context::{Context, OperatorFlags};
use operator_runtime::{ManagerOptions, WatchScope};

/// The options that the manager, `make manifests` and the tests share. The name is also that of the Lease by
/// which replicas elect their leader, so do not change it while one runs.
pub const OPTIONS: ManagerOptions = ManagerOptions {
    name: "caches.example.com",
    scope: WatchScope::Cluster,
};
