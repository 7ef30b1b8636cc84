//! The laws of the engine, on every project in `snapshots/`: idempotence, inverse, confluence, convergence.
//!
//! The inverse of a create is taken the way that a `git revert` of `PROJECT` takes it: the old text, then `sync`.

mod session;

use std::{collections::BTreeMap, fs, path::Path};

use session::{Step, assert_same, consoles, parse, shell, tree};
use tempfile::TempDir;

type Tree = BTreeMap<String, Vec<u8>>;

fn sessions() -> Vec<(String, Vec<Step>)> {
    let read = |path: &std::path::PathBuf| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        (name, parse(&fs::read_to_string(path).unwrap()))
    };
    consoles("projects").iter().map(read).collect()
}

#[track_caller]
fn succeed(directory: &Path, command: &str) {
    let step = shell(directory, command);
    assert_eq!(step.code, 0, "{command}\n{}", step.output);
}

/// The tree that the commands make, or `None` if one of them is refused.
fn made_by(commands: &[&str]) -> Option<Tree> {
    let directory = TempDir::new().unwrap();
    for command in commands {
        if shell(directory.path(), command).code != 0 {
            return None;
        }
    }
    Some(tree(directory.path()))
}

fn copy(from: &Tree, to: &Path) {
    for (path, bytes) in from {
        let file = to.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, bytes).unwrap();
    }
}

#[test]
fn idempotence() {
    for (name, steps) in sessions() {
        let directory = TempDir::new().unwrap();
        for step in steps {
            succeed(directory.path(), &step.command);
            let before = tree(directory.path());
            let what = format!("{name}: {}", step.command);
            succeed(directory.path(), "operator-forge check");
            succeed(directory.path(), "operator-forge sync");
            assert_same(&what, &before, &tree(directory.path()));
            let again = shell(directory.path(), &step.command);
            assert_eq!(again.code, 1, "{what} was accepted twice\n{}", again.output);
            assert_same(&what, &before, &tree(directory.path()));
        }
    }
}

#[test]
fn inverse() {
    for (name, steps) in sessions() {
        let directory = TempDir::new().unwrap();
        succeed(directory.path(), &steps[0].command);
        for step in &steps[1..] {
            let before = tree(directory.path());
            let project = fs::read(directory.path().join("PROJECT")).unwrap();
            succeed(directory.path(), &step.command);
            let after = fs::read(directory.path().join("PROJECT")).unwrap();
            fs::write(directory.path().join("PROJECT"), project).unwrap();
            succeed(directory.path(), "operator-forge sync");
            assert_same(
                &format!("{name}: the inverse of {}", step.command),
                &before,
                &tree(directory.path()),
            );
            fs::write(directory.path().join("PROJECT"), after).unwrap();
            succeed(directory.path(), "operator-forge sync");
        }
    }
}

/// `undo` after each step, and `undo` of that: the tree before it and after it, byte for byte.
#[test]
fn undo() {
    for (name, steps) in sessions() {
        let directory = TempDir::new().unwrap();
        for step in steps {
            let before = tree(directory.path());
            succeed(directory.path(), &step.command);
            let after = tree(directory.path());
            for (what, expected) in [("undo", &before), ("undo of undo", &after)] {
                succeed(directory.path(), "operator-forge undo");
                assert_same(
                    &format!("{name}: {what} of {}", step.command),
                    expected,
                    &tree(directory.path()),
                );
            }
        }
    }
}

#[test]
fn confluence() {
    for (name, steps) in sessions() {
        let init = &steps[0].command;
        for (at, first) in steps[1..].iter().enumerate() {
            for second in &steps[at + 2..] {
                let (first, second) = (&first.command, &second.command);
                let forward = made_by(&[init, first, second]);
                let backward = made_by(&[init, second, first]);
                if let (Some(forward), Some(backward)) = (forward, backward) {
                    assert_same(
                        &format!("{name}: {first} and {second} in either order"),
                        &forward,
                        &backward,
                    );
                }
            }
        }
    }
}

#[test]
fn convergence() {
    for (name, steps) in sessions() {
        let commands: Vec<&str> = steps.iter().map(|step| step.command.as_str()).collect();
        let incremental = made_by(&commands).expect("the session succeeds");
        let fresh = TempDir::new().unwrap();
        copy(
            &Tree::from([("PROJECT".to_owned(), incremental["PROJECT"].clone())]),
            fresh.path(),
        );
        succeed(fresh.path(), "operator-forge sync");
        assert_same(
            &format!("{name}: PROJECT rendered into an empty directory"),
            &incremental,
            &tree(fresh.path()),
        );
    }
}

/// The dry run of a command and the command itself name the same changes.
#[test]
fn dry_runs_tell_the_truth() {
    for (name, steps) in sessions() {
        let directory = TempDir::new().unwrap();
        for step in steps {
            let before = tree(directory.path());
            let said = |flags: &str| {
                let output = shell(
                    directory.path(),
                    &format!("{} --output json {flags}", step.command),
                )
                .output;
                serde_json::from_str::<serde_json::Value>(&output).expect("one JSON object")
            };
            let planned = said("--dry-run");
            assert_same(
                &format!("{name}: {} --dry-run", step.command),
                &before,
                &tree(directory.path()),
            );
            let done = said("");
            let after = tree(directory.path());
            assert_eq!(
                planned["changes"], done["changes"],
                "{name}: {}",
                step.command
            );
            let told: Vec<&str> = done["changes"]
                .as_array()
                .unwrap()
                .iter()
                .filter_map(|change| change["path"].as_str())
                .collect();
            let changed: Vec<&String> = before
                .keys()
                .chain(after.keys())
                .filter(|path| {
                    before.get(*path) != after.get(*path) && !path.starts_with(".operator-forge/")
                })
                .collect();
            for path in &changed {
                assert!(
                    told.contains(&path.as_str()),
                    "{name}: {} did not tell of {path}",
                    step.command
                );
            }
            let distinct: std::collections::BTreeSet<_> = changed.iter().collect();
            assert_eq!(told.len(), distinct.len(), "{name}: {}", step.command);
        }
    }
}
