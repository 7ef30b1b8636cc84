// SPDX-License-Identifier: Apache-2.0

//! The controllers of this operator.

use operator_runtime::Controllers;

use crate::Context;

pub mod cache {
    pub mod memcached;
}

/// All controllers: `main` runs them, and `make manifests` derives the permissions from them.
#[rustfmt::skip]
pub fn all() -> Controllers<Context> {
    let mut all = Controllers::default();
    all.add(cache::memcached::controller());
    all.hub::<crate::api::cache::memcached::Memcached>();
    all
}
