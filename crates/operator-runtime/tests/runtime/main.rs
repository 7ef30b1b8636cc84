//! Tests of the runtime as operators use it: against a real API server, with real processes, networks and
//! certificates.

mod bundle;
mod certificates;
mod children;
mod conversion;
mod deletion;
mod embedded;
mod examples;
mod exposition;
mod fake;
mod faults;
mod finalizer;
mod followers;
mod harness;
mod leadership;
mod metrics;
mod nulls;
mod package;
mod permissions;
mod process;
mod reconcile;
mod round_trip;
mod start;
mod stores;
mod webhooks;
mod widget;
