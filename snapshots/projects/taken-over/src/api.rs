// SPDX-License-Identifier: Apache-2.0

//! The custom resources that this operator defines.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use operator_runtime::{CrdError, Crds};

pub mod cache {
    pub mod v1 {
        pub mod memcached;
        pub use memcached::Memcached;
    }

    // The storage version of each kind, which has every field: controllers use its types.
    pub use v1::memcached;
}

pub mod edge_example_org {
    pub mod v1alpha1 {
        pub mod proxy;
        pub use proxy::Proxy;
    }

    // The storage version of each kind, which has every field: controllers use its types.
    pub use v1alpha1::proxy;
}

/// The CRDs to install, one per kind, each with all versions of the kind.
#[rustfmt::skip]
pub fn crds() -> Result<Vec<CustomResourceDefinition>, CrdError> {
    let mut crds = Crds::default();
    crds.add_storage::<cache::v1::Memcached>();
    crds.add_storage::<edge_example_org::v1alpha1::Proxy>();
    crds.merge()
}
