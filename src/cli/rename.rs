//! The flags of `rename`.

use clap::Args;
use clap_complete::engine::ArgValueCandidates;

use super::complete;

/// `rename`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  operator-forge rename --group cache --kind Memcached --to Cache --dry-run --diff
  operator-forge rename --group cache --kind Memcached --to Cache")]
pub struct Rename {
    /// The API group, without the domain; may be empty
    #[arg(long, add = ArgValueCandidates::new(complete::groups))]
    pub group: Option<String>,
    /// The kind as it is called now
    #[arg(long, add = ArgValueCandidates::new(complete::kinds))]
    pub kind: Option<String>,
    /// The kind as it is to be called
    #[arg(long, value_name = "KIND")]
    pub to: Option<String>,
    /// Its plural, if it is irregular
    #[arg(long)]
    pub plural: Option<String>,
    /// Rename it although its CRD keeps its name, and stored objects do not outlive another kind
    #[arg(long)]
    pub force: bool,
}
