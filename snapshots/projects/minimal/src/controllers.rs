// SPDX-License-Identifier: Apache-2.0

//! The controllers of this operator.

use operator_runtime::Controllers;

use crate::Context;

/// Every controller, as `main` runs them and `make manifests` derives their permissions.
pub fn all() -> Controllers<Context> {
    Controllers::default()
}
