//! Applying, with a failure or a stop at every file system call.

mod memory_disk;

use std::collections::{BTreeMap, BTreeSet};

use self::memory_disk::{Fault, MemoryDisk};
use super::*;
use crate::{error::Failure, tree::RelPath};

/// Paths with their contents.
type Files = BTreeMap<String, String>;

fn files(list: &[(&str, &str)]) -> Files {
    list.iter()
        .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
        .collect()
}

fn side(text: &str) -> Option<Side> {
    Some(Side {
        bytes: text.as_bytes().to_vec(),
        mode: None,
    })
}

/// The steps from one tree to another.
fn steps(old: &Files, new: &Files) -> Vec<Step> {
    let paths: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    paths
        .into_iter()
        .filter(|path| old.get(*path) != new.get(*path))
        .map(|path| Step {
            path: path.parse().unwrap(),
            owner: None,
            before: old.get(path).and_then(|text| side(text)),
            after: new.get(path).and_then(|text| side(text)),
        })
        .collect()
}

fn run(disk: &MemoryDisk, old: &Files, new: &Files) -> Result<()> {
    let mut turn = Transaction::begin(disk, "create api")?;
    apply(&mut turn, steps(old, new))
}

/// The scenarios: a first command; a command that changes, creates and deletes files; one that only deletes.
fn scenarios() -> Vec<(&'static str, Files, Files)> {
    let one = files(&[
        ("PROJECT", "1"),
        ("src/api.rs", "old"),
        ("keep", "k"),
        (".operator-forge/lock", "l1"),
    ]);
    let two = files(&[
        ("PROJECT", "2"),
        ("src/api.rs", "new text"),
        ("keep", "k"),
        ("src/api/a/b.rs", "b"),
        ("src/api/a/c.rs", "c"),
        (".operator-forge/lock", "l2"),
    ]);
    vec![
        ("init", Files::new(), one.clone()),
        ("create", one.clone(), two.clone()),
        ("delete", two.clone(), one.clone()),
        ("nothing left", two, Files::new()),
        ("one file", one.clone(), {
            let mut next = one;
            next.insert("src/api.rs".into(), "x".into());
            next
        }),
    ]
}

/// A disk after a first command, unless `old` is empty.
fn disk_with(old: &Files) -> MemoryDisk {
    let disk = MemoryDisk::default();
    if !old.is_empty() {
        run(&disk, &Files::new(), old).unwrap();
        disk.write_back();
    }
    disk
}

/// The number of calls that the command makes.
fn calls(old: &Files, new: &Files) -> usize {
    let disk = disk_with(old);
    disk.fault_at(usize::MAX, Fault::Error);
    run(&disk, old, new).unwrap();
    assert_eq!(disk.files(), *new);
    disk.calls()
}

#[test]
fn an_error_at_any_call_changes_nothing_or_is_survived() {
    for (name, old, new) in scenarios() {
        for at in 0..calls(&old, &new) {
            let disk = disk_with(&old);
            let before = disk.everything();
            disk.fault_at(at, Fault::Error);
            let result = run(&disk, &old, &new);
            let found = disk.files();
            if result.is_ok() {
                assert_eq!(found, new, "{name}, call {at}: told done");
            } else {
                assert_eq!(found, old, "{name}, call {at}: {result:?}");
            }
            disk.fault_at(usize::MAX, Fault::Error);
            Transaction::begin(&disk, "sync").unwrap();
            assert_eq!(disk.files(), found, "{name}, call {at}: and then recovered");
            if result.is_err() {
                assert_eq!(disk.everything(), before, "{name}, call {at}: left behind");
            } else {
                assert_eq!(disk.strays(), Vec::<String>::new(), "{name}, call {at}");
            }
        }
    }
}

#[test]
fn dying_at_any_call_leaves_the_old_or_the_new() {
    let (mut stopped, mut old_ones, mut new_ones) = (0, 0, 0);
    for fault in [Fault::Death, Fault::PowerCut] {
        for (name, old, new) in scenarios() {
            for at in 0..calls(&old, &new) {
                let disk = disk_with(&old);
                disk.fault_at(at, fault);
                let _ = run(&disk, &old, &new);
                disk.revive();
                let again = Transaction::begin(&disk, "sync").map(|turn| turn.recovered);
                let found = disk.files();
                stopped += 1;
                match again.unwrap() {
                    Some(recovered) => {
                        assert_eq!(recovered.kept, [], "{name}, call {at}, {fault:?}");
                        assert_eq!(found, new, "{name}, call {at}, {fault:?}: finished");
                        new_ones += 1;
                    }
                    None if found == new => new_ones += 1,
                    None => {
                        assert_eq!(found, old, "{name}, call {at}, {fault:?}");
                        old_ones += 1;
                    }
                }
                assert_eq!(
                    disk.strays(),
                    Vec::<String>::new(),
                    "{name}, call {at}, {fault:?}"
                );
            }
        }
    }
    println!("{stopped} commands stopped: {old_ones} trees old, {new_ones} new, 0 mixtures");
    assert!(old_ones > 0 && new_ones > 0);
}

/// Stops a command, stops the next one while it recovers, and lets a third one recover.
#[test]
fn dying_while_recovering_is_recovered() {
    for (name, old, new) in scenarios() {
        for first in 0..calls(&old, &new) {
            for second in 0.. {
                let disk = disk_with(&old);
                disk.fault_at(first, Fault::Death);
                let _ = run(&disk, &old, &new);
                disk.revive();
                disk.fault_at(second, Fault::Death);
                let died = Transaction::begin(&disk, "sync").is_err();
                disk.revive();
                Transaction::begin(&disk, "sync").unwrap();
                let found = disk.files();
                assert!(
                    found == old || found == new,
                    "{name}, calls {first} and {second}: {found:?}"
                );
                if !died {
                    break;
                }
            }
        }
    }
}

/// An edit between the death and the recovery is kept and reported.
#[test]
fn an_edit_after_the_death_is_kept() {
    let mut edits = 0;
    for (name, old, new) in scenarios() {
        for at in 0..calls(&old, &new) {
            for path in steps(&old, &new).iter().map(|step| step.path.as_str()) {
                for edit in [Some("by hand"), None] {
                    let disk = disk_with(&old);
                    disk.fault_at(at, Fault::Death);
                    let _ = run(&disk, &old, &new);
                    disk.revive();
                    disk.edit(path, edit);
                    let by_hand = disk.files().get(path).cloned();
                    let recovered = Transaction::begin(&disk, "sync").unwrap().recovered;
                    let found = disk.files();
                    edits += 1;
                    let what = format!("{name}, call {at}: {path} {edit:?}");
                    let is_side = |tree: &Files| tree.get(path) == by_hand.as_ref();
                    if edit.is_some() || !(is_side(&old) || is_side(&new)) {
                        assert_eq!(found.get(path), by_hand.as_ref(), "{what}: lost");
                    }
                    let others = |tree: &Files| {
                        let mut others = tree.clone();
                        others.remove(path);
                        others
                    };
                    assert!(
                        others(&found) == others(&old) || others(&found) == others(&new),
                        "{what}: a mixture"
                    );
                    if let Some(recovered) = recovered {
                        let told = recovered.kept.iter().any(|kept| kept.as_str() == path);
                        assert!(told || is_side(&old) || is_side(&new), "{what}: not told");
                    }
                }
            }
        }
    }
    println!("{edits} edits after a death: 0 lost");
}

#[track_caller]
fn refused(disk: &dyn Disk, steps: Vec<Step>) -> Failure {
    let mut turn = Transaction::begin(disk, "sync").unwrap();
    apply(&mut turn, steps).unwrap_err().into()
}

#[test]
fn a_change_since_the_plan_is_kept() {
    let (_, old, new) = scenarios().remove(1);
    for path in steps(&old, &new).iter().map(|step| step.path.as_str()) {
        let disk = disk_with(&old);
        disk.edit(path, Some("by hand"));
        let before = disk.files();
        let failure = refused(&disk, steps(&old, &new));
        assert_eq!(
            failure.what,
            format!("`{path}` changed while the command ran")
        );
        assert_eq!(disk.files(), before, "{path}");
        assert_eq!(disk.strays(), Vec::<String>::new(), "{path}");
    }
}

#[test]
fn paths_that_differ_by_case_are_refused() {
    let none = Files::new();
    for (path, clashes) in [
        ("src/api/Foo.rs", true),
        ("SRC/bar.rs", true),
        ("src/api/fool.rs", false),
    ] {
        let disk = MemoryDisk::default();
        let new = files(&[("src/api/foo.rs", "a"), (path, "b")]);
        let result = run(&disk, &none, &new);
        assert_eq!(result.is_err(), clashes, "{path}: {result:?}");
        assert_eq!(disk.files().is_empty(), clashes, "{path}");
    }
}

/// A directory that became a symbolic link after the plan leads no write out of the project; a read-only file stays.
#[cfg(unix)]
#[test]
fn links_and_read_only_files_stop_a_command() {
    use std::{fs, os::unix::fs as unix};
    let outside = tempfile::tempdir().unwrap();
    let root = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("a"), "precious").unwrap();
    unix::symlink(outside.path(), root.path().join("src")).unwrap();
    fs::write(root.path().join("fixed"), "old").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o444);
    fs::set_permissions(root.path().join("fixed"), mode).unwrap();
    let disk = Real::new(root.path());
    for (old, new) in [
        (files(&[]), files(&[("src/b", "new")])),
        (files(&[("src/a", "precious")]), files(&[("src/a", "new")])),
        (files(&[("src/a", "precious")]), files(&[])),
        (files(&[("fixed", "old")]), files(&[("fixed", "new")])),
    ] {
        refused(&disk, steps(&old, &new));
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
        assert_eq!(fs::read(outside.path().join("a")).unwrap(), b"precious");
        assert_eq!(fs::read(root.path().join("fixed")).unwrap(), b"old");
        assert_eq!(
            fs::read_dir(root.path()).unwrap().count(),
            2,
            "nothing is left"
        );
    }
}

/// A user may make a file executable between a command and its undo.
#[cfg(unix)]
#[test]
fn undo_keeps_the_mode_that_a_user_has_set() {
    use std::{fs, os::unix::fs::PermissionsExt};
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("a");
    let set = |mode| fs::set_permissions(&file, PermissionsExt::from_mode(mode)).unwrap();
    let mode = || fs::metadata(&file).unwrap().permissions().mode() & 0o777;
    fs::write(&file, "old").unwrap();
    set(0o600);
    let disk = Real::new(root.path());
    let undo = || {
        let mut turn = Transaction::begin(&disk, "undo").unwrap();
        let steps = undo::last(&disk).unwrap().steps;
        apply(&mut turn, steps).unwrap();
    };
    let mut turn = Transaction::begin(&disk, "sync").unwrap();
    let (old, new) = (files(&[("a", "old")]), files(&[("a", "new")]));
    apply(&mut turn, steps(&old, &new)).unwrap();
    drop(turn);
    set(0o700);
    undo();
    assert_eq!((fs::read(&file).unwrap(), mode()), (b"old".to_vec(), 0o700));
    undo();
    assert_eq!((fs::read(&file).unwrap(), mode()), (b"new".to_vec(), 0o700));
}

#[test]
fn a_directory_that_nobody_may_write_to_is_named() {
    let path = |text: &str| text.parse::<RelPath>().unwrap();
    let help = |verb, text| {
        let denied = std::io::Error::from(std::io::ErrorKind::PermissionDenied);
        Failure::from(cannot(&MemoryDisk::default(), verb, &path(text))(denied)).lines()
    };
    let disk = MemoryDisk::default();
    let shown = |text| disk.show(&path(text));
    let directory = shown("config/rbac");
    assert_eq!(
        help("create", "config/rbac/role.yaml"),
        [format!("chmod u+w {directory}")]
    );
    let file = shown("config/rbac/role.yaml");
    assert_eq!(
        help("read", "config/rbac/role.yaml"),
        [format!("chmod u+r {file}")]
    );
    assert!(help("create", ".operator-forge")[0].starts_with("ls -ld "));
}
