//! Pods of a real control plane, run as processes.
#![cfg(target_os = "linux")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    thread::sleep,
    time::{Duration, Instant},
};

const PROGRAM: &str = env!("CARGO_BIN_EXE_process-node");

/// `tests/node.sh` is the test. Afterwards nothing is left.
#[test]
fn pods_run_and_nothing_is_left() {
    let answer = Path::new(PROGRAM).with_file_name("examples").join("answer");
    let directory = directory("story");
    let image = directory.join("image");
    fs::create_dir_all(&image).unwrap();
    fs::copy(&answer, image.join("answer")).unwrap();
    let status = Command::new(PROGRAM)
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
        .env("PROCESS_NODE", PROGRAM)
        .env("ANSWER", answer)
        .status()
        .unwrap();
    fs::remove_dir_all(image).unwrap();
    // Fails if the machine's directory is still there.
    fs::remove_dir(directory).unwrap();
    assert!(status.success());
}

/// Whatever signal ends the program, the machine ends with it.
#[test]
fn a_signal_leaves_nothing() {
    for name in ["KILL", "TERM", "INT"] {
        let directory = directory(name);
        fs::create_dir_all(&directory).unwrap();
        // A test in the background may ignore signals, and so would the program.
        let mut program = Command::new("env")
            .args([
                "--default-signal",
                PROGRAM,
                "run",
                "--",
                "sh",
                "-c",
                "touch \"$TMPDIR/ready\"; sleep 600",
            ])
            .env("TMPDIR", &directory)
            .spawn()
            .unwrap();
        until(|| directory.join("ready").exists());
        let mut kill = Command::new("kill");
        kill.args([format!("-{name}"), program.id().to_string()]);
        assert!(kill.status().unwrap().success());
        assert!(!program.wait().unwrap().success());
        fs::remove_file(directory.join("ready")).unwrap();
        // A process names the machine's directory in its arguments or is in it.
        until(|| fs::remove_dir(&directory).is_ok());
        until(|| !has_process(&directory));
    }
}

/// Even in the milliseconds in which it starts.
#[test]
fn a_kill_at_the_start_leaves_nothing() {
    let directory = directory("start");
    fs::create_dir_all(&directory).unwrap();
    for milliseconds in 0..20 {
        let mut program = Command::new(PROGRAM)
            .args(["run", "--", "sleep", "600"])
            .env("TMPDIR", &directory)
            .env("RUST_BACKTRACE", "0")
            .spawn()
            .unwrap();
        sleep(Duration::from_millis(milliseconds));
        program.kill().unwrap();
        program.wait().unwrap();
    }
    until(|| !has_process(&directory) && is_empty(&directory));
    fs::remove_dir(&directory).unwrap();
}

fn is_empty(directory: &Path) -> bool {
    fs::read_dir(directory).unwrap().next().is_none()
}

fn has_process(directory: &Path) -> bool {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let is_of_machine = |process: PathBuf| {
        let arguments = fs::read(process.join("cmdline")).unwrap_or_default();
        let is_named = String::from_utf8_lossy(&arguments).contains(directory.to_str().unwrap());
        is_named || fs::read_link(process.join("cwd")).is_ok_and(|it| it.starts_with(directory))
    };
    processes.map(|entry| entry.path()).any(is_of_machine)
}

/// Waits for at most a minute.
fn until(holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(60));
        sleep(Duration::from_millis(100));
    }
}

/// A path of this test run.
fn directory(name: &str) -> PathBuf {
    let name = format!("process-node-test-{}-{name}", std::process::id());
    std::env::temp_dir().join(name)
}
