#![doc = include_str!("../README.md")]
// The fork server and its socket are those of Unix.
#![cfg(unix)]

mod added;
mod ansible;
mod automation;
mod conditions;
mod dependents;
mod due;
mod environment;
mod error;
mod events;
mod flags;
mod foreign;
mod inputs;
mod log_events;
mod marks;
mod memory;
#[cfg_attr(not(feature = "metrics"), path = "metrics/off.rs")]
mod metrics;
mod names;
mod options;
mod owner;
mod program;
mod proxy;
mod reconcile;
mod report;
mod rules;
mod runs;
mod server;
mod session;
mod status;
mod target;
mod variables;
mod vars;

pub use added::AnsibleObject;
pub use ansible::{Ansible, RunsAnsible};
pub use automation::{Automation, Finalizer};
pub use environment::max_concurrent_reconciles;
pub use error::Error;
pub use events::{Outcome, RunEvent, Stats, TaskResult};
pub use flags::AnsibleFlags;
pub use foreign::Foreign;
pub use log_events::LogEvents;
pub use options::AnsibleOptions;
pub use status::AnsibleStatus;
pub use variables::Variables;
