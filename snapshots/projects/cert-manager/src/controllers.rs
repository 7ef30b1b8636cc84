//! The controllers of this operator.

use operator_runtime::Controllers;

use crate::Context;

pub mod ship {
    pub mod request;
}

/// All controllers: `main` runs them, and `make manifests` derives the permissions from them.
#[rustfmt::skip]
pub fn all() -> Controllers<Context> {
    let mut all = Controllers::default();
    all.add(ship::request::controller());
    all.hub::<crate::api::ship::request::Request>();
    all
}
