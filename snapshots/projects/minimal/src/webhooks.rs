// SPDX-License-Identifier: Apache-2.0

//! The webhooks of this operator.

use operator_runtime::webhook::Webhooks;

use crate::Context;

/// Every webhook, as `main` serves them and `make manifests` tells the API server of them.
pub fn all() -> Webhooks<Context> {
    Webhooks::default()
}
