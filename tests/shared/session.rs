//! Console sessions: commands with what they print and how they end, run for real in an empty directory.
//!
//! A `.console` file is a list of `$ command` lines, each followed by its output (both streams, in order) and, unless it
//! is 0, a line `[exit N]`. `BLESS=1` writes what happened instead of comparing.
#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use operator_forge::template::catalogue::{self, Scope};
use tempfile::TempDir;

/// The repository.
pub fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Whether to write snapshots instead of comparing them.
pub fn bless() -> bool {
    std::env::var_os("BLESS").is_some()
}

/// A directory for a test: in memory where the system has a place for it, as there are thousands.
pub fn scratch() -> TempDir {
    match TempDir::new_in("/dev/shm") {
        Ok(directory) => directory,
        Err(_) => TempDir::new().unwrap(),
    }
}

/// One command of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub command: String,
    pub output: String,
    pub code: i32,
}

/// Parses a `.console` file.
pub fn parse(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for line in text.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            steps.push(Step {
                command: command.to_owned(),
                output: String::new(),
                code: 0,
            });
        } else if let Some(step) = steps.last_mut() {
            match line
                .strip_prefix("[exit ")
                .and_then(|rest| rest.strip_suffix(']'))
            {
                Some(code) => step.code = code.parse().expect("a number in [exit N]"),
                None => {
                    step.output.push_str(line);
                    step.output.push('\n');
                }
            }
        }
    }
    steps
}

/// The sessions that made the projects in `snapshots/projects`, by name, for what holds of any project. All but one have no
/// runtime in their tree, which would make every look at it five times as long.
pub fn projects() -> Vec<(String, Vec<Step>)> {
    let read = |path: &PathBuf| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let mut steps = parse(&fs::read_to_string(path).unwrap());
        if name != "minimal" {
            steps[0].command.push_str(" --runtime registry");
        }
        (name, steps)
    };
    consoles("projects").iter().map(read).collect()
}

/// The text of a `.console` file.
pub fn write(steps: &[Step]) -> String {
    steps
        .iter()
        .map(|step| {
            let code = if step.code == 0 {
                String::new()
            } else {
                format!("[exit {}]\n", step.code)
            };
            format!("$ {}\n{}{code}", step.command, step.output)
        })
        .collect()
}

/// Runs `command` in a shell with the freshly built tool on its path, without a terminal and without the caller's
/// settings.
pub fn shell(directory: &Path, command: &str) -> Step {
    let output = in_shell(directory, &format!("{{ {command}\n}} 2>&1"))
        .stdin(Stdio::null())
        .output()
        .expect("sh runs");
    let mut text = String::from_utf8(output.stdout)
        .expect("UTF-8 output")
        .replace(&directory.display().to_string(), "…")
        .replace(&repository().join("snapshots").display().to_string(), "…")
        .replace(&repository().join("tests").display().to_string(), "…");
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    Step {
        command: command.to_owned(),
        output: without_number(&text),
        code: output.status.code().unwrap_or(-1),
    }
}

/// A shell that runs `command` with the freshly built tool on its path, and without the caller's settings.
pub fn in_shell(directory: &Path, command: &str) -> Command {
    let tool = Path::new(env!("CARGO_BIN_EXE_operator-forge"))
        .parent()
        .expect("the tool has a directory");
    let path = std::env::join_paths(std::iter::once(tool.to_path_buf()).chain(
        std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()),
    ))
    .expect("a PATH without colons");
    let mut shell = Command::new("sh");
    shell
        .args(["-c", command])
        .current_dir(directory)
        .env("PATH", path)
        .env("TERM", "dumb")
        .env("CRDS", repository().join("snapshots/crds"))
        .env("CHARTS", repository().join("tests/helm-charts"))
        .env(
            "ROLES",
            repository().join("tests/operator-sdk/memcached/roles"),
        )
        .env("GO", repository().join("tests/go-projects"))
        .env("SDK", repository().join("tests/operator-sdk"))
        .env("LC_ALL", "C")
        .env(
            "GIT_CEILING_DIRECTORIES",
            directory.parent().unwrap_or(directory),
        );
    shell
}

/// Runs all steps in `directory`.
pub fn run(directory: &Path, steps: &[Step]) -> Vec<Step> {
    steps
        .iter()
        .map(|step| shell(directory, &step.command))
        .collect()
}

/// Every file below `root` with its bytes, and every symbolic link with its target. `.git` is left out, and what is of
/// one copy of a project only and hides itself from git.
pub fn tree(root: &Path) -> BTreeMap<String, Vec<u8>> {
    walkdir::WalkDir::new(root)
        .min_depth(1)
        .into_iter()
        .filter_entry(|entry| {
            entry.file_name() != ".git" && !entry.path().ends_with(".operator-forge/local")
        })
        .map(|entry| entry.expect("a readable tree"))
        .filter(|entry| !entry.file_type().is_dir())
        .map(|entry| {
            let path = entry
                .path()
                .strip_prefix(root)
                .expect("below the root")
                .display()
                .to_string();
            let bytes = match entry.path_is_symlink() {
                true => fs::read_link(entry.path())
                    .expect("a link")
                    .into_os_string()
                    .into_encoded_bytes(),
                false => fs::read(entry.path()).expect("a readable file"),
            };
            (path, bytes)
        })
        .collect()
}

/// Where a project has the sources of the runtime, the same in each.
const RUNTIME: &str = "vendor/";

/// A project without the runtime's source and its rows of the lock.
pub fn without_runtime(mut tree: BTreeMap<String, Vec<u8>>) -> BTreeMap<String, Vec<u8>> {
    tree.retain(|path, _| !path.contains(RUNTIME));
    for (_, lock) in tree
        .iter_mut()
        .filter(|(path, _)| path.ends_with(".operator-forge/lock"))
    {
        let text = String::from_utf8_lossy(lock);
        let rows = text.lines().filter(|row| !row.contains(RUNTIME));
        *lock = rows.flat_map(|row| [row, "\n"]).collect::<String>().into();
    }
    tree
}

/// What is recorded of the project called `name`, with the files that it shares with the smallest one. What follows from others is
/// missing: the bases of merges, and `Cargo.lock`.
pub fn recorded(name: &str) -> BTreeMap<String, Vec<u8>> {
    let project = |name: &str| tree(&repository().join("snapshots/projects").join(name));
    let mut all = project("minimal");
    all.extend(project(name));
    all
}

/// What a command prints, with a word for the number of the runtime's files.
fn without_number(text: &str) -> String {
    let of_runtime = catalogue::of(Scope::Runtime(None)).count();
    let others = |line: &str| -> Option<String> {
        let (before, after) = line.split_once(" files")?;
        let (words, number) = before.rsplit_once(' ')?;
        let others = number.parse::<usize>().ok()?.checked_sub(of_runtime)?;
        let counts = ["Done", "Dry run"].contains(&words.trim_start())
            || after.starts_with(" would be created");
        counts.then(|| format!("{words} {others} files and those of vendor/{after}"))
    };
    let line = |line: &str| others(line).unwrap_or_else(|| line.to_owned());
    text.lines().map(|it| line(it) + "\n").collect()
}

/// Asserts that two trees are the same, naming the first files that are not.
#[track_caller]
pub fn assert_same(
    what: &str,
    expected: &BTreeMap<String, Vec<u8>>,
    found: &BTreeMap<String, Vec<u8>>,
) {
    let mut wrong = Vec::new();
    for (path, bytes) in expected {
        match found.get(path) {
            None => wrong.push(format!("missing: {path}")),
            Some(other) if other != bytes => {
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                wrong.push(format!(
                    "differs: {path}\n{}",
                    diffy::create_patch(&text(bytes), &text(other))
                ));
            }
            Some(_) => {}
        }
    }
    wrong.extend(
        found
            .keys()
            .filter(|path| !expected.contains_key(*path))
            .map(|path| format!("unexpected: {path}")),
    );
    assert!(
        wrong.is_empty(),
        "{what}: {} differences (BLESS=1 accepts them)\n{}",
        wrong.len(),
        wrong[..wrong.len().min(8)].join("\n")
    );
}

/// The `.console` files of a folder of `snapshots/`, sorted.
pub fn consoles(folder: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(repository().join("snapshots").join(folder))
        .expect("the folder is there")
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "console")
        })
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no sessions in {folder}");
    files
}
