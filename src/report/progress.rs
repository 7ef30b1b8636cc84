//! A spinner on a terminal, for commands that take more than half a second.

use std::{thread, time::Duration};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The time before the spinner appears.
const PATIENCE: Duration = Duration::from_millis(500);

/// A spinner that shows the step of the command and the time that it has taken.
pub fn begin() -> ProgressBar {
    let bar = ProgressBar::hidden();
    let style = ProgressStyle::with_template("{prefix:>12.cyan.bold} {msg} {spinner} {elapsed}");
    bar.set_style(style.expect("a constant"));
    let shown = bar.clone();
    thread::spawn(move || {
        thread::sleep(PATIENCE);
        if !shown.is_finished() {
            shown.set_draw_target(ProgressDrawTarget::stderr());
            shown.enable_steady_tick(Duration::from_millis(100));
        }
    });
    bar
}
