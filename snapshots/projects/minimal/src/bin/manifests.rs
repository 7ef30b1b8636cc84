// SPDX-License-Identifier: Apache-2.0

//! Writes what follows from the Rust types into `config/`: CRDs, permissions and webhook
//! configurations.

use std::process::ExitCode;

use operator::{SETTINGS, api, controllers, webhooks};

fn main() -> ExitCode {
    let rules = controllers::all().rules();
    manager::manifests::main(&SETTINGS, api::crds(), &rules, &webhooks::all())
}
