//! What an operator needs and kube leaves out: a manager with probes, logs, metrics and a graceful
//! stop, and controllers that are data first, so that their RBAC follows from their types.
//!
//! `main` makes a [`Manager`] from [`Flags`], hands it the [`Controllers`] and runs it;
//! [`manifests`] writes the CRDs and the RBAC of the same values into `config/`.
//!
//! This crate knows no type of the project it serves.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod certificate;
mod client;
pub mod conditions;
mod controller;
mod crds;
mod discovery;
mod endpoints;
#[cfg(feature = "envtest")]
pub mod envtest;
mod flags;
mod logs;
mod manager;
pub mod manifests;
mod metrics;
mod object;
mod probes;
mod rbac;
mod serve;
pub mod status;
mod stop;

pub use controller::{Controller, Controllers, ReconcileError};
pub use crds::Crds;
pub use flags::{Address, Flags, LogFormat};
pub use kube::runtime::{controller::Action, reflector::ObjectRef};
pub use manager::{Error, Manager, Scope, Settings};
pub use metrics::flags::MetricsFlags;
pub use object::{Object, Scoped};
pub use prometheus_client;
pub use rbac::{Rules, Verb};
