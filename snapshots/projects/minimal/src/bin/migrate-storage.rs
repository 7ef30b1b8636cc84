// SPDX-License-Identifier: Apache-2.0

//! Writes every object again in the version that its CRD stores now, after that has changed.

use std::process::ExitCode;

use minimal::api;

fn main() -> ExitCode {
    operator_runtime::migrate::main(api::crds())
}
