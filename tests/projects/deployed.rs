//! The operator of `webhooks.rs`, deployed by `kubectl apply -k config/default` as it is: Pods of a Deployment, and webhooks
//! that the API server calls through their Service. The node runs Pods as processes, without a container engine.
#![cfg(target_os = "linux")]

use std::{fs, path::Path, process::Command};

use crate::project::{place, place_of_projects, succeed};
use crate::session::{repository, tree};
use crate::webhooks;
use tempfile::TempDir;

/// Puts the program into an image, and the manifests beside it.
pub fn placed(project: &Path, manager: &Path, scratch: &Path) {
    let image = scratch.join("image");
    fs::create_dir(&image).unwrap();
    fs::copy(manager, image.join("manager")).unwrap();
    let config = tree(&project.join("config"));
    place(&config, &scratch.join("config"));
}

/// The command that runs a script of this repository beside a node with that image.
pub fn node_with(scratch: &Path, script: &Path) -> Command {
    // `cargo test --workspace` builds it next to the tool.
    let node = Path::new(env!("CARGO_BIN_EXE_operator-forge")).with_file_name("process-node");
    let mut node = Command::new(node);
    let image = scratch.join("image");
    let image = format!("controller:latest={},/manager", image.display());
    node.args(["run", "--image", &image, "--", "sh"])
        .arg(repository().join(script))
        .current_dir(scratch)
        .env("TMPDIR", scratch);
    node
}

/// `deployed.sh` is the test.
#[test]
fn webhooks_answer_throughout_a_rollout() {
    let scratch = TempDir::new().unwrap();
    let (directory, lock) = place_of_projects();
    placed(&directory, &webhooks::build(&directory), scratch.path());
    drop(lock);
    let mut node = node_with(scratch.path(), Path::new("tests/projects/deployed.sh"));
    eprintln!("{}", succeed("deployed.sh", &mut node));
}
