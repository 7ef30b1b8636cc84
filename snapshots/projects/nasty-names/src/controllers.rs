// SPDX-License-Identifier: Apache-2.0

//! The controllers of this operator.

use operator_runtime::Controllers;

use crate::Context;

pub mod a_b_c {
    pub mod controller;
    pub mod error;
}

pub mod r#async {
    pub mod client;
    pub mod context;
}

pub mod crate_ {
    pub mod crate_;
    pub mod self_;
}

pub mod gaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa {
    pub mod ccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc;
    pub mod kaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa;
}

pub mod main {
    pub mod http_route;
    pub mod main;
}

pub mod self_ {
    pub mod api;
    pub mod condition;
}

pub mod r#type {
    pub mod option;
    pub mod result;
    pub mod string;
    pub mod r#type;
    pub mod vec;
}

/// All controllers: `main` runs them, and `make manifests` derives the permissions from them.
#[rustfmt::skip]
pub fn all() -> Controllers<Context> {
    let mut all = Controllers::default();
    all.add(a_b_c::controller::controller());
    all.add(a_b_c::error::controller());
    all.add(r#async::client::controller());
    all.add(r#async::context::controller());
    all.add(crate_::crate_::controller());
    all.add(crate_::self_::controller());
    all.add(gaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa::ccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc::controller());
    all.add(gaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa::kaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa::controller());
    all.add(main::http_route::controller());
    all.add(main::main::controller());
    all.add(self_::api::controller());
    all.add(self_::condition::controller());
    all.add(r#type::option::controller());
    all.add(r#type::result::controller());
    all.add(r#type::string::controller());
    all.add(r#type::r#type::controller());
    all.add(r#type::vec::controller());
    all
}
