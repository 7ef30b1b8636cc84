//! Releases on a real kube-apiserver.

mod hooks;
mod life;
mod web;
