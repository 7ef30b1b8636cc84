//! What a command is at, on a terminal, once it has lasted half a second.

use std::{thread, time::Duration};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Whoever waits no longer than this needs no company.
const PATIENCE: Duration = Duration::from_millis(500);

/// A line that says so; the default says nothing.
#[derive(Clone, Debug, Default)]
pub struct Progress(Option<ProgressBar>);

impl Progress {
    /// Begins to wait for the line.
    pub fn begin() -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let style =
            ProgressStyle::with_template("{prefix:>12.cyan.bold} {msg} {spinner} {elapsed}");
        bar.set_style(style.expect("a constant"));
        let shown = bar.clone();
        thread::spawn(move || {
            thread::sleep(PATIENCE);
            if !shown.is_finished() {
                shown.set_draw_target(ProgressDrawTarget::stderr());
                shown.enable_steady_tick(Duration::from_millis(100));
            }
        });
        Self(Some(bar))
    }

    /// From here on the line says this.
    pub fn at(&self, verb: &'static str, what: String) {
        if let Some(bar) = &self.0 {
            bar.set_prefix(verb);
            bar.set_message(what);
        }
    }

    /// Takes the line away, for good: something else is printed.
    pub fn end(&self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
