//! Every session in `snapshots/` prints and makes exactly what is recorded there.

use crate::session;

use std::{fs, path::Path};

use session::{Step, bless, consoles, parse, run, tree, without_runtime, write};

fn check_console(path: &Path, directory: &Path) {
    let text = fs::read_to_string(path).expect("a session");
    let expected = parse(&text);
    let found = run(directory, &expected);
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

/// Each refusal leaves what was there before: a session ends with the command that is refused, and the tree after it is
/// the tree before it.
#[test]
fn refusals() {
    for console in consoles("refusals") {
        let directory = tempfile::tempdir().unwrap();
        check_console(&console, directory.path());
        let steps = parse(&fs::read_to_string(&console).unwrap());
        let directory = tempfile::tempdir().unwrap();
        for step in &steps {
            let before = tree(directory.path());
            let found = session::shell(directory.path(), &step.command);
            if step.command.contains("operator-forge") && found.code != 0 && found.code != 3 {
                session::assert_same(
                    &format!("{}: {}", console.display(), step.command),
                    &before,
                    &tree(directory.path()),
                );
            }
        }
        assert!(
            steps.iter().any(|step| step.code != 0),
            "{} refuses nothing",
            console.display()
        );
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
