//! The etcd operator: its project is current, and a cluster lives through create, grow, backup and restore.
#![cfg(target_os = "linux")]

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

const PROJECT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/etcd-operator");

/// A binary that cargo built for the tests of this workspace.
fn binary(name: &str) -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_etcd-faults")).with_file_name(name)
}

/// Where the project is built: apart from this workspace, because it has a lock file of its own.
fn target() -> PathBuf {
    let home = || Some(PathBuf::from(env::var_os("HOME")?).join(".cache"));
    let cache = env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(home);
    cache
        .expect("HOME is set")
        .join("operator-forge/etcd-target")
}

fn succeeds(command: &mut Command) {
    let status = command.status();
    let status = status.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(status.success(), "{command:?} failed");
}

/// The files are what the tool would generate today and what `make manifests` would write, and the project's own tests
/// pass.
#[test]
fn the_project_is_current() {
    let mut check = Command::new(binary("operator-forge"));
    succeeds(check.arg("check").current_dir(PROJECT));
    for arguments in [
        &[
            "run",
            "--quiet",
            "--locked",
            "--bin",
            "manifests",
            "--",
            "--check",
        ] as &[_],
        &["test", "--quiet", "--locked"],
    ] {
        let mut cargo = Command::new("cargo");
        cargo.args(arguments).current_dir(PROJECT);
        succeeds(cargo.env("CARGO_TARGET_DIR", target()));
    }
}

/// The story on a node of processes.
#[test]
fn a_cluster_is_created_grows_and_is_restored() {
    let mut story = Command::new("sh");
    story.args([concat!(env!("CARGO_MANIFEST_DIR"), "/run.sh"), "story"]);
    story.env("PROCESS_NODE", binary("process-node"));
    succeeds(story.env("ETCD_FAULTS", binary("etcd-faults")));
}
