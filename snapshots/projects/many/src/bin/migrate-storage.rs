// SPDX-License-Identifier: MIT

//! Rewrites every object in the storage version of its CRD, after that version has changed.

use std::process::ExitCode;

use project_many::api;

fn main() -> ExitCode {
    operator_runtime::migrate::main(api::crds())
}
