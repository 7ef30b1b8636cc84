//! The flags that every command has.

use std::path::PathBuf;

use clap::{Args, ValueEnum, builder::PossibleValue};

use super::correction::Line;
use crate::change::Policy;

/// Flags of every command.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Global flags")]
pub struct Global {
    /// Run as if started in this directory
    #[arg(
        short = 'C',
        long,
        global = true,
        value_name = "DIR",
        default_value = ".",
        hide_default_value = true
    )]
    pub directory: PathBuf,
    /// Show what would change, and write nothing
    #[arg(long, global = true)]
    pub dry_run: bool,
    /// Print the changes as unified diffs on standard output
    #[arg(long, global = true)]
    pub diff: bool,
    /// The output format
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "FORMAT",
        default_value_t,
        hide_default_value = true
    )]
    pub output: Output,
    /// Print only errors and warnings
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Do not prompt; a missing value is an error
    #[arg(long, global = true)]
    pub no_input: bool,
    /// When to use colors
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "WHEN",
        default_value_t,
        hide_default_value = true
    )]
    pub color: Color,
    /// How to resolve conflicts
    #[arg(long, global = true, value_enum, value_name = "POLICY")]
    pub on_conflict: Option<Policy>,
}

impl Global {
    /// The flags of a command line that does not parse, as far as the report of that needs them.
    pub fn of_words(words: &[String]) -> Self {
        let line = Line::of(words);
        Self {
            directory: line.value("--directory").unwrap_or_default().into(),
            output: match line.value("--output") {
                Some("json") => Output::Json,
                _ => Output::Text,
            },
            ..Self::default()
        }
    }

    /// The policy for conflicts, where nobody is asked.
    pub fn policy(&self) -> Policy {
        self.on_conflict.unwrap_or_default()
    }
}

/// `--output`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// Text for people
    #[default]
    Text,
    /// One JSON object on standard output
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

impl ValueEnum for Policy {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Abort, Self::Keep, Self::Take, Self::Markers]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (word, help) = match self {
            Self::Abort => ("abort", "Write nothing"),
            Self::Keep => ("keep", "Keep the files on disk"),
            Self::Take => ("take", "Replace them with the generated files"),
            Self::Markers => ("markers", "Write both sides, with conflict markers"),
        };
        Some(PossibleValue::new(word).help(help))
    }
}
