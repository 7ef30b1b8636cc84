//! What an operator needs and kube leaves out: a manager with probes, logs, metrics and a graceful
//! stop, and controllers that are data first, so that their RBAC follows from their types.
//!
//! `main` makes a [`Manager`] from [`Flags`], hands it the [`Controllers`] and runs it;
//! [`manifests`] writes the CRDs and the RBAC of the same values into `config/`.
//!
//! This crate knows no type of the project it serves.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod action;
mod apply;
mod cache;
mod certificate;
mod client;
mod clock;
mod cluster;
pub mod conditions;
mod controller;
mod crds;
mod discovery;
mod duration;
mod election;
mod endpoints;
#[cfg(feature = "envtest")]
pub mod envtest;
#[cfg(feature = "fake")]
pub mod fake;
mod fence;
pub mod finalizer;
mod flags;
mod logs;
mod manager;
pub mod manifests;
mod metrics;
pub mod migrate;
mod object;
mod probes;
mod queue;
mod rbac;
#[cfg(any(feature = "envtest", feature = "fake"))]
mod request;
mod runnable;
mod serve;
pub mod status;
mod stop;
mod trigger;
pub mod webhook;
mod written;

pub use action::Action;
pub use apply::{Applier, OwnerError};
pub use cache::{Change, Index, Store};
pub use cluster::Cluster;
pub use controller::{Controller, Controllers, Predicate, ReconcileError, Watch};
pub use crds::Crds;
pub use election::{ElectionError, LeaderElection};
pub use fence::NotLeading;
pub use flags::{Address, Flags, LogFormat};
pub use kube::runtime::reflector::ObjectRef;
pub use manager::{Error, Manager, Scope, Settings};
pub use metrics::flags::MetricsFlags;
pub use object::{Object, Scoped, Type};
pub use prometheus_client;
pub use rbac::{Rules, Verb};
pub use runnable::TaskError;
pub use trigger::Trigger;
