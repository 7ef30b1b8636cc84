// SPDX-License-Identifier: MIT

//! Writes what follows from the Rust types into `config/`: CRDs and permissions.

use std::process::ExitCode;

use operator::{SETTINGS, api, controllers};

fn main() -> ExitCode {
    manager::manifests::main(&SETTINGS, api::crds(), &controllers::all().rules())
}
