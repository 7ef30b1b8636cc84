//! The events of a run.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

/// An event of a run, as the Python program sends it. Results of tasks with `no_log` are not in it.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunEvent {
    /// A task begins.
    Task {
        /// Its name.
        task: String,
        /// Its module or action plugin.
        action: String,
    },
    /// A task succeeded.
    Ok {
        /// The task.
        #[serde(flatten)]
        of: TaskResult,
        /// What `requeue_after` asks for.
        period: Option<String>,
        /// What `osdk_metric` changes.
        metric: Option<Value>,
    },
    /// A task failed.
    Failed {
        /// The task.
        #[serde(flatten)]
        of: TaskResult,
        /// Whether its `ignore_errors` holds.
        #[serde(default)]
        ignored: bool,
        /// Whether a `rescue` follows.
        #[serde(default)]
        rescued: bool,
    },
    /// One item of a loop succeeded.
    ItemOk {
        /// The task.
        #[serde(flatten)]
        of: TaskResult,
        /// What `osdk_metric` changes.
        metric: Option<Value>,
    },
    /// One item of a loop failed. The failure of the task follows.
    ItemFailed {
        /// The task.
        #[serde(flatten)]
        of: TaskResult,
        /// The item.
        item: Option<String>,
    },
    /// A task was skipped.
    Skipped {
        /// The task.
        #[serde(flatten)]
        of: TaskResult,
    },
    /// A host could not be reached.
    Unreachable {
        /// The task.
        #[serde(flatten)]
        of: TaskResult,
        /// Whether its `ignore_unreachable` holds.
        #[serde(default)]
        ignored: bool,
    },
    /// A warning of Ansible.
    Log {
        /// Its text.
        message: String,
    },
    /// Ansible could not run the content.
    Error {
        /// Why.
        message: String,
    },
    /// The run is over.
    Stats(Stats),
}

impl RunEvent {
    /// What `osdk_metric` changes.
    pub(crate) fn metric(&self) -> Option<&Value> {
        match self {
            Self::Ok { metric, .. } | Self::ItemOk { metric, .. } => metric.as_ref(),
            _ => None,
        }
    }
}

/// The result of a task.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
pub struct TaskResult {
    /// The name of the task, with that of its role.
    pub task: String,
    /// Its module or action plugin.
    pub action: String,
    /// The role.
    pub role: Option<String>,
    /// The file and the line.
    pub path: Option<String>,
    /// Whether it changed something.
    #[serde(default)]
    pub changed: bool,
    /// What its module says.
    #[serde(default)]
    pub message: String,
}

/// How many tasks ended in which way.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
pub struct Stats {
    /// Succeeded.
    pub ok: u32,
    /// Changed something.
    pub changed: u32,
    /// Skipped.
    pub skipped: u32,
    /// Failed.
    pub failures: u32,
    /// Failed, and a `rescue` followed.
    pub rescued: u32,
    /// Failed with `ignore_errors`.
    pub ignored: u32,
    /// Hosts that could not be reached.
    pub unreachable: u32,
}

/// What a run came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The counts, if the run came to its end.
    pub stats: Option<Stats>,
    /// The tasks that failed and were neither ignored nor rescued.
    pub failures: Vec<TaskResult>,
    /// Why Ansible could not run the content.
    pub error: Option<String>,
    /// The time after which the role asks to run again.
    pub requeue_after: Option<Duration>,
    /// The number of events.
    pub events: u64,
    /// The task that ran last.
    pub last_task: Option<String>,
    /// The first item that failed in the loop of the current task.
    failed_item: Option<String>,
}

impl Outcome {
    /// Takes the next event.
    pub(crate) fn note(&mut self, event: &RunEvent) {
        self.events += 1;
        match event {
            RunEvent::Task { task, .. } => {
                self.last_task = Some(task.clone());
                self.failed_item = None;
            }
            RunEvent::Ok {
                period: Some(period),
                ..
            } => self.requeue_after = duration(period).or(self.requeue_after),
            RunEvent::ItemFailed { of, item } if self.failed_item.is_none() => {
                let item = item.as_ref().map(|item| format!("item {item}: "));
                self.failed_item = Some(format!("{}{}", item.unwrap_or_default(), of.message));
            }
            RunEvent::Failed {
                of,
                ignored: false,
                rescued: false,
            }
            | RunEvent::Unreachable { of, ignored: false } => {
                let mut failed = of.clone();
                if let Some(item) = self.failed_item.take() {
                    failed.message = item;
                }
                self.failures.push(failed);
            }
            RunEvent::Error { message } => self.error = Some(message.clone()),
            RunEvent::Stats(stats) => self.stats = Some(*stats),
            _ => {}
        }
    }

    /// The task that ran last, in words that follow others.
    pub(crate) fn place(&self) -> String {
        let task = self.last_task.as_ref();
        task.map(|task| format!(", in the task `{task}`"))
            .unwrap_or_default()
    }
}

/// The message of a task in short: where `kubernetes.core` repeats a whole answer of the API server, only that answer's message.
pub(crate) fn short(message: &str) -> String {
    let status = message.find(r#"{"kind":"Status""#).and_then(|start| {
        let (before, rest) = message.split_at(start);
        let mut answers = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        let answer = answers.next()?.ok()?;
        Some(format!("{before}{}", answer["message"].as_str()?))
    });
    status.unwrap_or_else(|| message.to_owned())
}

/// Parses a positive duration in Go's format, such as `15s`, `1m30s` or `500ms`.
pub(crate) fn duration(text: &str) -> Option<Duration> {
    let duration = text.parse::<jiff::SignedDuration>().ok()?;
    Duration::try_from(duration).ok().filter(|it| !it.is_zero())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(lines: &[&str]) -> Outcome {
        let mut outcome = Outcome::default();
        for line in lines {
            outcome.note(&serde_json::from_str(line).unwrap());
        }
        outcome
    }

    #[test]
    fn failures_are_those_that_nobody_handles() {
        let outcome = outcome(&[
            r#"{"event": "task", "task": "a", "action": "command"}"#,
            r#"{"event": "failed", "task": "a", "action": "command", "ignored": true, "rescued": false, "message": "one"}"#,
            r#"{"event": "failed", "task": "b", "action": "command", "ignored": false, "rescued": true, "message": "two"}"#,
            r#"{"event": "failed", "task": "c", "action": "command", "ignored": false, "rescued": false, "message": "three"}"#,
            r#"{"event": "unreachable", "task": "d", "action": "command", "ignored": false, "message": "four"}"#,
            r#"{"event": "ok", "task": "e", "action": "requeue_after", "period": "1m30s"}"#,
            r#"{"event": "log", "message": "[WARNING]: x"}"#,
            r#"{"event": "stats", "ok": 1, "changed": 2, "skipped": 3, "failures": 4, "rescued": 5, "ignored": 6, "unreachable": 7}"#,
        ]);
        let failed: Vec<_> = outcome
            .failures
            .iter()
            .map(|it| it.message.as_str())
            .collect();
        assert_eq!(failed, ["three", "four"]);
        assert_eq!(outcome.requeue_after, Some(Duration::from_secs(90)));
        assert_eq!(outcome.stats.unwrap().ignored, 6);
        assert_eq!(
            (outcome.events, outcome.place().as_str()),
            (8, ", in the task `a`")
        );
    }

    #[test]
    fn the_failure_of_a_loop_is_that_of_its_first_item() {
        let outcome = outcome(&[
            r#"{"event": "task", "task": "a", "action": "command"}"#,
            r#"{"event": "item_failed", "task": "a", "action": "command", "item": "x", "message": "no x"}"#,
            r#"{"event": "item_failed", "task": "a", "action": "command", "item": "y", "message": "no y"}"#,
            r#"{"event": "failed", "task": "a", "action": "command", "message": "One or more items failed"}"#,
        ]);
        assert_eq!(outcome.failures[0].message, "item x: no x");
    }

    #[test]
    fn the_answer_of_an_api_server_is_its_message() {
        for (message, expected) in [
            (
                r#"Failed to create object: {"kind":"Status","apiVersion":"v1","message":"no such \"x\"","code":400}"#,
                r#"Failed to create object: no such "x""#,
            ),
            (
                r#"cut {"kind":"Status","mess"#,
                r#"cut {"kind":"Status","mess"#,
            ),
            ("plain", "plain"),
        ] {
            assert_eq!(short(message), expected);
        }
    }

    #[test]
    fn durations_are_those_of_go() {
        for (text, expected) in [
            ("30s", Some(30_000)),
            ("1h30m", Some(5_400_000)),
            ("500ms", Some(500)),
            ("0s", None),
            ("-1s", None),
            ("5", None),
            ("", None),
        ] {
            assert_eq!(
                duration(text),
                expected.map(Duration::from_millis),
                "{text}"
            );
        }
    }
}
