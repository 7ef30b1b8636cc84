//! Finds the binaries of a control plane.

use std::{env, path::PathBuf};

use anyhow::{Context, Result, bail};

use super::Options;

/// The absolute path of the directory with all required binaries.
pub(super) fn find(options: &Options) -> Result<PathBuf> {
    let assets = env::var_os("KUBEBUILDER_ASSETS").filter(|value| !value.is_empty());
    let directory = match options.binaries.clone().or(assets.map(PathBuf::from)) {
        Some(directory) => std::path::absolute(directory)?,
        None => env::current_dir()?
            .ancestors()
            .map(|ancestor| ancestor.join("bin/k8s"))
            .find(|directory| directory.is_dir())
            .context("no control plane to test with; run `make envtest`")?,
    };
    let manager = options
        .controller_manager
        .then_some("kube-controller-manager");
    for name in ["etcd", "kube-apiserver", "kubectl"]
        .into_iter()
        .chain(manager)
    {
        if !directory.join(name).is_file() {
            let directory = directory.display();
            bail!("`{directory}` holds no `{name}`; run `make envtest` or set KUBEBUILDER_ASSETS");
        }
    }
    Ok(directory)
}
