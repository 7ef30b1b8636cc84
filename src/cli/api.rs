//! The flags of `create api`.

use clap::{ArgAction, Args};
use clap_complete::engine::ArgValueCandidates;

use super::{ExternalFlags, Foreign, TypeFlags, complete};

/// `create api`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  operator-forge create api --group cache --version v1alpha1 --kind Memcached
  operator-forge create api --group cache --version v1alpha1 --kind Memcached --finalizer
  operator-forge create api --group cache --version v1 --kind Memcached --controller=false
  operator-forge create api --group apps --version v1 --kind Deployment --resource=false
  operator-forge create api --group cache --version v1alpha1 --kind Memcached --resource=false --controller-name backup
  operator-forge create api --group cache --version v1 --kind Memcached --from-version v1alpha1
  operator-forge create api --group cert-manager --external-api-domain io --version v1 --kind Certificate \\
    --external-api-path cert_manager_crds::v1::Certificate --resource=false")]
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
    /// Whether to define the type [default: true; false for one of another project]
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub resource: Option<bool>,
    /// Whether to add a controller [default: true]
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub controller: Option<bool>,
    /// The controller's name, for a second one of the same kind
    #[arg(long, value_name = "NAME")]
    pub controller_name: Option<String>,
    /// Whether its controller cleans up before an object is deleted [default: false]
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub finalizer: Option<bool>,
    /// A short name for kubectl; may be given several times
    #[arg(long, value_name = "NAME", value_delimiter = ',', action = ArgAction::Append)]
    pub short_name: Vec<String>,
    /// A type of another project, which can have a controller.
    #[command(flatten)]
    pub external: ExternalFlags,
    /// Start with a copy of this version's types, and convert between the two
    #[arg(long, value_name = "VERSION", add = ArgValueCandidates::new(complete::versions))]
    pub from_version: Option<String>,
    /// Write the API's files again, whatever they hold
    #[arg(long)]
    pub force: bool,
    /// Flags of kubebuilder that mean nothing here.
    #[command(flatten)]
    pub foreign: Foreign,
}
