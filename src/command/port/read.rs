//! The Go project on disk. Nothing is written there.

use std::{
    io,
    path::{Path, PathBuf},
};

use kubebuilder_port::{Error, Files, GoProject, is_place};
use walkdir::DirEntry;

use crate::{
    advice::{Advice, Script},
    command::former_project::{GO, HELM},
    error::{Failure, Result},
    project::LAYOUT,
    tree,
};

/// A Go project, and where it is.
pub struct Go {
    /// The directory, as the command line names it.
    pub directory: PathBuf,
    /// Its `PROJECT`.
    pub project: GoProject,
}

impl Go {
    /// Reads the project file in `directory`, to port it into `root`.
    ///
    /// Errors: the directories are the same; there is no such project.
    pub fn open(directory: PathBuf, root: &Path) -> Result<Self> {
        let directory = GO.directory(directory, root)?;
        let shown = directory.to_string_lossy().into_owned();
        let text = tree::read(&directory.join("PROJECT")).map_err(|error| {
            Failure::refused(format!("cannot read `PROJECT` in `{shown}`: {error}"))
                .note(
                    "`--from-kubebuilder` names the directory of a Go project, which has this file",
                )
                .note("types of CRDs alone: `create api --from-crd`")
                .advise(Advice::drop("--from-kubebuilder"))
        })?;
        let text = String::from_utf8_lossy(&text);
        let is_go = ["go.mod", "main.go"]
            .iter()
            .any(|file| directory.join(file).is_file());
        let project = GoProject::read(&text, is_go, &[LAYOUT]);
        let project = project.map_err(|error| match error {
            Error::Layout(_) if is_helm(&directory) => for_helm(&directory, root),
            error => refusal(&error, &shown),
        })?;
        Ok(Self { directory, project })
    }

    /// The Go code and the manifests.
    pub fn files(&self) -> Result<Files> {
        let is_hidden = |entry: &DirEntry| {
            let name = entry.file_name().to_string_lossy();
            name.starts_with('.') || name == "node_modules"
        };
        let shown = |path: &Path| {
            let path = path.strip_prefix(&self.directory).unwrap_or(path);
            path.to_string_lossy().replace('\\', "/")
        };
        let is_wanted = |entry: &DirEntry| {
            let path = shown(entry.path());
            match path.rsplit('.').next() {
                _ if is_hidden(entry) => false,
                _ if entry.file_type().is_dir() => true,
                Some("go") => true,
                Some("yaml" | "yml" | "json") => is_place(&path),
                _ => path == "go.mod",
            }
        };
        let found = tree::search(&self.directory, &[], is_wanted).map_err(|error| {
            let what = error.path.display();
            let failure = Failure::refused(format!("cannot read `{what}`: {}", error.error))
                .note("the Go project is searched for code and manifests to port");
            let directory = self.directory.to_string_lossy();
            match error.error.kind() {
                io::ErrorKind::PermissionDenied => {
                    failure.advise(Script::anywhere("chmod -R u+rX").path(directory))
                }
                _ => failure
                    .note("types of CRDs alone: `create api --from-crd`")
                    .advise(Advice::drop("--from-kubebuilder")),
            }
        })?;
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).replace("\r\n", "\n");
        let files = found.into_iter();
        Ok(Files::read(
            files.map(|(path, bytes)| (shown(&path), text(bytes))),
        ))
    }
}

/// Whether the directory has a Helm operator of operator-sdk.
fn is_helm(directory: &Path) -> bool {
    let has = |file: &str| directory.join(file).exists();
    has("watches.yaml") && !has("go.mod")
}

fn for_helm(directory: &Path, root: &Path) -> Failure {
    Failure::refused(format!(
        "`{}` has no Go project to port, but a Helm operator",
        directory.display()
    ))
    .note("`watches.yaml` names its charts")
    .advise(HELM.init(root, directory))
}

/// The refusal of a directory that has no Go project.
pub fn refusal(error: &Error, directory: &str) -> Failure {
    let is_ours = *error == Error::Layout(LAYOUT.to_owned());
    let why = match is_ours {
        true => "it is one of operator-forge".to_owned(),
        false => error.to_string(),
    };
    let refused = Failure::refused(format!("`{directory}` has no Go project to port: {why}"));
    match error {
        Error::Yaml { .. } => refused
            .note("kubebuilder would refuse this file, too")
            .advise(Script::anywhere("${EDITOR:-vi}").path(format!("{directory}/PROJECT"))),
        Error::Version(_) => refused
            .note("version 3 is read; kubebuilder replaced version 2 in 2021, and its guide says how to migrate a project")
            .note("without its `PROJECT`, `create api --from-crd` makes the types of its CRDs")
            .advise(Advice::drop("--from-kubebuilder")),
        Error::Layout(_) if is_ours => refused
            .note("`--from-kubebuilder` ports a project in Go")
            .advise(Script::forge("-C").arg(directory).code("status")),
        Error::Layout(_) => refused
            .note("projects of the layout `go.kubebuilder.io` are read")
            .note("for any other operator, `create api --from-crd` makes the types of its CRDs")
            .advise(Advice::drop("--from-kubebuilder")),
    }
}
