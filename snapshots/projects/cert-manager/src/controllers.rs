//! The controllers of this operator.

use operator_runtime::Controllers;

use crate::Context;

pub mod ship {
    pub mod request;
}

/// Every controller, as `main` runs them and `make manifests` derives their permissions.
pub fn all() -> Controllers<Context> {
    let mut all = Controllers::default();
    all.add(ship::request::controller());
    all
}
