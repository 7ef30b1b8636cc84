// SPDX-License-Identifier: Apache-2.0

//! Writes what follows from the Rust types into `config/`: CRDs, permissions and webhook
//! configurations.

use std::process::ExitCode;

use core_operator::{OPTIONS, api, controllers, webhooks};

fn main() -> ExitCode {
    let controllers = controllers::all();
    operator_runtime::manifests::main(&OPTIONS, api::crds(), &controllers, &webhooks::all())
}
