//! A control plane for manual tests of an operator.

use std::{
    fs::{self, File},
    io::Write,
    os::unix::fs::OpenOptionsExt,
    path::Path,
    process::ExitCode,
};

use anyhow::{Context as _, Result};
use tokio::{
    runtime::Builder,
    select,
    signal::unix::{SignalKind, signal},
};

use super::control_plane::{ControlPlane, Options};

/// The `main` of a project's `control-plane` example: runs etcd, kube-apiserver and, if its binary is
/// beside theirs, kube-controller-manager, until SIGINT or SIGTERM. Their data is deleted at the end. While
/// they run, the administrator's kubeconfig is at the path `kubeconfig`.
///
/// No Pod runs, because there is no kubelet.
pub fn main(kubeconfig: impl AsRef<Path>) -> ExitCode {
    match serve(kubeconfig.as_ref()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn serve(kubeconfig: &Path) -> Result<()> {
    let kubeconfig = std::path::absolute(kubeconfig)?;
    let mut options = Options::default();
    options.controller_manager = options.finds_controller_manager()?;
    let control_plane = ControlPlane::start_with(&options)?;
    let runtime = Builder::new_current_thread().enable_io().build()?;
    runtime.block_on(async {
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        write(&kubeconfig, &fs::read(control_plane.kubeconfig())?)
            .with_context(|| format!("cannot write `{}`", kubeconfig.display()))?;
        if !options.controller_manager {
            println!("kube-controller-manager is not installed: no garbage collection, and Deployments get no Pods.");
        }
        println!("{} runs until Ctrl-C. In another terminal:", control_plane.url());
        println!("  export KUBECONFIG={}", kubeconfig.display());
        select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        // The file may already be gone.
        _ = fs::remove_file(&kubeconfig);
        Ok(())
    })
}

/// Writes a file that only this user may read.
fn write(path: &Path, text: &[u8]) -> Result<()> {
    fs::create_dir_all(path.parent().context("it names no file")?)?;
    let mut options = File::options();
    options.write(true).create(true).truncate(true).mode(0o600);
    Ok(options.open(path)?.write_all(text)?)
}
