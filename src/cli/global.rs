//! The flags that every command has.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::change::Policy;

/// Flags of every command.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Flags of every command")]
pub struct Global {
    /// Work as if started in this directory
    #[arg(
        short = 'C',
        long,
        global = true,
        value_name = "DIR",
        default_value = ".",
        hide_default_value = true
    )]
    pub directory: PathBuf,
    /// Show what would change, and change nothing
    #[arg(long, global = true)]
    pub dry_run: bool,
    /// Show the changes as unified diffs, on standard output
    #[arg(long, global = true)]
    pub diff: bool,
    /// What to print: words on standard error, or JSON on standard output
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "FORMAT",
        default_value_t,
        hide_default_value = true
    )]
    pub output: Output,
    /// Print errors and what needs attention, nothing else
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Never ask; a missing value is an error
    #[arg(long, global = true)]
    pub no_input: bool,
    /// When to use colours (NO_COLOR is respected)
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "WHEN",
        default_value_t,
        hide_default_value = true
    )]
    pub color: Color,
    /// What to do with a file that is in the way
    #[arg(long, global = true, value_enum, value_name = "POLICY")]
    pub on_conflict: Option<OnConflict>,
}

impl Global {
    /// What to do with a file that is in the way, where nobody is asked.
    pub fn policy(&self) -> Policy {
        self.on_conflict.map_or(Policy::Abort, Policy::from)
    }
}

/// `--output`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// For people
    #[default]
    Text,
    /// For programs
    Json,
}

/// `--color`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// `--on-conflict`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OnConflict {
    /// Write nothing
    Abort,
    /// Leave it as it is
    Keep,
    /// Replace it
    Take,
    /// Write both sides into it, with conflict markers
    Markers,
}

impl From<OnConflict> for Policy {
    fn from(flag: OnConflict) -> Self {
        match flag {
            OnConflict::Abort => Self::Abort,
            OnConflict::Keep => Self::Keep,
            OnConflict::Take => Self::Take,
            OnConflict::Markers => Self::Markers,
        }
    }
}
