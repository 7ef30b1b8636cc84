//! The flags of `check`.

use clap::{ArgAction, Args};
use clap_complete::engine::ArgValueCandidates;

use super::complete;

/// `check`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  operator-forge check
  operator-forge check --crds v1.2.0
  operator-forge check --crds v1.2.0 --allow field-removed
  kubectl get crds -o yaml | operator-forge check --crds -")]
pub struct Check {
    /// Compare config/crd/bases with a released version instead: a file or directory of CRDs, a git
    /// revision, or - for standard input
    #[arg(long, value_name = "RELEASED", value_hint = clap::ValueHint::AnyPath)]
    pub crds: Option<String>,
    /// With --crds: a rule that may be broken on purpose, or RULE:WHERE as it is reported; may be given several times
    #[arg(long, value_name = "RULE", action = ArgAction::Append, add = ArgValueCandidates::new(complete::rules))]
    pub allow: Vec<String>,
}
