//! Every session in `snapshots/` prints and makes exactly what is recorded there.

use crate::session;

use std::{cell::Cell, fs, path::Path};

use session::{Step, bless, consoles, parse, shell, tree, without_runtime, write};

fn check_console(path: &Path, directory: &Path) {
    check_steps(path, |command| shell(directory, command));
}

fn check_steps(path: &Path, run: impl Fn(&str) -> Step) {
    let text = fs::read_to_string(path).expect("a session");
    let expected = parse(&text);
    let found: Vec<_> = expected.iter().map(|step| run(&step.command)).collect();
    if bless() {
        fs::write(path, write(&found)).expect("a writable snapshot");
        return;
    }
    for (expected, found) in expected.iter().zip(&found) {
        assert_eq!(
            show(expected),
            show(found),
            "{} (BLESS=1 accepts it)",
            path.display()
        );
    }
}

fn show(step: &Step) -> String {
    write(std::slice::from_ref(step))
}

#[test]
fn projects() {
    for console in consoles("projects") {
        let directory = tempfile::tempdir().unwrap();
        check_console(&console, directory.path());
        let expected = console.with_extension("");
        if bless() {
            let _ = fs::remove_dir_all(&expected);
            for (path, bytes) in without_runtime(tree(directory.path())) {
                let file = expected.join(path);
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(file, bytes).unwrap();
            }
        }
        session::assert_same(
            &console.display().to_string(),
            &tree(&expected),
            &without_runtime(tree(directory.path())),
        );
    }
}

#[test]
fn sessions() {
    for console in consoles("sessions") {
        check_console(&console, tempfile::tempdir().unwrap().path());
    }
}

/// Each session has a command that is refused, and the tree after it is the tree before it.
#[test]
fn refusals() {
    for console in consoles("refusals") {
        let directory = tempfile::tempdir().unwrap();
        let refused = Cell::new(false);
        check_steps(&console, |command| {
            let before = tree(directory.path());
            let step = shell(directory.path(), command);
            if command.contains("operator-forge") && ![0, 3].contains(&step.code) {
                let what = format!("{}: {command}", console.display());
                session::assert_same(&what, &before, &tree(directory.path()));
                refused.set(true);
            }
            step
        });
        assert!(refused.get(), "{} refuses nothing", console.display());
    }
}

#[test]
fn templates_without_variables_are_the_minimal_project() {
    if bless() {
        return;
    }
    let minimal = tree(&session::repository().join("snapshots/projects/minimal"));
    for (path, bytes) in tree(&session::repository().join("templates/project")) {
        if !path.ends_with(".tera") && path != "Cargo.lock" {
            assert!(
                minimal.get(&path) == Some(&bytes),
                "{path} is not the template (`make snapshots` accepts it)"
            );
        }
    }
}
