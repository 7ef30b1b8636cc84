// SPDX-License-Identifier: Apache-2.0

//! Rewrites every object in the storage version of its CRD, after that version has changed.

use std::process::ExitCode;

use caches::api;

fn main() -> ExitCode {
    operator_runtime::migrate::main(api::crds())
}
