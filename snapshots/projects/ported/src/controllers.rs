// SPDX-License-Identifier: Apache-2.0

//! The controllers of this operator.

use operator_runtime::Controllers;

use crate::Context;

pub mod apps {
    pub mod deployment;
}

pub mod media {
    pub mod playlist;
    pub mod playlist_cleanup;
    pub mod video;
}

/// All controllers: `main` runs them, and `make manifests` derives the permissions from them.
#[rustfmt::skip]
pub fn all() -> Controllers<Context> {
    let mut all = Controllers::default();
    all.add(apps::deployment::controller());
    all.add(media::playlist::controller());
    all.add(media::playlist_cleanup::controller());
    all.add(media::video::controller());
    all.hub::<crate::api::media::playlist::Playlist>();
    all.hub::<crate::api::media::video::Video>();
    all
}
