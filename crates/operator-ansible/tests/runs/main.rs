//! Runs for custom resources, on a real kube-apiserver.

#![cfg(unix)]

mod app;
mod faults;
mod fence;
mod fields;
mod figures;
mod killed;
mod life;
mod process;
mod reads;
mod rules;
