//! Rewrites every object in the storage version of its CRD, after that version has changed.

use std::process::ExitCode;

use etcd_operator::api;

fn main() -> ExitCode {
    operator_runtime::migrate::main(api::crds())
}
