//! The shape of the command line. kubebuilder's flags keep their names and meanings.
//!
//! Invariant: nothing here checks a name or knows a project; a flag's text goes to its command as it was typed.

mod complete;
mod foreign;
mod refusal;
mod webhook;

use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use clap_complete::engine::ArgValueCandidates;

pub use self::{
    foreign::{Foreign, ForeignModule, ForeignType},
    refusal::refusal,
    webhook::{Certificates, Webhook},
};
use crate::change::Policy;

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "operator-forge",
    version,
    about = "Scaffolds Kubernetes operators in Rust on kube-rs, and keeps them current",
    after_help = "\
Examples:
  operator-forge init --domain example.com
  operator-forge create api --group cache --version v1alpha1 --kind Memcached
  operator-forge create api --group apps --version v1 --kind Deployment --resource=false --dry-run",
    subcommand_required = true,
    arg_required_else_help = true,
    disable_help_subcommand = false
)]
pub struct Cli {
    /// Flags of every command.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Flags of every command.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Flags of every command")]
pub struct Global {
    /// Work in this directory
    #[arg(
        short = 'C',
        long,
        global = true,
        value_name = "DIR",
        default_value = ".",
        hide_default_value = true
    )]
    pub directory: PathBuf,
    /// Show what would change, and change nothing
    #[arg(long, global = true)]
    pub dry_run: bool,
    /// Show the changes as unified diffs, on standard output
    #[arg(long, global = true)]
    pub diff: bool,
    /// What to print: words on standard error, or JSON on standard output
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "FORMAT",
        default_value_t,
        hide_default_value = true
    )]
    pub output: Output,
    /// Print errors and what needs attention, nothing else
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Never ask; a missing value is an error
    #[arg(long, global = true)]
    pub no_input: bool,
    /// When to use colours (NO_COLOR is respected)
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "WHEN",
        default_value_t,
        hide_default_value = true
    )]
    pub color: Color,
    /// What to do with a file that is in the way
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "POLICY",
        default_value_t,
        hide_default_value = true
    )]
    pub on_conflict: OnConflict,
}

/// `--output`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// For people
    #[default]
    Text,
    /// For programs
    Json,
}

/// `--color`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// `--on-conflict`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum OnConflict {
    /// Write nothing
    #[default]
    Abort,
    /// Leave it as it is
    Keep,
    /// Replace it
    Take,
}

impl From<OnConflict> for Policy {
    fn from(flag: OnConflict) -> Self {
        match flag {
            OnConflict::Abort => Self::Abort,
            OnConflict::Keep => Self::Keep,
            OnConflict::Take => Self::Take,
        }
    }
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Make a new project
    Init(Init),
    /// Add an API, a controller or a webhook to the project
    #[command(subcommand, visible_alias = "new")]
    Create(Create),
    /// Make the files what PROJECT says, after it was edited or merged
    #[command(after_help = "\
Examples:
  operator-forge sync
  operator-forge sync --dry-run --diff")]
    Sync,
    /// Print the version of operator-forge and of what it generates
    #[command(after_help = "\
Examples:
  operator-forge version
  operator-forge version --output json")]
    Version,
    /// Print a script that completes commands, flags, and the project's groups and kinds
    #[command(after_help = "\
Examples:
  source <(operator-forge completion bash)
  operator-forge completion zsh > ~/.zfunc/_operator-forge
  operator-forge completion fish > ~/.config/fish/completions/operator-forge.fish")]
    Completion {
        /// The shell
        #[arg(value_enum)]
        shell: Shell,
    },
}

/// What `create` makes.
#[derive(Debug, Subcommand)]
pub enum Create {
    /// Add a custom resource, a controller, or both
    Api(Api),
    /// Add defaulting, validation or conversion of a kind
    Webhook(Webhook),
}

/// The shells that `completion` knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs)]
pub enum Shell {
    Bash,
    Elvish,
    Fish,
    Powershell,
    Zsh,
}

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
    /// Make a git repository, unless there is one around the directory
    #[arg(long, value_enum, default_value_t)]
    pub vcs: Vcs,
    /// Flags of kubebuilder that mean nothing here.
    #[command(flatten)]
    pub foreign: Foreign,
    /// Those that name a type of another project.
    #[command(flatten)]
    pub foreign_type: ForeignType,
}

/// `--vcs`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Vcs {
    /// A git repository
    #[default]
    Git,
    /// None
    None,
}

/// `create api`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  operator-forge create api --group cache --version v1alpha1 --kind Memcached
  operator-forge create api --group cache --version v1 --kind Memcached --controller=false
  operator-forge create api --group apps --version v1 --kind Deployment --resource=false
  operator-forge create api --group cache --version v1alpha1 --kind Memcached --resource=false --controller-name backup")]
pub struct Api {
    /// The API group, without the domain; may be empty
    #[arg(long, add = ArgValueCandidates::new(complete::groups))]
    pub group: Option<String>,
    /// The API version: v1alpha1, v1beta1, v1, …
    #[arg(long, add = ArgValueCandidates::new(complete::versions))]
    pub version: Option<String>,
    /// The kind, in CamelCase
    #[arg(long, add = ArgValueCandidates::new(complete::kinds))]
    pub kind: Option<String>,
    /// The kind's plural, if it is irregular
    #[arg(long)]
    pub plural: Option<String>,
    /// Whether objects live in namespaces [default: true]
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub namespaced: Option<bool>,
    /// Whether to define the type [default: true]
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub resource: Option<bool>,
    /// Whether to add a controller [default: true]
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub controller: Option<bool>,
    /// The controller's name, for a second one of the same kind
    #[arg(long, value_name = "NAME")]
    pub controller_name: Option<String>,
    /// A short name for kubectl; may be given several times
    #[arg(long, value_name = "NAME", value_delimiter = ',', action = ArgAction::Append)]
    pub short_name: Vec<String>,
    /// Write the API's files again, whatever they hold
    #[arg(long)]
    pub force: bool,
    /// Flags of kubebuilder that mean nothing here.
    #[command(flatten)]
    pub foreign: Foreign,
    /// Those that name a type of another project.
    #[command(flatten)]
    pub foreign_type: ForeignType,
}
