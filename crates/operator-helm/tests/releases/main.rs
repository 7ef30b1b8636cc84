//! Releases on a real kube-apiserver.

mod charts;
mod edits;
mod fetched;
mod gate;
mod hooks;
mod killed;
mod life;
mod web;
