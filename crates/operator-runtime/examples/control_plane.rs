//! etcd and kube-apiserver from `KUBEBUILDER_ASSETS`, until Ctrl-C; with kube-controller-manager, if its
//! binary is there, too.
//!
//! `cargo run --example control_plane --features envtest -- control-plane.kubeconfig`

use std::{env, process::ExitCode};

fn main() -> ExitCode {
    let kubeconfig = env::args_os().nth(1);
    operator_runtime::envtest::main(kubeconfig.unwrap_or("control-plane.kubeconfig".into()))
}
