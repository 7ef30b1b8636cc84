// SPDX-License-Identifier: Apache-2.0

//! The controllers of this operator.

use operator_runtime::Controllers;

use crate::Context;

pub mod edge_acme_dev {
    pub mod gateway;
}

pub mod storage {
    pub mod backup;
}

/// All controllers: `main` runs them, and `make manifests` derives the permissions from them.
#[rustfmt::skip]
pub fn all() -> Controllers<Context> {
    let mut all = Controllers::default();
    all.add(edge_acme_dev::gateway::controller());
    all.add(storage::backup::controller());
    all.hub::<crate::api::storage::backup::Backup>();
    all
}
