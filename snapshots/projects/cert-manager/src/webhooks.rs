//! The webhooks of this operator.

use operator_runtime::webhook::{Conversion, Webhooks};

use crate::Context;

pub mod ship {
    pub mod v1 {
        pub mod request {
            pub mod convert;
            pub mod validate;
        }
    }
}

/// All webhooks: `main` serves them, and `make manifests` writes their configuration.
#[rustfmt::skip]
pub fn all() -> Webhooks<Context> {
    let mut all = Webhooks::default();
    all.add(ship::v1::request::validate::webhook());
    let mut conversion = Conversion::to::<crate::api::ship::v2::Request>();
    conversion.add(ship::v1::request::convert::spoke());
    all.convert(conversion);
    all
}
