// SPDX-License-Identifier: Apache-2.0

//! The custom resources that this operator defines.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use operator_runtime::{CrdError, Crds};

pub mod cache {
    pub mod v1 {
        pub mod flush;
        pub use flush::Flush;
    }

    pub mod v1alpha1 {
        pub mod memcached;
        pub use memcached::Memcached;
    }

    // The storage version of each kind, which has every field: controllers use its types.
    pub use v1::flush;
    pub use v1alpha1::memcached;
}

pub mod r#type {
    pub mod v1 {
        pub mod automation;
        pub use automation::Automation;

        pub mod option;
        pub use option::OptionResource;

        pub mod sample;
        pub use sample::Sample;
    }

    // The storage version of each kind, which has every field: controllers use its types.
    pub use v1::automation;
    pub use v1::option;
    pub use v1::sample;
}

/// The CRDs to install, one per kind, each with all versions of the kind.
#[rustfmt::skip]
pub fn crds() -> Result<Vec<CustomResourceDefinition>, CrdError> {
    let mut crds = Crds::default();
    crds.add_storage::<cache::v1::Flush>();
    crds.add_storage::<cache::v1alpha1::Memcached>();
    crds.add_storage::<r#type::v1::Automation>();
    crds.add_storage::<r#type::v1::OptionResource>();
    crds.add_storage::<r#type::v1::Sample>();
    crds.merge()
}
