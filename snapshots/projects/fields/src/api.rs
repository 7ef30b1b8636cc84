// SPDX-License-Identifier: Apache-2.0

//! The custom resources that this operator defines.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use operator_runtime::{CrdError, Crds};

pub mod batch {
    pub mod v1 {
        pub mod cron_job;
        pub use cron_job::CronJob;
    }

    // The storage version of each kind, which has every field: controllers use its types.
    pub use v1::cron_job;
}

pub mod store {
    pub mod v1alpha1 {
        pub mod busybox;
        pub use busybox::Busybox;
    }

    // The storage version of each kind, which has every field: controllers use its types.
    pub use v1alpha1::busybox;
}

pub mod web {
    pub mod v1 {
        pub mod page;
        pub use page::Page;

        pub mod tree;
        pub use tree::Tree;
    }

    pub mod v1alpha1 {
        pub mod page;
        pub use page::Page;

        pub mod tree;
        pub use tree::Tree;
    }

    // The storage version of each kind, which has every field: controllers use its types.
    pub use v1::page;
    pub use v1::tree;
}

/// The CRDs to install, one per kind, each with all versions of the kind.
#[rustfmt::skip]
pub fn crds() -> Result<Vec<CustomResourceDefinition>, CrdError> {
    let mut crds = Crds::default();
    crds.add_storage::<batch::v1::CronJob>();
    crds.add_storage::<store::v1alpha1::Busybox>();
    crds.add_served::<web::v1alpha1::Page>();
    crds.add_storage::<web::v1::Page>();
    crds.add_served::<web::v1alpha1::Tree>();
    crds.add_storage::<web::v1::Tree>();
    crds.merge()
}
