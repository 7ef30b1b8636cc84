//! Each command as a whole process, against `cp -r` of the tree that it leaves: medians of alternating runs, their ratio,
//! and the peak memory. Run it with `make bench`; it asserts no times.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::json;
use tempfile::TempDir;

const MANY: usize = 500;
const INIT: &str = "init --domain example.com --project-name bench --vcs none";
const BASES: &str = "config/crd/bases";
const DEFINITION: &str = include_str!(
    "../snapshots/manifests/one-api/config/crd/bases/cache.example.com_memcacheds.yaml"
);
const CREATE: &str = "create api --group cache --version v1alpha1 --kind Memcached";

fn main() {
    // `cargo test --benches` only wants to know that it compiles and starts.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    println!("{HEADER}");
    let empty = TempDir::new().unwrap();
    let initialised = made(&[INIT]);
    let one = made(&[INIT, CREATE]);
    row("init", empty.path(), 40, INIT);
    row("create api", initialised.path(), 40, CREATE);
    let dry = format!("{CREATE} --dry-run");
    row("create api --dry-run", initialised.path(), 40, &dry);
    row("sync", one.path(), 40, "sync");
    row("check", one.path(), 40, "check");
    row("version", one.path(), 40, "version");
    println!("{MANY} APIs");
    let many = many();
    for command in [
        "check",
        "status",
        "sync",
        "update",
        CREATE,
        "create webhook --group group0 --version v1 --kind Kind0x --defaulting --validation",
        "edit --namespaced",
        "edit api --group group0 --version v1 --kind Kind0x --short-name kx",
        "rename --group group0 --kind Kind0x --to Renamed",
        "own Makefile",
        "delete api --group group0 --version v1 --kind Kind0x",
    ] {
        row(&name(command), many.path(), 9, command);
    }
    let version = "create api --group group0 --version v2 --kind Kind0x --from-version v1";
    row("create api --from-version", many.path(), 9, version);
    time(tool(many.path(), CREATE));
    row("undo", many.path(), 9, "undo");
    println!("{MANY} APIs, every Rust file of the user's edited");
    edit(many.path());
    for command in [
        "check",
        "status",
        "sync",
        "delete api --group group0 --version v1 --kind Kind0x --keep-files",
    ] {
        row(&name(command), many.path(), 9, command);
    }
    println!("{MANY} committed CRDs");
    let crds = definitions();
    row("check --crds HEAD", crds.path(), 9, "check --crds HEAD");
    println!("{MANY} committed CRDs, every one edited");
    for file in files(&crds.path().join(BASES)) {
        let text = fs::read_to_string(&file).unwrap();
        fs::write(file, text + "# edited\n").unwrap();
    }
    row("check --crds HEAD", crds.path(), 9, "check --crds HEAD");
}

const HEADER: &str = "\
command                     time    cp -r   ratio    memory    files
                              ms       ms               MiB         ";

/// A command without its flags.
fn name(command: &str) -> String {
    let words = command.split(' ').take_while(|word| !word.starts_with('-'));
    words.collect::<Vec<_>>().join(" ")
}

/// Adds a line to every type, controller and test.
fn edit(project: &Path) {
    for directory in ["src/api", "src/controllers", "tests/controllers"] {
        for file in files(&project.join(directory)) {
            let text = fs::read_to_string(&file).unwrap();
            fs::write(file, text + "// edited\n").unwrap();
        }
    }
}

/// Runs a command in fresh copies of `start` and prints its row.
fn row(name: &str, start: &Path, rounds: usize, command: &str) {
    let (mut ours, mut copies) = (Vec::new(), Vec::new());
    let (mut memory, mut files) = (None, 0);
    for round in 0..rounds {
        let scratch = TempDir::new().unwrap();
        let project = scratch.path().join("project");
        copy(start, &project);
        settle(&project);
        ours.push(time(tool(&project, command)));
        let mut cp = Command::new("cp");
        cp.arg("-r").arg(&project).arg(scratch.path().join("copy"));
        copies.push(time(cp));
        if round == 0 {
            files = count(&project);
            let again = scratch.path().join("again");
            copy(start, &again);
            memory = peak_memory(&again, command);
        }
    }
    let (ours, copies) = (median(ours), median(copies));
    let memory = memory.map_or("?".to_owned(), |kilobytes| {
        format!("{:.1}", kilobytes as f64 / 1024.0)
    });
    println!(
        "{name:<25} {:>6.1} {:>8.1} {:>7.2} {memory:>9} {files:>8}",
        milliseconds(ours),
        milliseconds(copies),
        ours.as_secs_f64() / copies.as_secs_f64(),
    );
}

fn tool(directory: &Path, command: &str) -> Command {
    let mut tool = Command::new(env!("CARGO_BIN_EXE_operator-forge"));
    tool.args(command.split(' ')).current_dir(directory);
    tool
}

fn time(mut command: Command) -> Duration {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let start = Instant::now();
    let status = command.status().expect("the command runs");
    let elapsed = start.elapsed();
    assert!(status.success(), "{command:?}: {status}");
    elapsed
}

/// In KiB, as GNU time reports it; nothing where that is not installed.
fn peak_memory(directory: &Path, command: &str) -> Option<u64> {
    let output = Command::new("/usr/bin/time")
        .args(["-f", "%M", env!("CARGO_BIN_EXE_operator-forge"), "--quiet"])
        .args(command.split(' '))
        .current_dir(directory)
        .output()
        .ok()?;
    String::from_utf8(output.stderr).ok()?.trim().parse().ok()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// A directory in which these commands ran.
fn made(commands: &[&str]) -> TempDir {
    let directory = TempDir::new().unwrap();
    for command in commands {
        time(tool(directory.path(), command));
    }
    directory
}

/// A project with many APIs, each with a controller, in ten groups.
fn many() -> TempDir {
    let resource = |number: usize| {
        json!({
            "group": format!("group{}", number % 10),
            "version": "v1",
            "kind": format!("Kind{number}x"),
            "domain": "example.com",
            "api": { "crdVersion": "v1", "namespaced": true },
            "controller": true,
        })
    };
    let project = json!({
        "version": "3",
        "layout": ["rust.operator-forge/v1"],
        "domain": "example.com",
        "projectName": "bench",
        "plugins": { "rust.operator-forge/v1": { "templates": operator_forge::template::SET } },
        "resources": (0..MANY).map(resource).collect::<Vec<_>>(),
    });
    let directory = TempDir::new().unwrap();
    // YAML can be written as JSON.
    fs::write(directory.path().join("PROJECT"), project.to_string()).unwrap();
    time(tool(directory.path(), "sync"));
    directory
}

/// A repository with a definition for each of many APIs.
fn definitions() -> TempDir {
    let directory = made(&[INIT]);
    let bases = directory.path().join(BASES);
    fs::create_dir_all(&bases).unwrap();
    for number in 0..MANY {
        let text = DEFINITION
            .replace("Memcached", &format!("Kind{number}x"))
            .replace("memcached", &format!("kind{number}x"));
        fs::write(bases.join(format!("kind{number}x.yaml")), text).unwrap();
    }
    for arguments in [
        "init --quiet",
        "add .",
        "-c user.name=bench -c user.email=bench@example.com commit --quiet --message released",
    ] {
        let mut git = Command::new("git");
        git.args(arguments.split(' ')).current_dir(directory.path());
        time(git);
    }
    directory
}

fn files(root: &Path) -> impl Iterator<Item = PathBuf> {
    walkdir::WalkDir::new(root)
        .into_iter()
        .map(|entry| entry.expect("a readable tree").into_path())
        .filter(|path| path.is_file())
}

/// Waits until the copy is on disk: on ext4, the first `fsync` of a command would do so, and be measured.
fn settle(project: &Path) {
    let status = Command::new("sync").arg("-f").arg(project).status();
    assert!(status.is_ok_and(|status| status.success()), "sync -f");
}

fn count(root: &Path) -> usize {
    files(root).count()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for file in files(from) {
        let target = to.join(file.strip_prefix(from).unwrap());
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::copy(file, target).unwrap();
    }
}
