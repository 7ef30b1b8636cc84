#![doc = include_str!("../README.md")]

mod apply;
mod chart;
mod cluster;
mod conditions;
mod doubts;
mod error;
mod history;
mod hooks;
mod marks;
mod memory;
mod object;
mod objects;
mod readiness;
mod release;
mod releases;
mod rendering;
mod revision;
mod rollback;
mod status;
mod storage;
mod store;
mod takeover;
mod uninstall;
mod values;

pub use chart::{Chart, Crds, InstallsChart};
pub use conditions::RELEASED;
pub use error::Error;
#[doc(hidden)]
pub use include_dir;
pub use marks::SKIP_HOOKS;
pub use releases::{ReleaseObject, Releases};
pub use status::{InstalledObject, Pending, ReleaseStatus, Revision};
pub use values::Values;
