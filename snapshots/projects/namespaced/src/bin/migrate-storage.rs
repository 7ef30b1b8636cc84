//! Writes every object again in the version that its CRD stores now, after that has changed.

use std::process::ExitCode;

use tenant_operator::api;

fn main() -> ExitCode {
    operator_runtime::migrate::main(api::crds())
}
