//! The behaviour of an operator under faults: between it and the API server, in its objects, in its input,
//! and in its reconcile functions.

mod a_minute;
mod answers;
pub mod api_server;
mod bad_input;
pub mod clock;
mod clusters;
mod connections;
mod failures;
mod frozen;
mod gate;
mod journal;
mod leak;
mod link;
mod lists;
mod objects;
pub mod operator;
mod order;
mod proxy;
mod signals;
pub mod site;
mod sources;
mod table;
mod tasks;
mod watches;

use std::{fs, path::PathBuf, time::Duration};

use anyhow::{Result, ensure};
use operator_runtime::{ManagerOptions, WatchScope};
use tokio::time::{Instant, sleep};

const OPTIONS: ManagerOptions = ManagerOptions {
    name: "faults.example.com",
    scope: WatchScope::Cluster,
};

/// Writes an administrator's kubeconfig with another address.
fn kubeconfig(name: &str, server: &str, more: &str) -> Result<PathBuf> {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.kubeconfig"));
    let text = format!(
        r#"apiVersion: v1
kind: Config
clusters:
- name: test
  cluster: {{server: "{server}"}}
users:
- name: test
  user: {{{more}}}
contexts:
- name: test
  context: {{cluster: test, user: test}}
current-context: test
"#
    );
    fs::write(&path, text)?;
    Ok(path)
}

/// Waits until a condition holds, and returns the time that it took.
async fn until(what: &str, seconds: u64, so: impl AsyncFn() -> Result<bool>) -> Result<Duration> {
    let begin = Instant::now();
    while !so().await? {
        let late = begin.elapsed() > Duration::from_secs(seconds);
        ensure!(!late, "not within {seconds} s: {what}");
        sleep(Duration::from_millis(20)).await;
    }
    Ok(begin.elapsed())
}
