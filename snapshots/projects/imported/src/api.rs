// SPDX-License-Identifier: Apache-2.0

//! The custom resources that this operator defines.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use operator_runtime::{CrdError, Crds};

pub mod edge_acme_dev {
    pub mod v1 {
        pub mod gateway;
        pub use gateway::Gateway;

        pub mod gateway_class;
        pub use gateway_class::GatewayClass;
    }
}

pub mod storage {
    pub mod v1 {
        pub mod backup;
        pub use backup::Backup;
    }

    pub mod v2alpha1 {
        pub mod backup;
        pub use backup::Backup;
    }

    // The storage version of each kind, which has every field: controllers use its types.
    pub use v1::backup;
}

/// The CRDs to install, one per kind, each with all versions of the kind.
#[rustfmt::skip]
pub fn crds() -> Result<Vec<CustomResourceDefinition>, CrdError> {
    let mut crds = Crds::default();
    crds.import_storage::<storage::v1::Backup>();
    crds.import_served::<storage::v2alpha1::Backup>();
    crds.merge()
}
