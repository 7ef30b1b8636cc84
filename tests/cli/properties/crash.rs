//! Law 5 on the last command of a history: it dies at a call to the file system, or the call fails.

use std::{fs, io, path::Path};

use operator_forge::apply::{self, Disk, Real, Step, Transaction};
use proptest::{prelude::*, sample::Index};

use super::{
    fault::{Fault, Faulty},
    session::assert_same,
    story::tell,
    world::{Tree, World, assert_undone, look},
};

/// At which of its calls what happens to a command.
#[derive(Clone, Debug)]
pub struct Crash {
    at: Index,
    fails: bool,
}

pub fn crash() -> impl Strategy<Value = Crash> {
    (any::<Index>(), proptest::bool::weighted(0.3)).prop_map(|(at, fails)| Crash { at, fails })
}

/// Does the last command again, and again with the fault; the next command finds the tree before it, or makes the one
/// after it.
pub fn check(world: &World, crash: &Crash) {
    let Some(last) = world.undoable() else {
        return;
    };
    tell("# undone; done again with a fault:");
    let real = Real::new(world.path());
    undo(world, &last.before);
    let steps = apply::last(&real).expect("it was undone").steps;
    let whole = Faulty::new(real.clone(), None);
    run(&whole, &steps).expect("nothing fails");
    assert_same("done again", &last.after, &look(world.path()).0);
    undo(world, &last.before);

    let fault = match crash.fails {
        true => Fault::Error(io::ErrorKind::StorageFull),
        false => Fault::Death,
    };
    let at = crash.at.index(whole.calls());
    tell(format!("# {fault:?} at call {at} of {}", whole.calls()));
    let failed = run(&Faulty::new(real.clone(), Some((at, fault))), &steps);
    let words = "create api --group Not_a_group --version v1 --kind Memcached";
    let next: Vec<String> = words.split(' ').map(str::to_owned).collect();
    assert!(matches!(world.forge(&next, &[]).code, 1 | 2));
    assert_eq!(
        strays(world.path()),
        Vec::<String>::new(),
        "{fault:?} at call {at}"
    );
    if failed.is_ok() {
        remove_left_directories(world.path(), &last.after);
    }
    let now = look(world.path()).0;
    if now != last.after {
        assert_undone(
            &format!("{fault:?} at call {at}, {failed:?}"),
            last.before.clone(),
            &now,
        );
        run(&real, &steps).expect("nothing fails");
    }
    assert_same("at last", &last.after, &look(world.path()).0);
}

fn undo(world: &World, expected: &Tree) {
    let undone = world.forge(&["undo".to_owned()], &[]);
    assert_eq!(undone.code, 0, "{}", undone.json);
    assert_undone("undone", expected.clone(), &look(world.path()).0);
}

fn run(disk: &dyn Disk, steps: &[Step]) -> operator_forge::error::Result<()> {
    let mut turn = Transaction::begin(disk, "the command")?;
    Ok(apply::apply(&mut turn, steps.to_vec())?)
}

/// A directory that could not be removed is no reason for a command to fail: it stays, and is empty.
fn remove_left_directories(root: &Path, after: &Tree) {
    for path in look(root).0.into_keys().filter(|path| path.ends_with('/')) {
        let mut directory = Path::new(&path);
        while !after.contains_key(&format!("{}/", directory.display()))
            && fs::remove_dir(root.join(directory)).is_ok()
            && let Some(parent) = directory.parent()
        {
            directory = parent;
        }
    }
}

/// Files of `.operator-forge/local/` that no finished command leaves.
fn strays(root: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(root.join(".operator-forge/local")) else {
        return Vec::new();
    };
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names
        .filter(|name| ![".gitignore", "lock", "undo"].contains(&name.as_str()))
        .collect()
}
