//! Structured logs on stderr.

use std::{
    backtrace::Backtrace,
    env,
    io::{IsTerminal, stderr},
    panic,
};

use tracing_subscriber::{
    Layer, filter::Targets, fmt, layer::SubscriberExt, registry, util::SubscriberInitExt,
};

use crate::{error::panic_message, traces::Traces};

/// The format of log lines on stderr.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// Text, for people.
    Text,
    /// One JSON object per line.
    Json,
}

/// The log levels without `RUST_LOG`. kube's own lines repeat this crate's: its watcher would log each
/// failure again, with the API server's whole response.
const DEFAULT_TARGETS: &str = "info,kube_client=warn,kube_client::client::builder=off,kube_runtime=warn,kube_runtime::watcher=error";

/// The log levels in tests, which show failures.
#[cfg(feature = "envtest")]
const TEST_TARGETS: &str = "warn,kube_client::client::builder=off,kube_runtime::watcher=error";

/// Starts logging and `traces`, and logs panics instead of printing them, with a backtrace if
/// `RUST_BACKTRACE=1`. Does nothing, and returns `false`, if the process has a subscriber.
pub(crate) fn init(format: Option<LogFormat>, traces: Option<&Traces>) -> bool {
    let terminal = stderr().is_terminal();
    let default = if terminal {
        LogFormat::Text
    } else {
        LogFormat::Json
    };
    let lines = fmt::layer().with_writer(stderr).with_ansi(terminal);
    // The filter of the lines is not that of the traces, which have the spans of calls.
    let lines = match format.unwrap_or(default) {
        LogFormat::Text => lines.boxed(),
        LogFormat::Json => lines
            .json()
            .flatten_event(true)
            .with_span_list(false)
            .boxed(),
    };
    let lines = lines.with_filter(targets(DEFAULT_TARGETS));
    let result = registry().with(lines).with(traces.map(Traces::layer));
    let is_first = result.try_init().is_ok();
    if is_first {
        panic::set_hook(Box::new(|info| {
            let location = info.location().map(ToString::to_string);
            // Like std; `RUST_LIB_BACKTRACE` is for errors.
            let wanted = env::var_os("RUST_BACKTRACE").is_some_and(|value| value != "0");
            let backtrace = wanted.then(|| Backtrace::force_capture().to_string());
            let message = panic_message(info.payload());
            tracing::error!(location, backtrace, "panic: {message}");
        }));
    }
    is_first
}

/// Logs failures in a test. Panics are not redirected: they are how a test fails.
#[cfg(feature = "envtest")]
pub(crate) fn init_for_tests() {
    let lines = fmt::layer().with_test_writer();
    _ = registry()
        .with(targets(TEST_TARGETS))
        .with(lines)
        .try_init();
}

/// The levels of `RUST_LOG`, such as `info,operator=debug`; `default` if it is unset or invalid.
fn targets(default: &str) -> Targets {
    let chosen = env::var("RUST_LOG").unwrap_or_default();
    let chosen = Some(chosen).filter(|chosen| !chosen.is_empty());
    let chosen = chosen.and_then(|chosen| chosen.parse().ok());
    chosen.unwrap_or_else(|| default.parse().unwrap_or_default())
}
