//! The custom resources that this operator defines.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use operator_runtime::{CrdError, Crds};

pub mod etcd {
    pub mod v1alpha1 {
        pub mod etcd_backup;
        pub use etcd_backup::EtcdBackup;

        pub mod etcd_cluster;
        pub use etcd_cluster::EtcdCluster;

        pub mod etcd_restore;
        pub use etcd_restore::EtcdRestore;
    }

    // The storage version of each kind, which has every field: controllers use its types.
    pub use v1alpha1::etcd_backup;
    pub use v1alpha1::etcd_cluster;
    pub use v1alpha1::etcd_restore;
}

/// The CRDs to install, one per kind, each with all versions of the kind.
#[rustfmt::skip]
pub fn crds() -> Result<Vec<CustomResourceDefinition>, CrdError> {
    let mut crds = Crds::default();
    crds.add_storage::<etcd::v1alpha1::EtcdBackup>();
    crds.add_storage::<etcd::v1alpha1::EtcdCluster>();
    crds.add_storage::<etcd::v1alpha1::EtcdRestore>();
    crds.merge()
}
