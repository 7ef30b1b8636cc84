//! The controllers of this operator.

use operator_runtime::Controllers;

use crate::Context;

pub mod batch {
    pub mod job;
}

pub mod cache {
    pub mod memcached;
}

/// All controllers: `main` runs them, and `make manifests` derives the permissions from them.
#[rustfmt::skip]
pub fn all() -> Controllers<Context> {
    let mut all = Controllers::default();
    all.add(batch::job::controller());
    all.add(cache::memcached::controller());
    all
}
