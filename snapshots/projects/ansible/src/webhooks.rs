// SPDX-License-Identifier: Apache-2.0

//! The webhooks of this operator.

use operator_runtime::webhook::Webhooks;

use crate::Context;

pub mod cache {
    pub mod v1alpha1 {
        pub mod app {
            pub mod default;
            pub mod validate;
        }
    }
}

/// All webhooks: `main` serves them, and `make manifests` writes their configuration.
#[rustfmt::skip]
pub fn all() -> Webhooks<Context> {
    let mut all = Webhooks::default();
    all.add(cache::v1alpha1::app::default::webhook());
    all.add(cache::v1alpha1::app::validate::webhook());
    all
}
