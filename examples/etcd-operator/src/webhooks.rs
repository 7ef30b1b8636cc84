//! The webhooks of this operator.

use operator_runtime::webhook::Webhooks;

use crate::Context;

/// All webhooks: `main` serves them, and `make manifests` writes their configuration.
pub fn all() -> Webhooks<Context> {
    Webhooks::default()
}
