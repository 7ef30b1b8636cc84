//! The flags of `create api`.

use clap::{ArgAction, Args};
use clap_complete::engine::ArgValueCandidates;

use super::{Foreign, ForeignType, TypeFlags, complete};

/// `create api`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  operator-forge create api --group cache --version v1alpha1 --kind Memcached
  operator-forge create api --group cache --version v1 --kind Memcached --controller=false
  operator-forge create api --group apps --version v1 --kind Deployment --resource=false
  operator-forge create api --group cache --version v1alpha1 --kind Memcached --resource=false --controller-name backup
  operator-forge create api --group cache --version v1 --kind Memcached --from-version v1alpha1")]
pub struct Api {
    /// Which type.
    #[command(flatten)]
    pub of: TypeFlags,
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
    /// Start with a copy of this version's types, and convert between the two
    #[arg(long, value_name = "VERSION", add = ArgValueCandidates::new(complete::versions))]
    pub from_version: Option<String>,
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
