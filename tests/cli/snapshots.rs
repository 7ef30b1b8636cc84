//! Every session in `snapshots/` prints and makes exactly what is recorded there.

use crate::session;

use std::{
    cell::Cell,
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

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

type Tree = BTreeMap<String, Vec<u8>>;

/// The project that all others begin as.
const MINIMAL: &str = "minimal";

/// The packages of a `Cargo.lock`, without the name of the project's own.
fn packages(tree: &Tree) -> BTreeSet<String> {
    let text = |path: &str| String::from_utf8_lossy(&tree[path]).into_owned();
    let manifest = text("Cargo.toml");
    let own = manifest.lines().find(|line| line.starts_with("name = "));
    let own = own.expect("a package has a name");
    let lock = text("Cargo.lock");
    lock.split("\n\n").map(|it| it.replace(own, "")).collect()
}

/// What a review of a project has to see: the files that follow from nothing else. The others are checked here.
fn own_files(name: &str, whole: &Tree, minimal: &Tree) -> Tree {
    assert_eq!(packages(whole), packages(minimal), "{name}/Cargo.lock");
    for path in minimal.keys() {
        assert!(whole.contains_key(path), "{name} has no {path}");
    }
    let mut own = whole.clone();
    own.retain(|path, bytes| {
        let memory = path.strip_prefix(".operator-forge/");
        let of = memory.map(|it| it.strip_prefix("base/").unwrap_or(it));
        // A takeover writes the environment of the former operator into it.
        let is_edited = name == "taken-over" && of == Some("config/manager/manager.yaml");
        if let Some(file) = of.and_then(|it| whole.get(it)) {
            assert!(
                file == bytes || is_edited,
                "{name}: {path} is not the file, which nobody edited"
            );
            return false;
        }
        name == MINIMAL || path != "Cargo.lock" && minimal.get(path) != Some(bytes)
    });
    own
}

#[test]
fn projects() {
    let make = |console: &Path| {
        let directory = tempfile::tempdir().unwrap();
        check_console(console, directory.path());
        without_runtime(tree(directory.path()))
    };
    let all = consoles("projects");
    let is_minimal = |console: &&PathBuf| console.file_stem() == Some(MINIMAL.as_ref());
    let minimal = make(all.iter().find(is_minimal).expect("the smallest project"));
    for console in &all {
        let name = console.file_stem().unwrap().to_string_lossy();
        let whole = match is_minimal(&console) {
            true => minimal.clone(),
            false => make(console),
        };
        let own = own_files(&name, &whole, &minimal);
        let expected = console.with_extension("");
        if bless() {
            let _ = fs::remove_dir_all(&expected);
            for (path, bytes) in &own {
                let file = expected.join(path);
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(file, bytes).unwrap();
            }
        }
        session::assert_same(&console.display().to_string(), &tree(&expected), &own);
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
