//! `make control-plane`: runs an API server on this machine, without Pods, until Ctrl-C.

fn main() -> std::process::ExitCode {
    operator_runtime::envtest::main("bin/control-plane.kubeconfig")
}
