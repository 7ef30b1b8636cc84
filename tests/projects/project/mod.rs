//! A generated project on disk, and what runs in it. All tests build at the same paths, so that Cargo compiles the runtime
//! once and not per project.
#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::Instant,
};

use tempfile::TempDir;

use crate::session::{repository, shell, tree};

pub mod manifests;

use operator_runtime::envtest::{ControlPlane, Options};

pub type Tree = BTreeMap<String, Vec<u8>>;

/// What commands make of a project of this name, with the edits of a user: file, text of the template, text of the user.
pub fn written(name: &str, commands: &[String], edits: &[(&str, &str, &str)]) -> Tree {
    let scratch = TempDir::new().unwrap();
    for command in commands {
        let step = shell(scratch.path(), &format!("operator-forge {command}"));
        assert_eq!(step.code, 0, "{command}\n{}", step.output);
    }
    let mut files = tree(&scratch.path().join(name));
    for (path, from, to) in edits {
        let file = files.get_mut(*path).expect(path);
        let text = String::from_utf8(file.clone()).unwrap();
        assert!(text.contains(from), "{path} has no `{from}`:\n{text}");
        *file = text.replacen(from, to, 1).into_bytes();
    }
    files
}

/// etcd and kube-apiserver; the test fails without them, and says how to get them.
pub fn control_plane() -> ControlPlane {
    assert!(
        env::var_os("KUBEBUILDER_ASSETS").is_some_and(|value| !value.is_empty()),
        "KUBEBUILDER_ASSETS names no control plane: run `make test`, which builds one"
    );
    ControlPlane::start_with(&Options::default()).unwrap_or_else(|error| panic!("{error:#}"))
}

/// Where this repository keeps what is made once and used by every run.
pub fn cache() -> PathBuf {
    let cache = match env::var_os("XDG_CACHE_HOME").filter(|value| !value.is_empty()) {
        Some(cache) => PathBuf::from(cache),
        None => env::home_dir().expect("HOME is set").join(".cache"),
    };
    cache.join("operator-forge")
}

/// Where all generated projects are built, for one at a time: until the lock is dropped.
pub fn place_of_projects() -> (PathBuf, fs::File) {
    let directory = cache().join("generated/project");
    fs::create_dir_all(directory.parent().unwrap()).unwrap();
    let lock = fs::File::create(directory.with_extension("lock")).unwrap();
    lock.lock().unwrap();
    (directory, lock)
}

/// Makes `directory` hold `files`; what holds the right text already is not touched, so that Cargo does not rebuild it.
///
/// All that Cargo builds is placed in one directory: of two, it would take the runtime of one for that of the other, because
/// to it both are at `vendor/operator-runtime` of a workspace, and fresh by their time.
pub fn place(files: &Tree, directory: &Path) {
    fs::create_dir_all(directory).unwrap();
    for (path, bytes) in tree(directory) {
        if files.get(&path) != Some(&bytes) {
            let file = directory.join(path);
            fs::remove_file(&file).unwrap();
            let parents = file.ancestors().skip(1);
            parents
                .take_while(|parent| fs::remove_dir(parent).is_ok())
                .count();
        }
    }
    for (path, bytes) in files {
        let file = directory.join(path);
        if !file.exists() {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, bytes).unwrap();
        }
    }
}

/// Runs a command to its end; fails with the end of its output if it fails.
#[track_caller]
pub fn succeed(what: &str, command: &mut Command) -> String {
    let started = Instant::now();
    let Output {
        status,
        stdout,
        stderr,
    } = command
        .stdin(Stdio::null())
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let (stdout, stderr) = (
        String::from_utf8_lossy(&stdout),
        String::from_utf8_lossy(&stderr),
    );
    if !status.success() {
        let lines: Vec<&str> = stderr.lines().chain(stdout.lines()).collect();
        let end = lines[lines.len().saturating_sub(100)..].join("\n");
        panic!("{what}: {command:?}: {status}\n{end}");
    }
    eprintln!("{what}: {} s", started.elapsed().as_secs());
    stdout.into_owned()
}

/// A Python with Ansible, which is installed once as the script of a project does.
fn ansible() -> PathBuf {
    let script = repository().join("tests/ansible/build.sh");
    let python = succeed("Ansible", Command::new("sh").arg(script));
    PathBuf::from(python.trim())
}

/// `cargo`, with the target directory that all generated projects share.
pub fn cargo(directory: &Path, arguments: &str) -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args(arguments.split(' '))
        .current_dir(directory)
        .env("CARGO_TARGET_DIR", cache().join("target"))
        .env("CARGO_TERM_COLOR", "never");
    with_ansible(&mut cargo, directory);
    cargo
}

/// Gives a command in a project with roles or playbooks what its own `make test` would install.
pub fn with_ansible(command: &mut Command, directory: &Path) {
    if directory.join("ansible/install.sh").exists() {
        let python = ansible();
        let place = python.ancestors().nth(2).unwrap();
        command
            .env("ANSIBLE_COLLECTIONS_PATH", place.join("collections"))
            .env("ANSIBLE_GATHERING", "explicit")
            .env("ANSIBLE_PYTHON", &python);
    }
}
