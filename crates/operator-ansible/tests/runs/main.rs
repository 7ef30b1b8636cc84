//! Runs for custom resources, on a real kube-apiserver.

#![cfg(unix)]

mod app;
mod figures;
mod killed;
mod life;
mod rules;
