// SPDX-License-Identifier: Apache-2.0

//! Generates the CRDs, roles and webhook configurations in `config/` from the Rust code.

use std::process::ExitCode;

use caches::{OPTIONS, api, controllers, webhooks};

fn main() -> ExitCode {
    let controllers = controllers::all();
    operator_runtime::manifests::main(&OPTIONS, api::crds(), &controllers, &webhooks::all())
}
