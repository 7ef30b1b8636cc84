//! `completion`: the script that registers the completer; the shell then asks this program for candidates.

use clap_complete::env::Shells;

use crate::{
    cli::Shell,
    error::{Failure, Result},
    report::Report,
};

pub fn run(shell: Shell, report: &Report) -> Result<u8> {
    let name = match shell {
        Shell::Bash => "bash",
        Shell::Elvish => "elvish",
        Shell::Fish => "fish",
        Shell::Powershell => "powershell",
        Shell::Zsh => "zsh",
    };
    let mut script = Vec::new();
    let shells = Shells::builtins();
    let completer = shells
        .completer(name)
        .ok_or_else(|| Failure::usage(format!("no completion for `{name}`")))?;
    completer
        .write_registration(
            "COMPLETE",
            "operator-forge",
            "operator-forge",
            "operator-forge",
            &mut script,
        )
        .map_err(|error| Failure::refused(format!("cannot write the script: {error}")))?;
    report.text(&String::from_utf8_lossy(&script));
    Ok(0)
}
