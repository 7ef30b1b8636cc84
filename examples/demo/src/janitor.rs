//! Nothing of the demo is left behind, however it ends.

use std::{
    io::Write,
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, Command, Stdio},
    sync::Mutex,
};

use anyhow::{Context, Result};

/// Ends what still runs and removes the directory when its standard input closes, as it does when this program is
/// interrupted.
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

/// A shell that knows every program that runs.
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
            // Ctrl-C must not reach the one who cleans up after it.
            .process_group(0)
            .spawn()
            .context("cannot run sh")?;
        Ok(Self {
            shell: Mutex::new(shell),
        })
    }

    /// Runs `command` in a process group of its own, which ends with this program at the latest.
    pub fn spawn(&self, command: &mut Command) -> Result<Child> {
        let child = command.process_group(0).spawn();
        let child = child.with_context(|| format!("cannot run {command:?}"))?;
        self.tell("start", &child);
        Ok(child)
    }

    /// `child` has ended.
    pub fn forget(&self, child: &Child) {
        self.tell("end", child);
    }

    fn tell(&self, change: &str, child: &Child) {
        let mut shell = self.shell.lock().expect("nobody panics with the lock");
        if let Some(stdin) = &mut shell.stdin {
            // An error means that the shell is gone, and that nobody can be told.
            _ = writeln!(stdin, "{change} {}", child.id());
        }
    }

    /// Ends what still runs, and waits until everything is removed.
    pub fn clean_up(&self) {
        let mut shell = self.shell.lock().expect("nobody panics with the lock");
        drop(shell.stdin.take());
        _ = shell.wait();
    }
}
