//! Projects that older operator-forges made, updated by this one: a fresh project of today plus exactly the user's edits.

#[path = "upgrades/fixture.rs"]
mod fixture;
mod session;

use std::{collections::BTreeSet, fs, path::Path};

use fixture::{SETS, Tree, fresh, owners, projects, write};
use serde_json::Value;
use session::{assert_same, bless, consoles, parse, shell, tree};
use tempfile::TempDir;

/// Runs a command that has to succeed and returns its JSON.
#[track_caller]
fn json(directory: &Path, command: &str) -> Value {
    let step = shell(
        directory,
        &format!("operator-forge {command} --output json"),
    );
    assert_eq!(step.code, 0, "{command}\n{}", step.output);
    serde_json::from_str(&step.output).expect("one JSON object")
}

/// A project that was made today from `made`'s own texts: what the update leaves to the user is as it was.
fn expected(name: &str, made: &Tree) -> Tree {
    let mut expected = fresh(name);
    for (path, owner) in owners(&expected) {
        if let Some(bytes) = made.get(&path).filter(|_| owner == "user") {
            expected.insert(path, bytes.clone());
        }
    }
    expected
}

/// Asserts equality of everything but the lock, which remembers what User files were made as.
#[track_caller]
fn assert_project(what: &str, expected: &Tree, found: &Tree) {
    let without_lock = |tree: &Tree| {
        let mut tree = tree.clone();
        tree.remove(".operator-forge/lock");
        tree
    };
    assert_same(what, &without_lock(expected), &without_lock(found));
    assert_eq!(
        owners(expected),
        owners(found),
        "{what}: owners in the lock"
    );
}

/// What holds after every update: nothing is left to do, for `sync` or a second `update`.
#[track_caller]
fn assert_settled(what: &str, directory: &Path) {
    let before = tree(directory);
    for command in ["sync --dry-run", "sync", "update"] {
        let said = json(directory, command);
        assert_eq!(
            said["changes"],
            Value::Array(Vec::new()),
            "{what}: {command}"
        );
        assert_same(&format!("{what}: {command}"), &before, &tree(directory));
    }
}

/// The dry run names the changes of the update and makes none of them; the update makes no other ones.
#[track_caller]
fn update(what: &str, directory: &Path) {
    let before = tree(directory);
    let planned = json(directory, "update --dry-run");
    assert_same(&format!("{what}: a dry run"), &before, &tree(directory));
    let done = json(directory, "update");
    assert_eq!(planned["changes"], done["changes"], "{what}");
    let told: BTreeSet<&str> = done["changes"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|change| change["path"].as_str())
        .collect();
    let after = tree(directory);
    let changed: BTreeSet<&str> = before
        .keys()
        .chain(after.keys())
        .filter(|path| before.get(*path) != after.get(*path))
        .filter(|path| !path.starts_with(".operator-forge/"))
        .map(String::as_str)
        .collect();
    assert_eq!(told, changed, "{what}");
}

#[test]
fn an_unedited_project_becomes_a_fresh_one() {
    for set in SETS {
        for (name, made) in projects(set) {
            let what = format!("{name} of set {set}");
            let directory = TempDir::new().unwrap();
            write(&made, directory.path());
            update(&what, directory.path());
            assert_project(&what, &expected(&name, &made), &tree(directory.path()));
            assert_settled(&what, directory.path());
        }
    }
}

/// The sessions of `snapshots/upgrades`, in a directory with a project of each set: `1/one-api`, …
#[test]
fn sessions() {
    let directory = TempDir::new().unwrap();
    for set in SETS {
        for (name, made) in projects(set) {
            write(&made, &directory.path().join(set.to_string()).join(name));
        }
    }
    for console in consoles("upgrades") {
        let text = fs::read_to_string(&console).unwrap();
        let copy = TempDir::new().unwrap();
        write(&tree(directory.path()), copy.path());
        let found = session::write(&session::run(copy.path(), &parse(&text)));
        if bless() {
            fs::write(&console, found).unwrap();
            continue;
        }
        assert_eq!(text, found, "{} (BLESS=1 accepts it)", console.display());
    }
}
