//! The projects that older operator-forges made: `tests/upgrades/set-N.bundle`.
#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::{collections::BTreeMap, fs, path::Path, process::Command};

use crate::session::{repository, scratch, shell, tree};

pub type Tree = BTreeMap<String, Vec<u8>>;

/// The sets that are kept.
pub const SETS: [u32; 1] = [5];

/// Every project of a set, by the name that it has in `snapshots/projects`.
pub fn projects(set: u32) -> BTreeMap<String, Tree> {
    let scratch = scratch();
    git(scratch.path(), "init --quiet .");
    git(scratch.path(), "config core.autocrlf false");
    fs::write(scratch.path().join(".git/info/attributes"), "* -text\n").unwrap();
    for older in SETS.into_iter().take_while(|older| *older <= set) {
        let bundle = repository().join(format!("tests/upgrades/set-{older}.bundle"));
        let fetch = format!("fetch --quiet {} refs/tags/*:refs/tags/*", bundle.display());
        git(scratch.path(), &fetch);
    }
    git(
        scratch.path(),
        &format!("checkout --quiet --force set-{set}"),
    );
    let mut projects = BTreeMap::<String, Tree>::new();
    for (path, bytes) in tree(scratch.path()) {
        let (project, path) = path.split_once('/').expect("a directory for each project");
        projects
            .entry(project.to_owned())
            .or_default()
            .insert(path.to_owned(), bytes);
    }
    projects
}

/// The same project as the operator-forge of today renders it, from what `PROJECT` says after the update.
pub fn fresh(made: &Tree) -> Tree {
    let project = String::from_utf8(made["PROJECT"].clone()).unwrap();
    let updated = project.replace("    templates: 5\n", "    templates: 6\n");
    assert_ne!(project, updated);
    let directory = scratch();
    fs::write(directory.path().join("PROJECT"), updated).unwrap();
    // The definitions of its types are the user's, as `PROJECT` is.
    let definitions = made
        .iter()
        .filter(|(path, _)| path.starts_with(".operator-forge/crds/"));
    let definitions = definitions.map(|(path, bytes)| (path.clone(), bytes.clone()));
    write(&definitions.collect(), directory.path());
    let step = shell(directory.path(), "operator-forge sync");
    assert_eq!(step.code, 0, "{}", step.output);
    let mut fresh = tree(directory.path());
    // A port writes it once, and no command changes it.
    if let Some(notes) = made.get("PORTING.md") {
        fresh.insert("PORTING.md".to_owned(), notes.clone());
    }
    fresh
}

/// Writes `files` into `directory`.
pub fn write(files: &Tree, directory: &Path) {
    for (path, bytes) in files {
        let file = directory.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, bytes).unwrap();
    }
}

/// The owner of each file, as the lock has it.
pub fn owners(files: &Tree) -> BTreeMap<String, String> {
    let lock = String::from_utf8(files[".operator-forge/lock"].clone()).unwrap();
    let rows = lock
        .lines()
        .map(|line| line.splitn(3, ' ').collect::<Vec<_>>());
    rows.filter(|row| row.len() == 3 && row[1].len() == 64)
        .map(|row| (row[2].to_owned(), row[0].to_owned()))
        .collect()
}

#[track_caller]
pub fn git(directory: &Path, arguments: &str) {
    let output = Command::new("git")
        .args(arguments.split(' '))
        .current_dir(directory)
        .output()
        .expect("git runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments}\n{said}");
}
