//! What needs no compiled project: the engine in this process, and the tool as a process.

#[cfg(unix)]
mod advice;
#[cfg(unix)]
mod control_plane;
mod crash;
#[cfg(unix)]
mod docs;
mod drivers;
mod fault;
mod fields;
#[path = "../shared/fixture.rs"]
mod fixture;
mod format;
mod fuzz;
mod hostile;
mod kustomize;
mod laws;
mod merges;
mod modules;
mod output;
#[cfg(unix)]
mod pasted;
#[cfg(unix)]
mod properties;
#[path = "../shared/session.rs"]
mod session;
mod snapshots;
mod terminal;
mod together;
