#![doc = include_str!("../README.md")]
// The fork server and its socket are those of Unix.
#![cfg(unix)]

mod added;
mod ansible;
mod automation;
mod conditions;
mod dependents;
mod due;
mod error;
mod events;
mod inputs;
mod marks;
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
mod variables;
mod vars;

pub use added::AnsibleObject;
pub use ansible::{Ansible, RunsAnsible};
pub use automation::{Automation, Finalizer};
pub use error::Error;
pub use events::{Outcome, RunEvent, Stats, TaskResult};
pub use options::AnsibleOptions;
pub use status::AnsibleStatus;
pub use variables::Variables;
