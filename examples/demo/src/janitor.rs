//! Cleans up after the demo, however it ends.

use std::{
    io::Write,
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, Command, Stdio},
    sync::Mutex,
};

use anyhow::{Context, Result};

/// Ends all running programs and removes the directory when its standard input closes, which also happens if
/// this program is interrupted.
const SCRIPT: &str = r#"
running=
while read -r change group; do
    case $change in
    start) running="$running $group" ;;
    end)
        rest=
        for other in $running; do [ "$other" = "$group" ] || rest="$rest $other"; done
        running=$rest
        ;;
    esac
done
for group in $running; do kill -s TERM -- "-$group" 2>/dev/null; done
# What is being ended may still write.
until rm -rf "$1" 2>/dev/null; do sleep 0.1; done
"#;

/// A shell that tracks every running program.
pub struct Janitor {
    shell: Mutex<Child>,
}

impl Janitor {
    /// One that removes `directory`.
    pub fn of(directory: &Path) -> Result<Self> {
        let shell = Command::new("sh")
            .args(["-c", SCRIPT, "sh"])
            .arg(directory)
            .stdin(Stdio::piped())
            // Ctrl-C must not reach the process that cleans up.
            .process_group(0)
            .spawn()
            .context("cannot run sh")?;
        Ok(Self {
            shell: Mutex::new(shell),
        })
    }

    /// Runs `command` in its own process group, which ends with this program at the latest.
    pub fn spawn(&self, command: &mut Command) -> Result<Child> {
        let child = command.process_group(0).spawn();
        let child = child.with_context(|| format!("cannot run {command:?}"))?;
        self.notify("start", &child);
        Ok(child)
    }

    /// `child` has ended.
    pub fn forget(&self, child: &Child) {
        self.notify("end", child);
    }

    fn notify(&self, change: &str, child: &Child) {
        let mut shell = self.shell.lock().expect("nobody panics with the lock");
        if let Some(stdin) = &mut shell.stdin {
            // An error means that the shell is gone: there is nothing to notify.
            _ = writeln!(stdin, "{change} {}", child.id());
        }
    }

    /// Ends all running programs, and waits until everything is removed.
    pub fn clean_up(&self) {
        let mut shell = self.shell.lock().expect("nobody panics with the lock");
        drop(shell.stdin.take());
        _ = shell.wait();
    }
}
