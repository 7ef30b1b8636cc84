//! The flags of `delete`: those of `create` that say what, and none that say how.

use clap::{ArgAction, Args, Subcommand};
use clap_complete::engine::ArgValueCandidates;

use super::{TypeFlags, complete};

/// What `delete` takes away.
#[derive(Debug, Subcommand)]
pub enum Delete {
    /// Delete an API, a controller, or both
    Api(DeleteApi),
    /// Delete defaulting, validation or conversion of a kind
    Webhook(DeleteWebhook),
}

/// `delete api`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  operator-forge delete api --group cache --version v1alpha1 --kind Memcached --dry-run
  operator-forge delete api --group cache --version v1alpha1 --kind Memcached --resource=false
  operator-forge delete api --group cache --version v1alpha1 --kind Memcached --resource=false --controller-name backup
  operator-forge delete api --group apps --version v1 --kind Deployment")]
pub struct DeleteApi {
    /// Which type.
    #[command(flatten)]
    pub of: TypeFlags,
    /// Whether to delete the type [default: if the project defines it]
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub resource: Option<bool>,
    /// Whether to delete its default controller [default: if it watches this version]
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub controller: Option<bool>,
    /// Delete this controller instead of the default one
    #[arg(long, value_name = "NAME", add = ArgValueCandidates::new(complete::controllers))]
    pub controller_name: Option<String>,
    /// Keep the files that are yours: the project only forgets them
    #[arg(long)]
    pub keep_files: bool,
}

/// `delete webhook`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  operator-forge delete webhook --group cache --version v1alpha1 --kind Memcached --defaulting --validation
  operator-forge delete webhook --group cache --version v1 --kind Memcached --conversion --spoke v1alpha1")]
pub struct DeleteWebhook {
    /// Which type; for conversion its hub.
    #[command(flatten)]
    pub of: TypeFlags,
    /// No longer fill in what an object leaves open
    #[arg(long)]
    pub defaulting: bool,
    /// No longer refuse what is wrong with an object
    #[arg(long, visible_alias = "programmatic-validation")]
    pub validation: bool,
    /// No longer convert other versions
    #[arg(long)]
    pub conversion: bool,
    /// A version that is no longer converted; may be given several times
    #[arg(long, value_name = "VERSION", value_delimiter = ',', action = ArgAction::Append, add = ArgValueCandidates::new(complete::versions))]
    pub spoke: Vec<String>,
    /// Keep the files that are yours: the project only forgets them
    #[arg(long)]
    pub keep_files: bool,
}
