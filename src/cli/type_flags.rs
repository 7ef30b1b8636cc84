//! The flags that name a type, the same for every command about one.

use clap::Args;
use clap_complete::engine::ArgValueCandidates;

use super::complete;

/// `--group`, `--version` and `--kind`.
#[derive(Args, Clone, Debug)]
pub struct TypeFlags {
    /// The API group, without the domain; may be empty
    #[arg(long, add = ArgValueCandidates::new(complete::groups))]
    pub group: Option<String>,
    /// The API version: v1alpha1, v1beta1, v1, …
    #[arg(long, add = ArgValueCandidates::new(complete::versions))]
    pub version: Option<String>,
    /// The kind, in CamelCase
    #[arg(long, add = ArgValueCandidates::new(complete::kinds))]
    pub kind: Option<String>,
}
