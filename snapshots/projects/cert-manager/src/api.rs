//! The custom resources that this operator defines.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use operator_runtime::{CrdError, Crds};

pub mod ship {
    pub mod v1 {
        pub mod request;
        pub use request::Request;
    }

    pub mod v2 {
        pub mod request;
        pub use request::Request;
    }

    // The storage version of each kind, which has every field: controllers use its types.
    pub use v2::request;
}

/// The CRDs to install, one per kind, each with all versions of the kind.
#[rustfmt::skip]
pub fn crds() -> Result<Vec<CustomResourceDefinition>, CrdError> {
    let mut crds = Crds::default();
    crds.add_served::<ship::v1::Request>();
    crds.add_storage::<ship::v2::Request>();
    crds.merge()
}
