//! `make recording`: runs the commands of `docs/recording/session.console` in a terminal's place, against a local control plane, writes
//! what they printed back, and draws it as `docs/recording/session.svg`.

#[allow(
    dead_code,
    reason = "the recording needs only a part of what tests need"
)]
#[path = "../../../../../crates/operator-runtime/src/envtest/control_plane/mod.rs"]
mod control_plane;
#[allow(
    dead_code,
    reason = "what a command leaves running ends with the recording"
)]
#[path = "../../janitor.rs"]
mod janitor;
mod svg;

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, ensure};
use control_plane::{ControlPlane, Options};
use janitor::Janitor;

/// The lines at the start and at the end of an output that are kept.
const KEPT: (usize, usize) = (5, 9);

fn main() -> Result<()> {
    let recording = recording();
    let console = recording.join("session.console");
    let text = fs::read_to_string(&console)?;
    let commands = text.lines().filter_map(|line| line.strip_prefix("$ "));

    let directory = tempfile::tempdir()?;
    let janitor = Janitor::of(directory.path())?;
    let binaries = env::var_os("KUBEBUILDER_ASSETS").context("run `make recording`")?;
    let cluster = ControlPlane::start_with(&Options {
        binaries: Some(PathBuf::from(&binaries)),
        ..Options::default()
    })?;
    let target = env::current_exe()?;
    let target = target
        .ancestors()
        .nth(2)
        .context("it is in a target directory")?;
    let mut path = vec![target.join("debug"), PathBuf::from(&binaries)];
    path.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));

    let mut session = String::new();
    let mut now = directory.path().to_owned();
    let ended = directory.path().join(".now");
    for command in commands {
        let mut shell = Command::new("bash");
        shell
            .args([
                "-c",
                &format!(
                    "{{ {command}\n}} 2>&1; code=$?; pwd > '{}'; exit $code",
                    ended.display()
                ),
            ])
            .current_dir(&now)
            .env("CARGO_TARGET_DIR", target)
            // `make recording` is not what the reader sees.
            .env_remove("MAKEFLAGS")
            .env_remove("MAKELEVEL")
            .env("KUBECONFIG", cluster.kubeconfig())
            .env("PATH", env::join_paths(&path)?)
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        let child = janitor.spawn(&mut shell)?;
        let output = child.wait_with_output()?;
        let printed = String::from_utf8_lossy(&output.stdout);
        ensure!(output.status.success(), "`{command}` failed:\n{printed}");
        now = fs::read_to_string(&ended)?.trim_end().into();
        let printed = printed
            .replace(&directory.path().display().to_string(), "~")
            .replace(&target.display().to_string(), "target");
        session += &format!("$ {command}\n{}", shortened(&printed));
    }
    janitor.clean_up();
    fs::write(&console, &session)?;
    fs::write(recording.join("session.svg"), svg::draw(&session))?;
    Ok(())
}

/// The output with `…` in the place of most lines, if there are many.
fn shortened(output: &str) -> String {
    let lines: Vec<&str> = output.lines().collect();
    let (first, last) = KEPT;
    let kept: Vec<&str> = match lines.len() > first + last + 1 {
        true => [&lines[..first], &["…"], &lines[lines.len() - last..]].concat(),
        false => lines,
    };
    kept.iter()
        .map(|line| format!("{}\n", line.trim_end()))
        .collect()
}

fn recording() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/recording")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_drawing_is_that_of_the_session() {
        let read = |name| fs::read_to_string(recording().join(name)).unwrap();
        assert!(
            svg::draw(&read("session.console")) == read("session.svg"),
            "run `make recording`"
        );
    }
}
