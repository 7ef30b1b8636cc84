//! Releases on a real kube-apiserver.

mod hooks;
mod killed;
mod life;
mod web;
