//! `completion`: the script that registers the completer; the shell then asks this program for candidates.

use clap_complete::env::Shells;

use crate::{
    cli::Shell,
    error::{Failure, Result},
    report::Report,
};

/// A file in `fpath` is run at the first tab, which it has to answer, too.
const WHEN_LOADED: &[u8] = b"
if [[ $funcstack[1] == _operator-forge ]]; then
    _clap_dynamic_completer_operator_forge
fi
";

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
    if shell == Shell::Zsh {
        script.extend_from_slice(WHEN_LOADED);
    }
    report.text(&String::from_utf8_lossy(&script));
    Ok(0)
}
