//! The paths that `diff`, `own`, `disown` and `restore` take.

use clap::{Args, ValueHint};

/// Generated files.
#[derive(Args, Debug)]
pub struct Files {
    /// Paths of generated files, relative to the project
    #[arg(value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub paths: Vec<String>,
}

/// `diff`.
#[derive(Args, Debug)]
#[command(after_help = "\
Lines with `-` are generated, those with `+` are yours.

Examples:
  operator-forge diff
  operator-forge diff src/api.rs config
  operator-forge diff Makefile | git apply -R")]
pub struct Diff {
    /// Generated files or directories, relative to the project; without one, every file that is not yours alone
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub paths: Vec<String>,
}
