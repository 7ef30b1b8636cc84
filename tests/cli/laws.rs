//! The laws of the engine, on every project in `snapshots/`: idempotence, inverse, confluence, convergence.
//!
//! The inverse of a create is taken in two ways: by the delete of the same words, and as a `git revert` of `PROJECT`
//! takes it, the old text and then `sync`.

use crate::session;

use std::{
    collections::BTreeMap,
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    path::{Path, PathBuf},
    thread,
};

use session::{Step, assert_same, consoles, parse, projects, shell, tree, without_runtime};
use tempfile::TempDir;

type Tree = BTreeMap<String, Vec<u8>>;

#[track_caller]
fn succeed(directory: &Path, command: &str) {
    let step = shell(directory, command);
    assert_eq!(step.code, 0, "{command}\n{}", step.output);
}

/// Runs a step of a session, which ends as it is recorded: 3 where it leaves something to a person.
#[track_caller]
fn run(directory: &Path, step: &Step) {
    let found = shell(directory, &step.command);
    assert_eq!(found.code, step.code, "{}\n{}", step.command, found.output);
}

fn copy(from: &Tree, to: &Path) {
    for (path, bytes) in from {
        let file = to.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, bytes).unwrap();
    }
}

/// The definitions that types are generated from, and what is copied. `PROJECT` names them, so they go wherever it goes.
fn sources(mut tree: Tree) -> Tree {
    let is_source = |path: &str| {
        [
            ".operator-forge/crds/",
            ".operator-forge/charts/",
            ".operator-forge/playbooks/",
            ".operator-forge/roles/",
            "charts/",
            "config/testing/",
            "molecule/",
            "playbooks/",
            "roles/",
        ]
        .iter()
        .any(|it| path.starts_with(it))
    };
    tree.retain(|path, _| is_source(path));
    tree
}

#[test]
fn idempotence() {
    for (name, steps) in projects() {
        let directory = TempDir::new().unwrap();
        for step in steps {
            run(directory.path(), &step);
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
    for (name, steps) in projects() {
        let directory = TempDir::new().unwrap();
        run(directory.path(), &steps[0]);
        for step in &steps[1..] {
            let before = tree(directory.path());
            let project = fs::read(directory.path().join("PROJECT")).unwrap();
            run(directory.path(), step);
            let after = fs::read(directory.path().join("PROJECT")).unwrap();
            let sources = sources(tree(directory.path()));
            fs::write(directory.path().join("PROJECT"), project).unwrap();
            succeed(directory.path(), "operator-forge sync");
            assert_same(
                &format!("{name}: the inverse of {}", step.command),
                &before,
                &tree(directory.path()),
            );
            fs::write(directory.path().join("PROJECT"), after).unwrap();
            copy(&sources, directory.path());
            succeed(directory.path(), "operator-forge sync");
        }
    }
}

/// `undo` after each step, and `undo` of that: the tree before it and after it, byte for byte.
#[test]
fn undo() {
    for (name, steps) in projects() {
        let directory = TempDir::new().unwrap();
        for step in steps {
            let before = tree(directory.path());
            run(directory.path(), &step);
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

/// Every directory below `root`, which neither git nor a [`Tree`] shows when it is empty.
fn directories(root: &Path) -> Vec<PathBuf> {
    let entries = walkdir::WalkDir::new(root).sort_by_file_name().into_iter();
    let directories = entries
        .map(Result::unwrap)
        .filter(|entry| entry.file_type().is_dir());
    directories.map(|entry| entry.into_path()).collect()
}

/// `create` and `delete` are inverse, and `git status` is clean between them.
#[test]
fn inverse_by_delete() {
    for (name, steps) in projects() {
        let directory = TempDir::new().unwrap();
        let root = directory.path();
        run(root, &steps[0]);
        succeed(
            root,
            "git init -q && git config user.name me && git config user.email me@x",
        );
        for step in &steps[1..] {
            if step.command.contains(COPY) {
                succeed(root, &step.command);
                continue;
            }
            let what = format!("{name}: the inverse of {}", step.command);
            succeed(root, "git add -A && git commit -q -m settled");
            let before = (tree(root), directories(root));
            run(root, step);
            let created = tree(root);
            let delete = delete_of(&step.command);
            succeed(root, &delete);
            assert_same(&what, &before.0, &tree(root));
            assert_eq!(before.1, directories(root), "{what}");
            let status = shell(root, "git status --porcelain");
            assert_eq!(status.output, "", "{what}");
            assert_eq!(shell(root, &delete).code, 1, "{delete} was accepted twice");
            run(root, step);
            assert_same(&format!("{what}, twice"), &created, &tree(root));
        }
    }
}

/// A plugin adds files and takes them away, whatever the project has, and whatever is created between.
#[test]
fn a_plugin_leaves_nothing() {
    const ADD: &str = "operator-forge edit --plugins grafana,helm,olm,release";
    const REMOVE: &str = "operator-forge edit --plugins=-grafana,-helm,-olm,-release";
    for (name, steps) in projects() {
        let (with, without) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        for (at, step) in steps.iter().enumerate() {
            for root in [with.path(), without.path()] {
                run(root, step);
            }
            if at + 2 == steps.len() || steps.len() == 1 {
                succeed(with.path(), ADD);
                succeed(with.path(), "operator-forge check");
            }
        }
        let (before, after) = (tree(without.path()), tree(with.path()));
        let what = format!("{name}: {REMOVE}");
        let plugins = |tree: &Tree| {
            let text = String::from_utf8_lossy(&tree["PROJECT"]).into_owned();
            text.matches(".operator-forge/v1:").count()
        };
        assert_eq!(plugins(&after), 5, "{name}");
        // The plugins that the project has from its `init` go, too, and come back.
        succeed(with.path(), REMOVE);
        assert_eq!(plugins(&tree(with.path())), 1, "{name}");
        let file = String::from_utf8_lossy(&before["PROJECT"]).into_owned();
        let of_project = |plugin: &&str| file.contains(&format!("  {plugin}.operator-forge/v1:"));
        for plugin in ["grafana", "helm", "olm", "release"]
            .iter()
            .filter(|it| of_project(it))
        {
            succeed(
                with.path(),
                &format!("operator-forge edit --plugins {plugin}"),
            );
        }
        assert_same(&what, &before, &tree(with.path()));
        let below = |root: &Path| -> Vec<PathBuf> {
            let all = directories(root).into_iter();
            all.map(|it| it.strip_prefix(root).unwrap().to_owned())
                .collect()
        };
        assert_eq!(below(without.path()), below(with.path()), "{what}");
    }
}

/// What a user wrote into a file outlives the delete, which names the file; and a create that is told to keep it takes
/// it back as it was.
#[test]
fn inverse_with_edits() {
    for (name, steps) in projects() {
        let directory = TempDir::new().unwrap();
        let root = directory.path();
        run(root, &steps[0]);
        for step in &steps[1..] {
            if step.command.contains(COPY) {
                succeed(root, &step.command);
                continue;
            }
            let what = format!("{name}: {}", step.command);
            let mut before = tree(root);
            run(root, step);
            let created = tree(root);
            let mine = users_files(&created);
            let mut mine: Vec<_> = mine.filter(|path| !before.contains_key(*path)).collect();
            // Every second one, so that some files of each kind stay and some go away.
            mine.retain(|path| path.len() % 2 == 0);
            for path in &mine {
                let text = [&created[*path], b"// mine\n".as_slice()].concat();
                fs::write(root.join(path), &text).unwrap();
                before.insert((*path).clone(), text);
            }
            let edited = tree(root);
            let deleted = shell(root, &delete_of(&step.command));
            assert_eq!(deleted.code, if mine.is_empty() { 0 } else { 3 }, "{what}");
            for path in &mine {
                let note = format!("`{path}` is no longer part of the project, but was edited");
                assert!(deleted.output.contains(&note), "{what}\n{}", deleted.output);
            }
            assert_same(&what, &before, &tree(root));
            if !mine.is_empty() {
                let again = shell(root, &step.command);
                assert_eq!(again.code, 1, "{what}\n{}", again.output);
                assert_same(&what, &before, &tree(root));
            }
            let kept = shell(root, &format!("{} --on-conflict keep", step.command));
            assert_eq!(kept.code, deleted.code, "{what}\n{}", kept.output);
            assert_same(&format!("{what}, kept"), &edited, &tree(root));
        }
    }
}

/// The user's files, as the lock names them.
fn users_files(tree: &Tree) -> impl Iterator<Item = &String> {
    let lock = String::from_utf8_lossy(&tree[".operator-forge/lock"]).into_owned();
    tree.keys().filter(move |path| {
        let end = format!(" {path}");
        lock.lines()
            .any(|row| row.starts_with("user ") && row.ends_with(&end))
    })
}

/// A version that starts as a copy comes with its conversions, so two deletes are its inverse.
const COPY: &str = "--from-version";

/// The delete of what a create makes.
fn delete_of(create: &str) -> String {
    let with_value = [
        "--plural",
        "--namespaced",
        "--short-name",
        "--certificates",
        "--validation-path",
        "--from-crd",
        "--field",
        "--status-field",
        "--image",
        "--image-container-command",
        "--image-container-port",
        "--run-as-user",
    ];
    let alone = ["--finalizer", "--external", "--controller"];
    let mut words = shlex::split(create).expect("words of a shell").into_iter();
    let mut delete = Vec::new();
    while let Some(word) = words.next() {
        if with_value.contains(&&*word) {
            words.next();
        } else if !alone.contains(&&*word) && !with_value.iter().any(|flag| word.starts_with(flag))
        {
            delete.push(if word == "create" {
                "delete".to_owned()
            } else {
                word
            });
        }
    }
    delete.join(" ")
}

#[test]
fn confluence() {
    thread::scope(|scope| {
        for (name, steps) in projects() {
            scope.spawn(move || confluence_of(&name, &steps));
        }
    });
}

fn confluence_of(name: &str, steps: &[Step]) {
    let commands: Vec<&str> = steps.iter().map(|step| step.command.as_str()).collect();
    let mut trees: BTreeMap<(&str, &str), Tree> = BTreeMap::new();
    for first in &commands[1..] {
        let directory = TempDir::new().unwrap();
        succeed(directory.path(), commands[0]);
        if shell(directory.path(), first).code != 0 {
            continue;
        }
        for second in commands[1..].iter().filter(|second| *second != first) {
            if shell(directory.path(), second).code == 0 {
                trees.insert((first, second), hashes(directory.path()));
                succeed(directory.path(), "operator-forge undo");
            }
        }
    }
    for ((first, second), forward) in &trees {
        if let Some(backward) = trees.get(&(second, first)) {
            let what = format!("{name}: {first} and {second} in either order");
            assert_same(&what, forward, backward);
        }
    }
}

/// Every file with the hash of what it holds: hundreds of trees fit into memory.
fn hashes(root: &Path) -> Tree {
    let hash = |bytes: Vec<u8>| {
        let mut hasher = DefaultHasher::new();
        bytes.hash(&mut hasher);
        format!("{:x}", hasher.finish()).into_bytes()
    };
    let files = tree(root).into_iter();
    files.map(|(path, bytes)| (path, hash(bytes))).collect()
}

#[test]
fn convergence() {
    for console in consoles("projects") {
        let made = TempDir::new().unwrap();
        for step in parse(&fs::read_to_string(&console).unwrap()) {
            run(made.path(), &step);
        }
        let mut incremental = without_runtime(tree(made.path()));
        let fresh = TempDir::new().unwrap();
        copy(
            &Tree::from([("PROJECT".to_owned(), incremental["PROJECT"].clone())]),
            fresh.path(),
        );
        copy(&sources(incremental.clone()), fresh.path());
        succeed(fresh.path(), "operator-forge sync");
        let mut rendered = without_runtime(tree(fresh.path()));
        // A port has the namespace and the samples of the former project, and one from operator-sdk controllers, their tests and the
        // environment of the manager, too; and its list is no generated file.
        if incremental.remove("PORTING.md").is_some() {
            let is_ported = |path: &str| {
                let of_kinds = [
                    "samples/cache_",
                    "samples/edge_",
                    "samples/type_",
                    "controllers/cache/",
                    "controllers/core/secret",
                    "controllers/edge_",
                    "controllers/type/",
                ];
                path == "config/default/kustomization.yaml"
                    || path == "config/manager/manager.yaml"
                    || path.contains("samples/media_")
                    || of_kinds.iter().any(|it| path.contains(it))
            };
            for tree in [&mut incremental, &mut rendered] {
                tree.retain(|path, _| !is_ported(path));
                tree.remove(".operator-forge/lock");
            }
        }
        assert_same(
            &format!(
                "{}: PROJECT rendered into an empty directory",
                console.display()
            ),
            &incremental,
            &rendered,
        );
    }
}

/// The dry run of a command and the command itself name the same changes.
#[test]
fn dry_runs_tell_the_truth() {
    for (name, steps) in projects() {
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
                .flat_map(|change| [&change["path"], &change["from"]])
                .filter_map(|path| path.as_str())
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
