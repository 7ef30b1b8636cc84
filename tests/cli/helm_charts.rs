//! Kinds with Helm charts: the laws of `laws.rs`, where the chart is the user's from the start.

use std::{collections::BTreeMap, fs, path::Path};

use tempfile::TempDir;

use crate::session::{assert_same, shell, tree};

type Tree = BTreeMap<String, Vec<u8>>;

const INIT: &str = "operator-forge init -q --domain example.com --project-name caches --vcs none --runtime registry";
const CREATE: &str = "operator-forge create api -q --helm-chart $CHARTS/memcached";
const DELETE: &str =
    "operator-forge delete api -q --group charts --version v1alpha1 --kind Memcached";

#[track_caller]
fn succeed(directory: &Path, command: &str) {
    let step = shell(directory, command);
    assert_eq!(step.code, 0, "{command}\n{}", step.output);
}

/// A new project.
fn project() -> TempDir {
    let directory = TempDir::new().unwrap();
    succeed(directory.path(), INIT);
    directory
}

fn charts(mut tree: Tree) -> Tree {
    tree.retain(|path, _| path.starts_with("charts/"));
    tree
}

#[test]
fn a_create_is_idempotent_and_undone_with_its_files() {
    let directory = project();
    let root = directory.path();
    let before = tree(root);
    succeed(root, CREATE);
    let created = tree(root);
    for command in ["operator-forge check", "operator-forge sync"] {
        succeed(root, command);
        assert_same(command, &created, &tree(root));
    }
    assert_eq!(shell(root, CREATE).code, 1);
    assert_same("a repeated create", &created, &tree(root));
    succeed(root, "operator-forge undo");
    assert_same("undo", &before, &tree(root));
    succeed(root, "operator-forge undo");
    assert_same("undo of undo", &created, &tree(root));
}

#[test]
fn a_delete_leaves_the_chart_alone() {
    let directory = project();
    let root = directory.path();
    let before = tree(root);
    succeed(root, CREATE);
    let created = tree(root);
    succeed(root, DELETE);
    let mut left = before;
    left.extend(charts(created.clone()));
    assert_same("delete", &left, &tree(root));
    for source in ["$CHARTS/memcached", "charts/memcached"] {
        let create = format!("operator-forge create api -q --helm-chart {source}");
        succeed(root, &create);
        assert_same(&create, &created, &tree(root));
        succeed(root, DELETE);
    }
}

#[test]
fn a_project_follows_from_its_file_and_its_charts() {
    let made = project();
    succeed(made.path(), CREATE);
    let made = tree(made.path());
    let fresh = TempDir::new().unwrap();
    let mut given = charts(made.clone());
    given.insert("PROJECT".to_owned(), made["PROJECT"].clone());
    for (path, bytes) in given {
        let file = fresh.path().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, bytes).unwrap();
    }
    succeed(fresh.path(), "operator-forge sync");
    assert_same("PROJECT in an empty directory", &made, &tree(fresh.path()));
}

/// Two kinds in either order, of one chart and of two.
#[test]
fn creates_are_confluent() {
    let second = "cp -r $CHARTS/memcached /tmp/second-$$ && sed -i 's/^name: .*/name: second/' /tmp/second-$$/Chart.yaml && \
                  operator-forge create api -q --helm-chart /tmp/second-$$; code=$?; rm -r /tmp/second-$$; exit $code";
    let again = format!("{CREATE} --kind Other --version v1");
    for other in [second, again.as_str()] {
        let in_order = [[CREATE, other], [other, CREATE]].map(|commands| {
            let directory = project();
            for command in commands {
                succeed(directory.path(), command);
            }
            tree(directory.path())
        });
        assert_same(other, &in_order[0], &in_order[1]);
    }
}

/// Files of a chart need not be text, and no line end is changed.
#[test]
fn files_are_copied_byte_for_byte() {
    let directory = project();
    let root = directory.path();
    let files: [(&str, &[u8]); 3] = [
        ("files/image.png", b"\x89PNG\r\n\x1a\n\0\xff"),
        ("files/windows.txt", b"a\r\nb\r\n"),
        ("files/empty", b""),
    ];
    succeed(root, "cp -r $CHARTS/memcached ../source-$(basename $PWD)");
    let source = root.with_file_name(format!(
        "source-{}",
        root.file_name().unwrap().to_string_lossy()
    ));
    fs::create_dir(source.join("files")).unwrap();
    for (path, bytes) in files {
        fs::write(source.join(path), bytes).unwrap();
    }
    let create = format!(
        "operator-forge create api -q --helm-chart {}",
        source.display()
    );
    succeed(root, &create);
    fs::remove_dir_all(&source).unwrap();
    let copied = tree(root);
    for (path, bytes) in files {
        let path = format!("charts/memcached/{path}");
        assert!(copied[&path] == bytes, "{path}");
    }
}

/// A project with a copy of the runtime gets copies of the crates that install charts, and loses them with its last chart.
#[test]
fn copies_of_the_crates_come_and_go() {
    let directory = TempDir::new().unwrap();
    let root = directory.path();
    succeed(
        root,
        &INIT.replace("--runtime registry", "--runtime vendored"),
    );
    let crates = |tree: &Tree| -> Vec<String> {
        let manifests = tree.keys().filter_map(|path| {
            let path = path.strip_prefix("vendor/")?;
            Some(path.strip_suffix("/Cargo.toml")?.to_owned())
        });
        manifests.collect()
    };
    assert_eq!(crates(&tree(root)), ["operator-runtime"]);
    succeed(root, CREATE);
    assert_eq!(
        crates(&tree(root)),
        [
            "chart-api",
            "helm-render",
            "operator-helm",
            "operator-runtime"
        ]
    );
    succeed(root, "operator-forge check");
    succeed(root, DELETE);
    assert_eq!(crates(&tree(root)), ["operator-runtime"]);
}
