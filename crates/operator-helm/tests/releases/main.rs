//! Releases on a real kube-apiserver.

mod charts;
mod edits;
mod fetched;
mod former;
mod gate;
mod hooks;
mod killed;
mod life;
mod policies;
mod takeover;
mod web;
