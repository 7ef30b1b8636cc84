// SPDX-License-Identifier: Apache-2.0

//! The webhooks of this operator.

use operator_runtime::webhook::Webhooks;

use crate::Context;

pub mod edge_acme_dev {
    pub mod v1 {
        pub mod gateway {
            pub mod validate;
        }
    }
}

pub mod storage {
    pub mod v1 {
        pub mod backup {
            pub mod default;
            pub mod validate;
        }
    }
}

/// All webhooks: `main` serves them, and `make manifests` writes their configuration.
#[rustfmt::skip]
pub fn all() -> Webhooks<Context> {
    let mut all = Webhooks::default();
    all.add(edge_acme_dev::v1::gateway::validate::webhook());
    all.add(storage::v1::backup::default::webhook());
    all.add(storage::v1::backup::validate::webhook());
    all
}
