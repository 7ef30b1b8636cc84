// SPDX-License-Identifier: Apache-2.0

//! The webhooks of this operator.

use operator_runtime::webhook::{Conversion, Webhooks};

use crate::Context;

pub mod web {
    pub mod v1alpha1 {
        pub mod page {
            pub mod convert;
            pub mod default;
            pub mod validate;
        }

        pub mod tree {
            pub mod convert;
        }
    }
}

/// All webhooks: `main` serves them, and `make manifests` writes their configuration.
#[rustfmt::skip]
pub fn all() -> Webhooks<Context> {
    let mut all = Webhooks::default();
    all.add(web::v1alpha1::page::default::webhook());
    all.add(web::v1alpha1::page::validate::webhook());
    let mut conversion = Conversion::to::<crate::api::web::v1::Page>();
    conversion.add(web::v1alpha1::page::convert::spoke());
    all.convert(conversion);
    let mut conversion = Conversion::to::<crate::api::web::v1::Tree>();
    conversion.add(web::v1alpha1::tree::convert::spoke());
    all.convert(conversion);
    all
}
