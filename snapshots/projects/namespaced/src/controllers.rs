//! The controllers of this operator.

use operator_runtime::Controllers;

use crate::Context;

pub mod batch {
    pub mod job;
}

pub mod cache {
    pub mod memcached;
}

/// Every controller, as `main` runs them and `make manifests` derives their permissions.
pub fn all() -> Controllers<Context> {
    let mut all = Controllers::default();
    all.add(batch::job::controller());
    all.add(cache::memcached::controller());
    all
}
