//! The flags of `create webhook`.

use clap::{ArgAction, Args, ValueEnum};
use clap_complete::engine::ArgValueCandidates;

use super::{ExternalFlags, Foreign, TypeFlags, complete};
use crate::project;

/// `create webhook`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  operator-forge create webhook --group cache --version v1alpha1 --kind Memcached --defaulting --validation
  operator-forge create webhook --group cache --version v1 --kind Memcached --conversion --spoke v1alpha1
  operator-forge create webhook --group core --version v1 --kind Pod --defaulting
  operator-forge create webhook --group cert-manager --external-api-domain io --version v1 --kind Certificate \\
    --external-api-path cert_manager_crds::v1::Certificate --validation")]
pub struct Webhook {
    /// Which type; for conversion its hub, the version that is stored.
    #[command(flatten)]
    pub of: TypeFlags,
    /// The plural of another project's kind, if it is irregular
    #[arg(long)]
    pub plural: Option<String>,
    /// Fill in what an object leaves open
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub defaulting: Option<bool>,
    /// Refuse what is wrong with an object
    #[arg(
        long,
        visible_alias = "programmatic-validation",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        value_name = "BOOL"
    )]
    pub validation: Option<bool>,
    /// Serve several versions of a kind
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub conversion: Option<bool>,
    /// A version that is converted to the hub and back; may be given several times
    #[arg(long, value_name = "VERSION", value_delimiter = ',', action = ArgAction::Append, add = ArgValueCandidates::new(complete::versions))]
    pub spoke: Vec<String>,
    /// Where the API server calls the defaulting webhook [default: /mutate-GROUP-VERSION-KIND]
    #[arg(long, value_name = "PATH")]
    pub defaulting_path: Option<String>,
    /// Where the API server calls the validation webhook [default: /validate-GROUP-VERSION-KIND]
    #[arg(long, value_name = "PATH")]
    pub validation_path: Option<String>,
    /// A type of another project.
    #[command(flatten)]
    pub external: ExternalFlags,
    /// Who makes the certificate of all webhooks of the project: the operator itself, cert-manager, or somebody who puts it
    /// into a Secret [default: self-managed]
    #[arg(long, value_enum, value_name = "SOURCE")]
    pub certificates: Option<Certificates>,
    /// Write the webhooks' files again, whatever they hold
    #[arg(long)]
    pub force: bool,
    /// Flags of kubebuilder that mean nothing here.
    #[command(flatten)]
    pub foreign: Foreign,
}

/// `--certificates`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs)]
pub enum Certificates {
    SelfManaged,
    CertManager,
    Mounted,
}

impl From<Certificates> for project::Certificates {
    fn from(flag: Certificates) -> Self {
        match flag {
            Certificates::SelfManaged => Self::SelfManaged,
            Certificates::CertManager => Self::CertManager,
            Certificates::Mounted => Self::Mounted,
        }
    }
}
