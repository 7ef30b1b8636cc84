//! Many commands at once, in one project.

use crate::session;

use std::{fs, thread};

use session::{scratch, shell, tree};

const KINDS: [&str; 12] = [
    "Ant", "Bee", "Cat", "Dog", "Eel", "Fox", "Gnu", "Hen", "Jay", "Koi", "Lynx", "Moth",
];

fn create(kind: &str) -> String {
    format!("operator-forge create api -q --group zoo --version v1 --kind {kind}")
}

/// Twelve creates of one moment make what twelve creates in a row make: in a project that commands have written to, and in a
/// fresh clone, which has no lock file yet.
#[test]
fn twelve_creates_at_once_all_succeed() {
    for clone in [false, true] {
        let directory = scratch();
        let made = shell(
            directory.path(),
            "operator-forge init -q --domain example.com --project-name demo --vcs none --runtime registry",
        );
        assert_eq!(made.code, 0, "{}", made.output);
        if clone {
            fs::remove_dir_all(directory.path().join(".operator-forge/local")).unwrap();
        }
        thread::scope(|scope| {
            for kind in KINDS {
                let path = directory.path();
                scope.spawn(move || {
                    let step = shell(path, &create(kind));
                    assert_eq!(step.code, 0, "{kind}: {}", step.output);
                });
            }
        });
        let together = tree(directory.path());
        for kind in KINDS {
            shell(
                directory.path(),
                &create(kind).replace("create api", "delete api"),
            );
        }
        for kind in KINDS {
            shell(directory.path(), &create(kind));
        }
        session::assert_same("in a row", &tree(directory.path()), &together);
    }
}
