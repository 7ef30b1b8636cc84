//! The controllers of this operator.

use operator_runtime::Controllers;

use crate::Context;

pub mod etcd {
    pub mod etcd_backup;
    pub mod etcd_cluster;
    pub mod etcd_restore;
}

/// All controllers: `main` runs them, and `make manifests` derives the permissions from them.
#[rustfmt::skip]
pub fn all() -> Controllers<Context> {
    let mut all = Controllers::default();
    all.add(etcd::etcd_backup::controller());
    all.add(etcd::etcd_cluster::controller());
    all.add(etcd::etcd_restore::controller());
    all
}
