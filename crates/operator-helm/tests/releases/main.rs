//! Releases on a real kube-apiserver.

mod former;
mod hooks;
mod killed;
mod life;
mod policies;
mod takeover;
mod web;
