//! Shows steps: with a spinner each on a terminal, as plain lines elsewhere.

use std::{
    io::{BufRead, BufReader, IsTerminal, Read},
    process::{Command, Stdio},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use crate::janitor::Janitor;

/// The number of lines that are shown of a failed command's output.
const TAIL: usize = 30;

/// Runs steps, possibly in parallel.
#[derive(Clone)]
pub struct Steps {
    pub janitor: Arc<Janitor>,
    bars: MultiProgress,
    terminal: bool,
}

impl Steps {
    pub fn new(janitor: Arc<Janitor>) -> Self {
        Self {
            janitor,
            bars: MultiProgress::new(),
            terminal: std::io::stderr().is_terminal(),
        }
    }

    /// Shows a running step.
    pub fn start(&self, verb: &'static str, title: &str) -> Step {
        let bar = ProgressBar::new_spinner().with_prefix(verb);
        let bar = self.bars.add(bar.with_message(title.to_owned()));
        bar.set_style(style("{prefix:>12.cyan.bold} {msg} {spinner} {elapsed}"));
        bar.enable_steady_tick(Duration::from_millis(100));
        if !self.terminal {
            eprintln!("{verb:>12} {title}");
        }
        Step {
            bar,
            title: title.to_owned(),
            started: Instant::now(),
            terminal: self.terminal,
        }
    }

    /// Runs one step to its end and returns its output. On failure, shows the end of the output.
    pub fn run(&self, verb: &'static str, title: &str, command: &mut Command) -> Result<String> {
        self.run_with(verb, title, command, false)
    }

    /// Like [`run`](Self::run), but also prints the progress without a terminal.
    pub fn run_verbose(
        &self,
        verb: &'static str,
        title: &str,
        command: &mut Command,
    ) -> Result<String> {
        self.run_with(verb, title, command, true)
    }

    fn run_with(
        &self,
        verb: &'static str,
        title: &str,
        command: &mut Command,
        verbose: bool,
    ) -> Result<String> {
        let step = self.start(verb, title);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = self.janitor.spawn(command)?;
        let mut pipe = child.stdout.take().context("it is piped")?;
        let stdout = thread::spawn(move || {
            let mut bytes = Vec::new();
            pipe.read_to_end(&mut bytes).map(|_| bytes)
        });
        let mut stderr = String::new();
        for line in BufReader::new(child.stderr.take().context("it is piped")?).split(b'\n') {
            let line = String::from_utf8_lossy(&line?).into_owned();
            step.progress(line.trim(), verbose);
            stderr.push_str(&line);
            stderr.push('\n');
        }
        let stdout = stdout.join().expect("reading does not panic")?;
        let stdout = String::from_utf8_lossy(&stdout).into_owned();
        let status = child.wait()?;
        self.janitor.forget(&child);
        if !status.success() {
            step.failed();
            self.bars
                .suspend(|| eprintln!("{}", tail(&format!("{stdout}{stderr}"))));
            bail!("`{title}` failed ({status})");
        }
        step.done();
        Ok(stdout)
    }
}

/// One line of progress.
pub struct Step {
    bar: ProgressBar,
    title: String,
    started: Instant,
    terminal: bool,
}

impl Step {
    /// Shows the last line that the command printed.
    fn progress(&self, line: &str, verbose: bool) {
        if line.is_empty() {
        } else if self.terminal {
            self.bar.set_message(format!("{}: {line:.60}", self.title));
        } else if verbose {
            eprintln!("{:>12} {line}", "");
        }
    }

    pub fn done(self) {
        self.bar.set_message(self.title.clone());
        self.bar
            .set_style(style("{prefix:>12.green.bold} {msg} {elapsed:.dim}"));
        self.bar.finish();
        if !self.terminal {
            let seconds = self.started.elapsed().as_secs_f64();
            eprintln!("{:>12} {} ({seconds:.1} s)", "Done", self.title);
        }
    }

    fn failed(self) {
        self.bar.set_message(self.title.clone());
        self.bar
            .set_style(style("{prefix:>12.red.bold} {msg} {elapsed:.dim}"));
        self.bar.abandon();
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the template is ours")
}

/// The last lines of `text`.
pub fn tail(text: &str) -> String {
    let lines: Vec<_> = text.lines().collect();
    lines[lines.len().saturating_sub(TAIL)..].join("\n")
}
