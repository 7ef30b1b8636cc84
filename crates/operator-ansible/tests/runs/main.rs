//! Runs for custom resources, on a real kube-apiserver.

mod app;
mod figures;
mod killed;
mod life;
