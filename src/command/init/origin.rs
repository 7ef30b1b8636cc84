//! The project of another tool that `init` starts from.

use std::path::{Path, PathBuf};

use crate::{
    advice::Advice,
    cli::{Global, Init},
    command::{
        former_project::{GO, HELM},
        port::{Go, port},
        takeover::{Sdk, take_over},
    },
    engine::Request,
    error::{Failure, Result},
    project::Project,
    tree::Tree,
};

/// A project of another tool.
pub enum Origin {
    /// A Go project of kubebuilder.
    Go(Go),
    /// A Helm operator of operator-sdk.
    Sdk(Sdk),
}

impl Origin {
    /// The project that the command line names, if it names one.
    pub fn open(flags: &Global, init: &Init, root: &Path) -> Result<Option<Self>> {
        let at = |directory: &PathBuf| flags.directory.join(directory);
        Ok(match (&init.from_kubebuilder, &init.from_operator_sdk) {
            (Some(_), Some(_)) => {
                return Err(
                    Failure::usage(format!("`{}` beside `{}`", HELM.flag, GO.flag))
                        .note("a project starts from one other project")
                        .advise(Advice::drop(GO.flag)),
                );
            }
            (Some(directory), None) => Some(Self::Go(Go::open(at(directory), root)?)),
            (None, Some(directory)) => Some(Self::Sdk(Sdk::open(at(directory), root)?)),
            (None, None) => None,
        })
    }

    /// The request for the new project.
    pub fn request(
        &self,
        flags: &Global,
        init: &Init,
        root: &Path,
        empty: Project,
    ) -> Result<Request> {
        match self {
            Self::Go(go) => port(go, &init.crds, &flags.directory, root, empty),
            Self::Sdk(sdk) => take_over(sdk, root, empty),
        }
    }

    /// Refuses a project of which one of the files would be written into this one.
    pub fn refuse_overlap(&self, root: &Path, desired: &Tree) -> Result<()> {
        let of = match self {
            Self::Go(_) => GO,
            Self::Sdk(_) => HELM,
        };
        of.refuse_overlap(self.directory(), root, desired)
    }

    /// Where it is.
    pub fn directory(&self) -> &Path {
        match self {
            Self::Go(go) => &go.directory,
            Self::Sdk(sdk) => &sdk.directory,
        }
    }

    /// Its domain; may be empty.
    pub fn domain(&self) -> Result<String> {
        match self {
            Self::Go(go) => Ok(go.project.domain.clone().unwrap_or_default()),
            Self::Sdk(sdk) => sdk.domain(),
        }
    }

    /// Its name.
    pub fn project_name(&self) -> Option<&String> {
        match self {
            Self::Go(go) => go.project.project_name.as_ref(),
            Self::Sdk(sdk) => sdk.project.project_name.as_ref(),
        }
    }

    /// Whether it watches selected namespaces.
    pub fn namespaced(&self) -> bool {
        match self {
            Self::Go(go) => go.project.namespaced,
            Self::Sdk(sdk) => sdk.project.namespaced,
        }
    }
}
