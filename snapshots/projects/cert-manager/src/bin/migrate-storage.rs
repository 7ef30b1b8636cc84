//! Rewrites every object in the storage version of its CRD, after that version has changed.

use std::process::ExitCode;

use project_cert_manager::api;

fn main() -> ExitCode {
    operator_runtime::migrate::main(api::crds())
}
