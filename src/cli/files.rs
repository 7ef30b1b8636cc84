//! The paths that `own`, `disown` and `restore` take.

use clap::{Args, ValueHint};

/// Generated files.
#[derive(Args, Debug)]
pub struct Files {
    /// Paths of generated files, relative to the project
    #[arg(value_name = "PATH", required = true, value_hint = ValueHint::FilePath)]
    pub paths: Vec<String>,
}
