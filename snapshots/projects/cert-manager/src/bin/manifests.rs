//! Writes what follows from the Rust types into `config/`: CRDs, permissions and webhook
//! configurations.

use std::process::ExitCode;

use project_cert_manager::{OPTIONS, api, controllers, webhooks};

fn main() -> ExitCode {
    let controllers = controllers::all();
    operator_runtime::manifests::main(&OPTIONS, api::crds(), &controllers, &webhooks::all())
}
