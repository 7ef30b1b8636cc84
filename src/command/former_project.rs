//! The project of another tool that `init` reads, and never writes to.

use std::path::{Path, PathBuf};

use crate::{
    advice::{Advice, Script},
    error::{Failure, Result},
    tree::{self, RelPath, Tree},
};

/// A kind of project that `init` reads.
pub struct FormerProject {
    /// The flag that names its directory.
    pub flag: &'static str,
    /// What it is called.
    pub what: &'static str,
}

/// A Go project of kubebuilder.
pub const GO: FormerProject = FormerProject {
    flag: "--from-kubebuilder",
    what: "Go project",
};

/// A Helm operator or an Ansible operator of operator-sdk.
pub const HELM: FormerProject = FormerProject {
    flag: "--from-operator-sdk",
    what: "operator",
};

impl FormerProject {
    /// The directory as messages show it.
    ///
    /// Errors: it is `root`, where the new project will be; there is none.
    pub fn directory(&self, directory: PathBuf, root: &Path) -> Result<PathBuf> {
        let directory = directory.strip_prefix(".").unwrap_or(&directory).to_owned();
        let directory = match directory.as_os_str().is_empty() {
            true => PathBuf::from("."),
            false => directory,
        };
        if tree::full(&directory) == tree::full(root) {
            return Err(self.overlap(&directory));
        }
        if !directory.is_dir() {
            let shown = directory.to_string_lossy();
            return Err(Failure::refused(format!("no directory `{shown}`"))
                .note(format!(
                    "`{}` names the directory of the {}",
                    self.flag, self.what
                ))
                .advise(Advice::Help));
        }
        Ok(directory)
    }

    /// Refuses a project of which one of the files would be written into `directory`.
    pub fn refuse_overlap(&self, directory: &Path, root: &Path, desired: &Tree) -> Result<()> {
        let (root, former) = (tree::full(root), tree::full(directory));
        let is_inside = |path: &&RelPath| root.join(path.as_str()).starts_with(&former);
        match desired.keys().find(is_inside) {
            None => Ok(()),
            Some(_) => Err(self.overlap(directory)),
        }
    }

    /// The refusal of a project that would be written to.
    fn overlap(&self, directory: &Path) -> Failure {
        let full = tree::full(directory);
        let name = full.file_name().unwrap_or_default().to_string_lossy();
        let name = format!("{name}-rs");
        let beside = match directory.file_name() {
            Some(_) => directory.with_file_name(name),
            None => directory.join("..").join(name),
        };
        let what = self.what;
        Failure::refused(format!(
            "the project would be written into the {what} `{}`",
            directory.display()
        ))
        .note(format!(
            "the {what} stays as it is, and the new one gets a directory of its own"
        ))
        .advise(self.init(&beside, directory))
    }

    /// The `init` in `root` that reads `directory`.
    pub fn init(&self, root: &Path, directory: &Path) -> Script {
        let root = root.strip_prefix(".").unwrap_or(root);
        Script::anywhere("operator-forge init")
            .path(root.to_string_lossy())
            .code(self.flag)
            .path(directory.to_string_lossy())
    }
}
