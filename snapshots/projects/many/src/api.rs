// SPDX-License-Identifier: MIT

//! The custom resources that this operator defines.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use operator_runtime::{CrdError, Crds};

pub mod crew {
    pub mod v1 {
        pub mod admiral;
        pub use admiral::Admiral;

        pub mod captain;
        pub use captain::Captain;

        pub mod first_mate;
        pub use first_mate::FirstMate;
    }

    pub mod v2 {
        pub mod first_mate;
        pub use first_mate::FirstMate;
    }

    // The storage version of each kind, which has every field: controllers use its types.
    pub use v1::admiral;
    pub use v1::captain;
    pub use v1::first_mate;
}

pub mod fiz {
    pub mod v1 {
        pub mod bar;
        pub use bar::Bar;
    }

    // The storage version of each kind, which has every field: controllers use its types.
    pub use v1::bar;
}

pub mod foo {
    pub mod v1 {
        pub mod bar;
        pub use bar::Bar;
    }

    // The storage version of each kind, which has every field: controllers use its types.
    pub use v1::bar;
}

pub mod foo_policy {
    pub mod v1 {
        pub mod health_check_policy;
        pub use health_check_policy::HealthCheckPolicy;
    }

    // The storage version of each kind, which has every field: controllers use its types.
    pub use v1::health_check_policy;
}

pub mod sea_creatures {
    pub mod v1beta1 {
        pub mod kraken;
        pub use kraken::Kraken;
    }

    // The storage version of each kind, which has every field: controllers use its types.
    pub use v1beta1::kraken;
}

pub mod ship {
    pub mod v1beta1 {
        pub mod frigate;
        pub use frigate::Frigate;
    }

    pub mod v2alpha1 {
        pub mod cruiser;
        pub use cruiser::Cruiser;
    }

    // The storage version of each kind, which has every field: controllers use its types.
    pub use v1beta1::frigate;
    pub use v2alpha1::cruiser;
}

pub mod testproject_org {
    pub mod v1 {
        pub mod lakers;
        pub use lakers::Lakers;
    }

    // The storage version of each kind, which has every field: controllers use its types.
    pub use v1::lakers;
}

/// The CRDs to install, one per kind, each with all versions of the kind.
#[rustfmt::skip]
pub fn crds() -> Result<Vec<CustomResourceDefinition>, CrdError> {
    let mut crds = Crds::default();
    crds.add_storage::<crew::v1::Admiral>();
    crds.add_storage::<crew::v1::Captain>();
    crds.add_storage::<crew::v1::FirstMate>();
    crds.add_served::<crew::v2::FirstMate>();
    crds.add_storage::<fiz::v1::Bar>();
    crds.add_storage::<foo::v1::Bar>();
    crds.add_storage::<foo_policy::v1::HealthCheckPolicy>();
    crds.add_storage::<sea_creatures::v1beta1::Kraken>();
    crds.add_storage::<ship::v2alpha1::Cruiser>();
    crds.add_storage::<ship::v1beta1::Frigate>();
    crds.add_storage::<testproject_org::v1::Lakers>();
    crds.merge()
}
