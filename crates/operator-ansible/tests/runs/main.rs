//! Runs for custom resources, on a real kube-apiserver.

mod app;
mod killed;
mod life;
