//! What an operator needs and kube leaves out: a manager with probes, logs, metrics and a graceful
//! stop, and controllers that are data first, so that their RBAC follows from their types.
//!
//! `main` makes a [`Manager`] from [`Flags`], hands it the [`Controllers`] and runs it;
//! [`manifests`] writes the CRDs and the RBAC of the same values into `config/`.
//!
//! This crate knows no type of the project it serves.
//!
//! The module `guide` has a page for each subject, and the example `memcached` is a complete operator.
//!
//! # Features
//!
//! | feature | default | what it adds |
//! |---|---|---|
//! | `leader-election` | yes | one of several replicas works; without it, every replica leads |
//! | `metrics` | yes | counts, and their HTTPS endpoint |
//! | `webhooks` | yes | defaulting and validation |
//! | `conversion` | yes | conversion between versions; implies `webhooks` |
//! | `self-signed` | yes | certificates that the operator makes by itself |
//! | `testing` | no | `fake`, an API server in memory |
//! | `envtest` | no | `envtest`, a real one; implies `testing` and `conversion` |
//!
//! Without a feature its dependencies do not compile, and its flags do not exist.
#![forbid(unsafe_code)]
#![warn(missing_docs)]
#![cfg_attr(docsrs, feature(doc_cfg))]
// A room that is off leaves parts of those below it without use.
#![cfg_attr(
    not(all(
        feature = "leader-election",
        feature = "metrics",
        feature = "conversion",
        feature = "self-signed"
    )),
    allow(dead_code)
)]

mod apply;
mod cache;
mod client;
mod clock;
mod cluster;
mod controller;
mod duration;
#[cfg(feature = "envtest")]
pub mod envtest;
mod error;
#[cfg(feature = "testing")]
pub mod fake;
#[cfg_attr(not(feature = "leader-election"), path = "leader/off.rs")]
mod leader;
mod logs;
mod manager;
pub mod manifests;
#[cfg_attr(not(feature = "metrics"), path = "metrics/off.rs")]
mod metrics;
mod object;
mod queue;
mod runnable;
mod server;
#[cfg_attr(not(feature = "webhooks"), path = "webhook/off.rs")]
pub mod webhook;

pub use apply::{
    Applied, AppliedChildren, Applier, ChildError, Children, OwnerError, conditions,
    conditions::ReadyCondition, finalizer, status,
};
pub use axum;
pub use cache::{Index, ObjectEvent, Store, StoreOptions};
pub use client::NotLeading;
pub use clock::Clock;
pub use cluster::Cluster;
pub use controller::{Action, Controller, Controllers, Predicate, ReconcileError, Trigger, Watch};
pub use error::{ElectionError, Error, TaskError};
pub use kube::runtime::reflector::ObjectRef;
#[cfg(feature = "leader-election")]
pub use leader::LeaderElectionFlags;
pub use logs::LogFormat;
pub use manager::{Flags, Manager, ManagerOptions, WatchScope};
pub use manifests::{Crds, migrate};
pub use object::{ObjectScope, Rules, ScopedResource, TypedObject, Verb};
#[cfg(feature = "metrics")]
pub use prometheus_client;
pub use server::Address;
#[cfg(feature = "metrics")]
pub use server::MetricsFlags;

// Its pages link to what most features bring.
#[cfg(all(
    any(doc, doctest),
    feature = "leader-election",
    feature = "metrics",
    feature = "conversion",
    feature = "self-signed"
))]
pub mod guide;

// The README's program compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
