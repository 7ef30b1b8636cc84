//! The flags of commands about the project and its files.

use std::path::PathBuf;

use clap::{ArgAction, Args, ValueEnum, ValueHint, builder::PossibleValue};
use clap_complete::engine::ArgValueCandidates;

use super::{EditWhat, Foreign, Global, complete};
use crate::project::{Certificates, Crypto, Replicas, Runtime};

/// `init`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  operator-forge init --domain example.com
  operator-forge init memcached-operator --domain example.com --owner \"Example Inc.\" --license mit
  operator-forge init --domain example.com --namespaced --dry-run
  operator-forge init memcached-operator-rs --from-kubebuilder memcached-operator
  operator-forge init memcached-operator-rs --from-operator-sdk memcached-operator")]
pub struct Init {
    /// Directory of the project, created if it is missing [default: the current one]
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub dir: Option<PathBuf>,
    /// Domain of the API groups [default: my.domain]
    #[arg(long)]
    pub domain: Option<String>,
    /// Name of the project, and prefix of its names in the cluster [default: the directory's name]
    #[arg(long, value_name = "NAME")]
    pub project_name: Option<String>,
    /// Port a Go project of kubebuilder: its domain, name, APIs, controllers, webhooks and samples. It is only read
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub from_kubebuilder: Option<PathBuf>,
    /// Take over a Helm or Ansible operator of operator-sdk: its domain, name, kinds, charts or roles, and their options. It is only read
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub from_operator_sdk: Option<PathBuf>,
    /// File or directory with the CRDs of the Go project [default: its config/, deploy/ and charts/*/crds/]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::AnyPath, requires = "from_kubebuilder", action = ArgAction::Append)]
    pub crds: Vec<String>,
    /// Copyright owner in the header of source files
    #[arg(long)]
    pub owner: Option<String>,
    /// License in the header of source files: apache2, mit or none [default: apache2]
    #[arg(long)]
    pub license: Option<String>,
    /// File with the header of source files, instead of --license
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub license_file: Option<PathBuf>,
    /// Watch selected namespaces only, with a Role instead of a ClusterRole
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub namespaced: Option<bool>,
    /// The source of the crate operator-runtime; its help names the default of the build.
    #[arg(long, value_name = "SOURCE", help = format!("{RUNTIME} [default: {}]", match Runtime::of_this_build() {
        Runtime::Registry => "registry",
        _ => "vendored",
    }))]
    pub runtime: Option<String>,
    /// Oldest Kubernetes that the operator works with, 1.33 to 1.37: its types, and the schemas of them in CRDs [default: 1.37]
    #[arg(long, value_name = "VERSION", add = ArgValueCandidates::new(complete::kubernetes))]
    pub kubernetes: Option<String>,
    /// Cryptography of TLS [default: ring]
    #[arg(long, value_enum, value_name = "CRATE")]
    pub crypto: Option<Crypto>,
    /// Replicas that share the objects of sharded controllers; with 1, the leader reconciles them all
    #[arg(long, value_name = "REPLICAS", value_parser = replicas)]
    pub shards: Option<u8>,
    /// Plugins, which add files beside the operator: grafana, helm, olm, release
    #[arg(long, value_name = "NAME", value_delimiter = ',', action = ArgAction::Append)]
    pub plugins: Vec<String>,
    /// Initialize a git repository, unless the directory is in one
    #[arg(long, value_enum, default_value_t)]
    pub vcs: Vcs,
    /// Allow a project inside another project
    #[arg(long)]
    pub nested: bool,
    /// Flags of kubebuilder without a meaning here.
    #[command(flatten)]
    pub foreign: Foreign,
}

const RUNTIME: &str =
    "Where the crate operator-runtime comes from: registry, vendored, path=DIR or git=URL#REV";

impl Init {
    /// The directory that becomes a project.
    pub fn root(&self, flags: &Global) -> PathBuf {
        match &self.dir {
            Some(dir) => flags.directory.join(dir),
            None => flags.directory.clone(),
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

impl ValueEnum for Crypto {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.word()))
    }
}

/// `edit`.
#[derive(Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  operator-forge edit --namespaced
  operator-forge edit --owner 'Example Inc.' --license mit
  operator-forge edit --certificates cert-manager
  operator-forge edit --kubernetes 1.34
  operator-forge edit --crd-description-length 0
  operator-forge edit --plugins helm,grafana
  operator-forge edit --plugins=-helm
  operator-forge edit --runtime git=https://git.example.com/operator-runtime#v0.1.0
  operator-forge edit api --group cache --version v1 --kind Memcached --short-name mc,mem"
)]
pub struct Edit {
    /// One kind instead of the project.
    #[command(subcommand)]
    pub what: Option<EditWhat>,
    /// Whether the operator watches selected namespaces instead of the cluster
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub namespaced: Option<bool>,
    /// Copyright owner in the header of generated files; existing User files do not change; may be empty
    #[arg(long)]
    pub owner: Option<String>,
    /// License in the header of generated files: apache2, mit or none
    #[arg(long)]
    pub license: Option<String>,
    /// File with the header of generated files, instead of --license
    #[arg(long, value_name = "FILE")]
    pub license_file: Option<PathBuf>,
    /// Where the webhook certificate comes from: the operator signs it, cert-manager issues it, or it is mounted from a Secret
    #[arg(long, value_enum, value_name = "SOURCE")]
    pub certificates: Option<Certificates>,
    /// The source of the crate operator-runtime.
    #[arg(long, value_name = "SOURCE", help = RUNTIME)]
    pub runtime: Option<String>,
    /// Oldest Kubernetes that the operator works with, 1.33 to 1.37
    #[arg(long, value_name = "VERSION", add = ArgValueCandidates::new(complete::kubernetes))]
    pub kubernetes: Option<String>,
    /// Cryptography of TLS
    #[arg(long, value_enum, value_name = "CRATE")]
    pub crypto: Option<Crypto>,
    /// Longest description of Kubernetes' types in CRDs, in characters; 0 leaves them out; 80 unless it is set
    #[arg(long, value_name = "LENGTH", value_parser = length)]
    pub crd_description_length: Option<u32>,
    /// Replicas that share the objects of sharded controllers; with 1, the leader reconciles them all
    #[arg(long, value_name = "REPLICAS", value_parser = replicas)]
    pub shards: Option<u8>,
    /// Plugins to add: grafana, helm, olm, release; or to remove: --plugins=-helm
    #[arg(long, value_name = "NAME", value_delimiter = ',', action = ArgAction::Append)]
    pub plugins: Vec<String>,
    /// Cannot change.
    #[arg(long, hide = true)]
    pub domain: Option<String>,
    /// Cannot change.
    #[arg(long, hide = true)]
    pub project_name: Option<String>,
    /// Flags of kubebuilder without a meaning here.
    #[command(flatten)]
    pub foreign: Foreign,
}

/// `check`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  operator-forge check
  operator-forge check --crds v1.2.0
  operator-forge check --crds v1.2.0 --allow field-removed
  kubectl get crds -o yaml | operator-forge check --crds -")]
pub struct Check {
    /// Compare config/crd/bases with a release instead: a git revision, a file or directory of CRDs, or - for standard input
    #[arg(long, value_name = "RELEASED", value_hint = ValueHint::AnyPath)]
    pub crds: Option<String>,
    /// Allow CRD changes that break this rule (RULE), or break it in one place (RULE:WHERE, as reported); may be repeated
    #[arg(long, value_name = "RULE", action = ArgAction::Append, add = ArgValueCandidates::new(complete::rules))]
    pub allow: Vec<String>,
}

/// `status`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  operator-forge status
  operator-forge status --all
  operator-forge status --output json")]
pub struct Status {
    /// Show all files, not only those that need attention
    #[arg(long)]
    pub all: bool,
}

/// `diff`.
#[derive(Args, Debug)]
#[command(after_help = "\
Lines with `-` are generated, lines with `+` are yours.

Examples:
  operator-forge diff
  operator-forge diff src/api.rs config
  operator-forge diff Makefile | git apply -R")]
pub struct Diff {
    /// Generated files or directories, relative to the project [default: all but User files]
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub paths: Vec<String>,
}

/// `update`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  operator-forge update --dry-run --diff
  operator-forge update
  operator-forge update --on-conflict keep")]
pub struct Update {
    /// Update even if git has uncommitted changes
    #[arg(long)]
    pub allow_dirty: bool,
}

/// The paths that `own`, `disown` and `restore` take.
#[derive(Args, Debug)]
pub struct Files {
    /// Generated files, relative to the project
    #[arg(value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub paths: Vec<String>,
}

fn replicas(text: &str) -> Result<u8, String> {
    let number = text.parse().ok();
    number
        .filter(|number| (1..=Replicas::MOST).contains(number))
        .ok_or_else(|| {
            format!(
                "it is not a number of replicas from 1 to {}; `kubectl scale` can change it later",
                Replicas::MOST
            )
        })
}

fn length(text: &str) -> Result<u32, &'static str> {
    text.parse()
        .map_err(|_| "it is not a number of characters, such as 80")
}
