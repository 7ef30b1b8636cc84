//! Pods of a real control plane, run as processes.
#![cfg(target_os = "linux")]

use std::{fs, path::Path, process::Command};

/// `tests/node.sh` is the test. Afterwards nothing is left.
#[test]
fn pods_run_and_nothing_is_left() {
    let program = Path::new(env!("CARGO_BIN_EXE_process-node"));
    let answer = program.with_file_name("examples").join("answer");
    let directory = std::env::temp_dir().join(format!("process-node-test-{}", std::process::id()));
    let image = directory.join("image");
    fs::create_dir_all(&image).unwrap();
    fs::copy(answer, image.join("answer")).unwrap();
    let status = Command::new(program)
        .args([
            "run",
            "--image",
            &format!("answer={},/answer", image.display()),
        ])
        .args([
            "--",
            "sh",
            concat!(env!("CARGO_MANIFEST_DIR"), "/tests/node.sh"),
        ])
        .env("TMPDIR", &directory)
        .status()
        .unwrap();
    assert!(status.success());
    fs::remove_dir_all(image).unwrap();
    // Fails if the machine's directory is still there.
    fs::remove_dir(directory).unwrap();
}
