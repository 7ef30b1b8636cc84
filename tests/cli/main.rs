//! What needs no compiled project: the engine in this process, and the tool as a process.

#[cfg(unix)]
mod advice;
mod build;
#[cfg(unix)]
mod chart;
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
mod helm_charts;
mod hostile;
mod kubernetes;
mod kustomize;
mod laws;
#[cfg(unix)]
mod make;
/// The part of operator-runtime that makes a chart of objects. It needs no Kubernetes client.
#[path = "../../crates/operator-runtime/src/manifests"]
#[allow(dead_code, reason = "the rest of operator-runtime uses it")]
mod manifests {
    mod chart;
    mod environment;
    mod generated;
    mod objects;

    use std::path::Path;

    /// What `manifests --chart DIR` does with its standard input.
    pub fn write_chart(objects: &str, dir: &Path, check: bool) -> Result<bool, String> {
        chart::chart(dir, objects)?.apply(check)
    }
}
mod merges;
mod modules;
mod output;
#[cfg(unix)]
#[path = "../shared/page.rs"]
mod page;
#[cfg(unix)]
mod pasted;
mod ported;
mod prompts;
#[cfg(unix)]
mod properties;
#[cfg(unix)]
mod reference;
#[path = "../shared/session.rs"]
mod session;
mod snapshots;
mod terminal;
mod together;
mod yaml;
