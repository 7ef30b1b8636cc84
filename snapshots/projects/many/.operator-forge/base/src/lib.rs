// SPDX-License-Identifier: MIT

//! The operator, as a library that its binaries and tests share.

pub mod api;
mod context;
pub mod controllers;
pub mod webhooks;

pub use context::Context;
use manager::{Scope, Settings};

/// What the manager, `make manifests` and the tests must agree on.
pub const SETTINGS: Settings = Settings {
    name: "project-many.testproject.org",
    scope: Scope::Cluster,
};
