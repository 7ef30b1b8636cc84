//! The operator of `webhooks.rs`, deployed by `kubectl apply -k config/default` as it is: Pods of a Deployment, and webhooks
//! that the API server calls through their Service. The node runs Pods as processes, without a container engine.
#![cfg(target_os = "linux")]

use std::{fs, path::Path, process::Command};

use crate::project::{place, place_of_projects, succeed};
use crate::session::{repository, tree};
use crate::webhooks;
use tempfile::TempDir;

/// `deployed.sh` is the test.
#[test]
fn webhooks_answer_throughout_a_rollout() {
    let scratch = TempDir::new().unwrap();
    let image = scratch.path().join("image");
    fs::create_dir(&image).unwrap();
    let (directory, lock) = place_of_projects();
    fs::copy(webhooks::build(&directory), image.join("manager")).unwrap();
    let config = tree(&directory.join("config"));
    place(&config, &scratch.path().join("config"));
    drop(lock);
    // `cargo test --workspace` builds it next to the tool.
    let node = Path::new(env!("CARGO_BIN_EXE_operator-forge")).with_file_name("process-node");
    let mut node = Command::new(node);
    let image = format!("controller:latest={},/manager", image.display());
    node.args(["run", "--image", &image, "--", "sh"])
        .arg(repository().join("tests/projects/deployed.sh"))
        .current_dir(scratch.path())
        .env("TMPDIR", scratch.path());
    eprintln!("{}", succeed("deployed.sh", &mut node));
}
