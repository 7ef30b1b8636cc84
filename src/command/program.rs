//! `version`, `completion` and `man-pages`: commands about the program itself. They touch no project.

use std::{fs, path::Path};

use anyhow::Context as _;
use clap::CommandFactory;
use clap_complete::{Shell, env::Shells};
use serde_json::json;

use crate::{
    advice::Script,
    cli::{Cli, Global},
    error::{Failure, Result},
    report::Report,
    template,
};

/// Prints the version of the program, of its templates and of kube.
pub fn version(report: &Report) -> Result<u8> {
    let (version, set, kube) = (env!("CARGO_PKG_VERSION"), template::SET, template::KUBE);
    if report.is_json() {
        report.json(json!({
            "command": "version",
            "version": version,
            "templateSet": set,
            "kube": kube,
        }));
    } else {
        report.text(&format!(
            "operator-forge {version}\ntemplate set {set}, kube {kube}\n"
        ));
    }
    Ok(0)
}

/// zsh runs a file in `fpath` at the first tab, so the file has to complete that one as well.
const WHEN_LOADED: &[u8] = b"
if [[ $funcstack[1] == _operator-forge ]]; then
    _clap_dynamic_completer_operator_forge
fi
";

/// Prints the script that registers this program as its own completer.
pub fn completion(shell: Shell, report: &Report) -> Result<u8> {
    let name = shell.to_string();
    let mut script = Vec::new();
    let shells = Shells::builtins();
    let completer = shells
        .completer(&name)
        .ok_or_else(|| Failure::usage(format!("no completion for `{name}`")))?;
    let program = "operator-forge";
    completer
        .write_registration("COMPLETE", program, program, program, &mut script)
        .context("cannot write the script")?;
    if shell == Shell::Zsh {
        script.extend_from_slice(WHEN_LOADED);
    }
    report.text(&String::from_utf8_lossy(&script));
    Ok(0)
}

/// Writes one man page a command.
pub fn man_pages(flags: &Global, dir: &Path) -> Result<u8> {
    if flags.dry_run {
        return Ok(0);
    }
    let target = flags.directory.join(dir);
    let written = fs::create_dir_all(&target)
        .and_then(|()| clap_mangen::generate_to(Cli::command(), &target));
    written.map_err(|error| {
        Failure::refused(format!(
            "cannot write man pages into `{}`: {error}",
            dir.display()
        ))
        .advise(Script::forge("man-pages man/man1"))
    })?;
    Ok(0)
}
