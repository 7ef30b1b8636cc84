// SPDX-License-Identifier: Apache-2.0

//! The webhooks of this operator.

use operator_runtime::webhook::{Conversion, Webhooks};

use crate::Context;

pub mod cache {
    pub mod v1alpha1 {
        pub mod memcached {
            pub mod convert;
            pub mod default;
            pub mod validate;
        }
    }

    pub mod v2 {
        pub mod memcached {
            pub mod convert;
            pub mod validate;
        }
    }
}

pub mod core {
    pub mod v1 {
        pub mod pod {
            pub mod default;
            pub mod validate;
        }
    }
}

/// All webhooks: `main` serves them, and `make manifests` writes their configuration.
#[rustfmt::skip]
pub fn all() -> Webhooks<Context> {
    let mut all = Webhooks::default();
    all.add(cache::v1alpha1::memcached::default::webhook());
    all.add(cache::v1alpha1::memcached::validate::webhook());
    all.add(cache::v2::memcached::validate::webhook().path("/check/memcached"));
    all.add(core::v1::pod::default::webhook());
    all.add(core::v1::pod::validate::webhook());
    let mut conversion = Conversion::to::<crate::api::cache::v1::Memcached>();
    conversion.add(cache::v1alpha1::memcached::convert::spoke());
    conversion.add(cache::v2::memcached::convert::spoke());
    all.convert(conversion);
    all
}
