// SPDX-License-Identifier: Apache-2.0

//! The controllers of this operator.

use operator_runtime::Controllers;

use crate::Context;

/// All controllers: `main` runs them, and `make manifests` derives the permissions from them.
pub fn all() -> Controllers<Context> {
    Controllers::default()
}
