//! The flags of `init`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{Foreign, Global};
use crate::project::Runtime;

/// `init`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  operator-forge init --domain example.com
  operator-forge init memcached-operator --domain example.com --owner \"Example Inc.\" --license mit
  operator-forge init --domain example.com --namespaced --dry-run")]
pub struct Init {
    /// The project's directory, made if it is not there [default: the current one]
    #[arg(value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub dir: Option<PathBuf>,
    /// The suffix of every API group [default: my.domain]
    #[arg(long)]
    pub domain: Option<String>,
    /// The project's name, which begins every name in the cluster [default: the directory's]
    #[arg(long, value_name = "NAME")]
    pub project_name: Option<String>,
    /// The copyright owner, for the header of source files
    #[arg(long)]
    pub owner: Option<String>,
    /// The license: apache2, mit or none [default: apache2]
    #[arg(long)]
    pub license: Option<String>,
    /// A file with the header of source files, instead of --license
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub license_file: Option<PathBuf>,
    /// Watch only some namespaces, with a Role instead of a ClusterRole
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub namespaced: Option<bool>,
    /// Where the crate operator-runtime comes from; its help names the default of the build.
    #[arg(long, value_name = "WHERE", help = help_of_runtime())]
    pub runtime: Option<String>,
    /// Make a git repository, unless there is one around the directory
    #[arg(long, value_enum, default_value_t)]
    pub vcs: Vcs,
    /// Make the project in a directory of another one
    #[arg(long)]
    pub nested: bool,
    /// Flags of kubebuilder that mean nothing here.
    #[command(flatten)]
    pub foreign: Foreign,
}

impl Init {
    /// The directory that becomes a project.
    pub fn root(&self, flags: &Global) -> PathBuf {
        match &self.dir {
            Some(dir) => flags.directory.join(dir),
            None => flags.directory.clone(),
        }
    }
}

/// The help of `--runtime`, which names the default of this build.
fn help_of_runtime() -> &'static str {
    match Runtime::of_this_build() {
        Runtime::Registry => {
            "Where the crate operator-runtime comes from: registry, vendored, path=DIR or git=URL#REV [default: registry]"
        }
        _ => {
            "Where the crate operator-runtime comes from: registry, vendored, path=DIR or git=URL#REV [default: vendored]"
        }
    }
}

/// `--vcs`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs)]
pub enum Vcs {
    #[default]
    Git,
    None,
}
