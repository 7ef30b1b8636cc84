// SPDX-License-Identifier: Apache-2.0

//! The webhooks of this operator.

use operator_runtime::webhook::{Conversion, Webhooks};

use crate::Context;

pub mod core {
    pub mod v1 {
        pub mod pod {
            pub mod default;
        }
    }
}

pub mod media {
    pub mod v1 {
        pub mod video {
            pub mod default;
            pub mod validate;
        }
    }

    pub mod v1beta1 {
        pub mod video {
            pub mod convert;
        }
    }
}

/// All webhooks: `main` serves them, and `make manifests` writes their configuration.
#[rustfmt::skip]
pub fn all() -> Webhooks<Context> {
    let mut all = Webhooks::default();
    all.add(core::v1::pod::default::webhook());
    all.add(media::v1::video::default::webhook());
    all.add(media::v1::video::validate::webhook().path("/check-video"));
    let mut conversion = Conversion::to::<crate::api::media::v1::Video>();
    conversion.add(media::v1beta1::video::convert::spoke());
    all.convert(conversion);
    all
}
