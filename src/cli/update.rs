//! The flags of `update`.

use clap::Args;

/// `update`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  operator-forge update --dry-run --diff
  operator-forge update
  operator-forge update --on-conflict keep")]
pub struct Update {
    /// Update although git has changes that are not committed
    #[arg(long)]
    pub allow_dirty: bool,
}
