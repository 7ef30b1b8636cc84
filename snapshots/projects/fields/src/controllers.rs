// SPDX-License-Identifier: Apache-2.0

//! The controllers of this operator.

use operator_runtime::Controllers;

use crate::Context;

pub mod batch {
    pub mod cron_job;
}

pub mod store {
    pub mod busybox;
}

pub mod web {
    pub mod page;
    pub mod tree;
}

/// All controllers: `main` runs them, and `make manifests` derives the permissions from them.
#[rustfmt::skip]
pub fn all() -> Controllers<Context> {
    let mut all = Controllers::default();
    all.add(batch::cron_job::controller());
    all.add(store::busybox::controller());
    all.add(web::page::controller());
    all.add(web::tree::controller());
    all.hub::<crate::api::web::page::Page>();
    all.hub::<crate::api::web::tree::Tree>();
    all
}
