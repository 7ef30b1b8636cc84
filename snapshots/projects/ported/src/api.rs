// SPDX-License-Identifier: Apache-2.0

//! The custom resources that this operator defines.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use operator_runtime::{CrdError, Crds};

pub mod media {
    pub mod v1 {
        pub mod channel;
        pub use channel::Channel;

        pub mod playlist;
        pub use playlist::Playlist;

        pub mod video;
        pub use video::Video;
    }

    pub mod v1alpha1 {
        pub mod playlist;
        pub use playlist::Playlist;
    }

    pub mod v1beta1 {
        pub mod video;
        pub use video::Video;
    }

    // The storage version of each kind, which has every field: controllers use its types.
    pub use v1::channel;
    pub use v1::playlist;
    pub use v1::video;
}

/// The CRDs to install, one per kind, each with all versions of the kind.
#[rustfmt::skip]
pub fn crds() -> Result<Vec<CustomResourceDefinition>, CrdError> {
    let mut crds = Crds::default();
    crds.import_storage::<media::v1::Channel>();
    crds.import_served::<media::v1alpha1::Playlist>();
    crds.import_storage::<media::v1::Playlist>();
    crds.import_served::<media::v1beta1::Video>();
    crds.import_storage::<media::v1::Video>();
    crds.merge()
}
