//! The flags of `status`.

use clap::Args;

/// `status`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  operator-forge status
  operator-forge status --all
  operator-forge status --output json")]
pub struct Status {
    /// Show every file, not only those that deserve a look
    #[arg(long)]
    pub all: bool,
}
