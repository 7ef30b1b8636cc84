//! The flags of `edit`.

use std::path::PathBuf;

use clap::{ArgAction, Args, Subcommand};

use super::{Certificates, Foreign, TypeFlags};

/// `edit`.
#[derive(Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  operator-forge edit --namespaced
  operator-forge edit --owner 'Example Inc.' --license mit
  operator-forge edit --certificates cert-manager
  operator-forge edit --runtime git=https://git.example.com/operator-runtime#v0.1.0
  operator-forge edit api --group cache --version v1 --kind Memcached --short-name mc,mem"
)]
pub struct Edit {
    /// One kind instead of the project.
    #[command(subcommand)]
    pub what: Option<EditWhat>,
    /// Whether the operator watches namespaces that it is told, instead of the cluster
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub namespaced: Option<bool>,
    /// The copyright holder in files that are generated, not in those of yours that exist; may be empty
    #[arg(long)]
    pub owner: Option<String>,
    /// The license in the same files: apache2, mit or none
    #[arg(long)]
    pub license: Option<String>,
    /// A file with the comment that begins each of them instead
    #[arg(long, value_name = "FILE")]
    pub license_file: Option<PathBuf>,
    /// Who makes the certificate of all webhooks: the operator itself, cert-manager, or somebody who puts it into a Secret
    #[arg(long, value_enum, value_name = "SOURCE")]
    pub certificates: Option<Certificates>,
    /// Where the crate operator-runtime comes from: registry, vendored, path=DIR or git=URL#REV
    #[arg(long, value_name = "WHERE")]
    pub runtime: Option<String>,
    /// Cannot change.
    #[arg(long, hide = true)]
    pub domain: Option<String>,
    /// Cannot change.
    #[arg(long, hide = true)]
    pub project_name: Option<String>,
    /// Flags of kubebuilder that mean nothing here.
    #[command(flatten)]
    pub foreign: Foreign,
}

/// What else `edit` edits.
#[derive(Debug, Subcommand)]
pub enum EditWhat {
    /// Change the plural, the scope or the short names of a kind, also in its Rust types
    Api(EditApi),
}

/// `edit api`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  operator-forge edit api --group cache --version v1 --kind Memcached --short-name mc,mem
  operator-forge edit api --group cache --version v1 --kind Memcached --short-name ''
  operator-forge edit api --group cache --version v1 --kind Memcached --namespaced=false --force")]
pub struct EditApi {
    /// Which type; all versions of the kind change together.
    #[command(flatten)]
    pub of: TypeFlags,
    /// The kind's plural
    #[arg(long)]
    pub plural: Option<String>,
    /// Whether objects live in namespaces
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub namespaced: Option<bool>,
    /// All short names for kubectl; '' for none
    #[arg(long, value_name = "NAME", value_delimiter = ',', action = ArgAction::Append)]
    pub short_name: Option<Vec<String>>,
    /// Change the plural or the scope although stored objects do not outlive it
    #[arg(long)]
    pub force: bool,
    /// Cannot change.
    #[arg(long, hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub finalizer: Option<bool>,
}
