//! Projects that older operator-forges made, updated by this one: a fresh project of today plus exactly the user's edits.

mod edits;
use crate::fixture;
use crate::project;
mod random;
use crate::session;

use std::{collections::BTreeSet, fs, path::Path};

use fixture::{SETS, Tree, fresh, owners, projects, write};
use project::{cargo, place, place_of_projects, succeed};
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
    // A controller of an older set stays on its version, which is left to the user.
    let code = if step.output.contains("is the hub, and writes in") {
        3
    } else {
        0
    };
    assert_eq!(step.code, code, "{command}\n{}", step.output);
    serde_json::from_str(&step.output).expect("one JSON object")
}

/// A project that was made today from `made`'s own texts: what the update leaves to the user is as it was.
fn expected(made: &Tree) -> Tree {
    let mut expected = fresh(made);
    expected.extend(users_files(&expected, made));
    expected
}

/// The files of `made` that were the user's then and are in `fresh`.
fn users_files(fresh: &Tree, made: &Tree) -> Tree {
    let (now, then) = (owners(fresh), owners(made));
    let is_users = |path: &String| {
        [&now, &then]
            .iter()
            .all(|it| it.get(path).is_some_and(|it| it == "user"))
    };
    let files = made.iter().filter(|(path, _)| is_users(path));
    files
        .map(|(path, bytes)| (path.clone(), bytes.clone()))
        .collect()
}

/// The lines of a manifest without its comments, whatever their order.
fn keys(manifest: &[u8]) -> Vec<&str> {
    let lines = std::str::from_utf8(manifest).unwrap().lines();
    let mut keys: Vec<&str> = lines
        .map(|line| line.split('#').next().unwrap().trim())
        .collect();
    keys.retain(|line| !line.is_empty());
    keys.sort();
    keys
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
        .flat_map(|change| [&change["path"], &change["from"]])
        .filter_map(|path| path.as_str())
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
            assert_project(&what, &expected(&made), &tree(directory.path()));
            assert_settled(&what, directory.path());
        }
    }
}

#[test]
fn an_edited_project_becomes_a_fresh_one_with_the_edits() {
    for set in SETS {
        for (name, mut made) in projects(set) {
            let what = format!("{name} of set {set}, edited");
            let mut expected = fresh(&made);
            edits::make(&mut made);
            let directory = TempDir::new().unwrap();
            write(&made, directory.path());
            update(&what, directory.path());
            edits::make(&mut expected);
            expected.extend(users_files(&expected, &made));
            let found = tree(directory.path());
            // Where lines cannot be merged, keys are, and the user's comments stay.
            let manifest = found["Cargo.toml"].clone();
            let wanted = expected
                .insert("Cargo.toml".to_owned(), manifest.clone())
                .unwrap();
            assert_eq!(keys(&wanted), keys(&manifest), "{what}: Cargo.toml");
            assert_project(&what, &expected, &found);
            assert_settled(&what, directory.path());
        }
    }
}

/// A project whose `PROJECT` names every plugin is updated to a fresh one with all of them. Without them, it is the update of the
/// project that never had any, byte for byte.
#[test]
fn every_plugin_at_once() {
    const KEYS: &str = "plugins:\n  grafana.operator-forge/v1: {}\n  helm.operator-forge/v1: {}\n  \
        olm.operator-forge/v1: {}\n  release.operator-forge/v1: {}\n";
    for set in SETS {
        for (name, mut made) in projects(set) {
            let what = format!("{name} of set {set}, with every plugin");
            let directory = TempDir::new().unwrap();
            write(&made, directory.path());
            update(&what, directory.path());
            let without = tree(directory.path());

            let project = String::from_utf8(made["PROJECT"].clone()).unwrap();
            if project.contains(".operator-forge/v1: {}") {
                continue;
            }
            let project = project.replacen("plugins:\n", KEYS, 1);
            made.insert("PROJECT".to_owned(), project.into_bytes());
            let directory = TempDir::new().unwrap();
            write(&made, directory.path());
            update(&what, directory.path());
            assert_project(&what, &expected(&made), &tree(directory.path()));
            assert_settled(&what, directory.path());

            json(
                directory.path(),
                "edit --plugins=-grafana,-helm,-olm,-release",
            );
            assert_same(&what, &without, &tree(directory.path()));
        }
    }
}

/// The update refuses to lose an edit of a generated file.
#[test]
fn edits_of_tool_files_are_reported() {
    const GENERATED: &str = "vendor/operator-runtime/README.md";
    for set in SETS {
        let mut made = projects(set).remove("one-api").unwrap();
        let fresh = expected(&made);
        made.get_mut(GENERATED).unwrap().extend(b"Ours.\n");
        let directory = TempDir::new().unwrap();
        write(&made, directory.path());
        let run = |flags: &str| shell(directory.path(), &format!("operator-forge update {flags}"));
        let refused = run("");
        assert_eq!(refused.code, 1, "{}", refused.output);
        let names = format!("`{GENERATED}` was edited");
        assert!(refused.output.contains(&names), "{}", refused.output);
        assert_same("a refusal", &made, &tree(directory.path()));

        let kept = run("--on-conflict keep");
        assert_eq!(kept.code, 3, "{}", kept.output);
        let now = tree(directory.path());
        assert!(now[GENERATED].ends_with(b"Ours.\n"));

        let directory = TempDir::new().unwrap();
        write(&made, directory.path());
        let taken = shell(directory.path(), "operator-forge update --on-conflict take");
        assert_eq!(taken.code, 0, "{}", taken.output);
        assert_project("taken", &fresh, &tree(directory.path()));
    }
}

/// User and Shared files that are gone stay so, with a word where the project needs them; Tool files come back.
#[test]
fn deleted_files_stay_deleted() {
    let gone = [
        "AGENTS.md",
        "Makefile",
        "src/controllers/cache/memcached.rs",
    ];
    for set in SETS {
        let mut made = projects(set).remove("one-api").unwrap();
        let mut wanted = expected(&made);
        for path in gone {
            made.remove(path).unwrap();
            wanted.remove(path).unwrap();
        }
        made.remove("src/bin/manifests.rs").unwrap();
        // The text that a merge would need stays as it was applied last.
        for path in [
            ".operator-forge/base/AGENTS.md",
            ".operator-forge/base/Makefile",
        ] {
            wanted.insert(path.to_owned(), made[path].clone());
        }
        let directory = TempDir::new().unwrap();
        write(&made, directory.path());
        let said = shell(directory.path(), "operator-forge update");
        assert_eq!(said.code, 3, "{}", said.output);
        assert!(
            said.output
                .contains("`src/controllers/cache/memcached.rs` was deleted"),
            "{}",
            said.output
        );
        assert_eq!(
            said.output.matches("warning:").count(),
            1,
            "{}",
            said.output
        );
        assert_project(&format!("set {set}"), &wanted, &tree(directory.path()));
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

/// The project of each set that every run compiles; `UPGRADES=all` compiles each of each.
const COMPILED: [(u32, &str); 2] = [(5, "namespaced"), (5, "webhooks")];

fn compiled() -> Vec<(u32, String)> {
    if std::env::var_os("UPGRADES").is_some_and(|which| which == "all") {
        let names = |set| projects(set).into_keys().map(move |name| (set, name));
        return SETS.into_iter().flat_map(names).collect();
    }
    COMPILED.map(|(set, name)| (set, name.to_owned())).into()
}

/// An edited project of each set compiles after its update, with the lock that `cargo update -w` makes of its own, and
/// passes its tests. The files and the target directory are those of the other generated projects.
#[test]
fn updated_projects_compile_and_pass_their_tests() {
    let (directory, _lock) = place_of_projects();
    for (set, name) in compiled() {
        let run = |arguments: &str| {
            succeed(
                &format!("{name} of set {set}: cargo {arguments}"),
                &mut cargo(&directory, arguments),
            )
        };
        // What the update needs is what a fresh project is locked to, so it is resolved without asking the registry.
        let mut made = projects(set).remove(&name).unwrap();
        place(&fresh(&made), &directory);
        run("fetch --locked");

        edits::make(&mut made);
        let updated = TempDir::new().unwrap();
        write(&made, updated.path());
        update(&format!("{name} of set {set}"), updated.path());
        let check = shell(updated.path(), "operator-forge check --output json");
        let check: Value = serde_json::from_str(&check.output).expect("one JSON object");
        let mut updated = tree(updated.path());
        edits::by_hand(&mut updated, &check);
        place(&updated, &directory);
        run("update --workspace --offline");
        run("run --locked --quiet --bin manifests");
        run("test --locked");
    }
}
