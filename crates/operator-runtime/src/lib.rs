//! The parts of an operator that kube leaves out: a manager with probes, logs, metrics and a graceful
//! shutdown, and controllers that declare their watches and permissions as data, from which their RBAC is
//! derived.
//!
//! `main` builds a [`Manager`] from [`Flags`], adds the [`Controllers`] and runs the manager. [`manifests`]
//! writes the CRDs and the RBAC of the same values to `config/`.
//!
//! The module `guide` has one page per subject, and the example `memcached` is a complete operator.
//!
//! # Features
//!
//! | feature | default | what it adds |
//! |---|---|---|
//! | `leader-election` | yes | one active replica; without the feature, every replica leads |
//! | `metrics` | yes | metrics, and their HTTPS endpoint |
//! | `webhooks` | yes | defaulting and validating webhooks |
//! | `conversion` | yes | conversion webhooks; implies `webhooks` |
//! | `self-signed` | yes | certificates that the operator issues itself |
//! | `ring` | yes | cryptography by ring |
//! | `aws-lc-rs` | no | cryptography by aws-lc-rs, which wins over `ring` |
//! | `otlp` | no | traces, sent to an OpenTelemetry collector |
//! | `chart` | no | [`manifests`] writes a Helm chart |
//! | `bundle` | no | [`manifests`] writes a bundle for OLM |
//! | `anyhow` | no | `anyhow::Error` as the error of a reconcile |
//! | `testing` | no | `fake`, an in-memory API server |
//! | `envtest` | no | `envtest`, a real API server; implies `testing` and `conversion` |
//!
//! A feature that is off compiles none of its dependencies and has no flags. One of `ring` and `aws-lc-rs` is needed.
#![forbid(unsafe_code)]
#![warn(missing_docs)]
#![cfg_attr(docsrs, feature(doc_cfg))]
// With a feature off, parts of the lower modules are unused.
#![cfg_attr(
    not(all(
        feature = "bundle",
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
mod crypto;
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
mod shards;
#[cfg_attr(not(feature = "leader-election"), allow(dead_code))]
mod slots;
#[cfg_attr(not(feature = "otlp"), path = "traces/off.rs")]
mod traces;
#[cfg_attr(not(feature = "webhooks"), path = "webhook/off.rs")]
pub mod webhook;

pub use apply::{
    Applied, AppliedChildren, Applier, ChildError, Children, OwnerError, conditions,
    conditions::ReadyCondition, finalizer, status,
};
pub use axum;
pub use cache::{Index, ObjectEvent, ShardKey, Store, StoreOptions};
pub use client::{NotLeading, NotOwning};
pub use clock::Clock;
pub use cluster::Cluster;
pub use controller::{
    Action, Controller, Controllers, DynamicWatches, Predicate, ReconcileError, Trigger, Watch,
};
pub use error::{ElectionError, Error, TaskError, Unshared, in_one_line};
pub use k8s_openapi::{self, schemars};
pub use kube::{self, runtime::reflector::ObjectRef};
#[cfg(feature = "leader-election")]
pub use leader::{LeaderElectionFlags, ShardLimit};
pub use logs::LogFormat;
pub use manager::{Flags, Manager, ManagerOptions, Serves, WatchScope};
pub use manifests::{CrdError, Crds, Refusal, migrate, refusals, structural};
pub use object::{
    AnyObject, ObjectScope, Rules, ScopedObject, ScopedResource, TypedObject, Verb, api_of,
};
#[cfg(feature = "metrics")]
pub use prometheus_client;
pub use queue::LOW_PRIORITY;
pub use server::Address;
#[cfg(feature = "metrics")]
pub use server::MetricsFlags;
pub use tokio_util::sync::CancellationToken;

// The pages link to items of most features.
#[cfg(all(
    any(doc, doctest),
    feature = "leader-election",
    feature = "metrics",
    feature = "conversion",
    feature = "self-signed"
))]
pub mod guide;

// Compiles the README's program.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
