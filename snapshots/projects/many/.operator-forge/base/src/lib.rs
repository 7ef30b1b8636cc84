// SPDX-License-Identifier: MIT

//! The operator, as a library that its binaries and tests share.

pub mod api;
mod context;
pub mod controllers;
pub mod webhooks;

pub use context::{Context, OperatorFlags};
use operator_runtime::{ManagerOptions, WatchScope};

/// What the manager, `make manifests` and the tests must agree on.
pub const OPTIONS: ManagerOptions = ManagerOptions {
    name: "project-many.testproject.org",
    scope: WatchScope::Cluster,
};
