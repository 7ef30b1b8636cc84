//! Kinds with Helm charts: the laws of `laws.rs`, where the chart is the user's from the start.

use std::{collections::BTreeMap, fs, path::Path};

use tempfile::TempDir;

use crate::session::{assert_same, shell, tree};

type Tree = BTreeMap<String, Vec<u8>>;

const INIT: &str = "operator-forge init -q --domain example.com --project-name caches --vcs none --runtime registry";
const CREATE: &str = "operator-forge create api -q --helm-chart $CHARTS/memcached";
const DELETE: &str =
    "operator-forge delete api -q --group charts --version v1alpha1 --kind Memcached";

/// The charts as they were copied.
const COPIES: &str = ".operator-forge/charts/";

#[track_caller]
fn succeed(directory: &Path, command: &str) {
    let step = shell(directory, command);
    assert_eq!(step.code, 0, "{command}\n{}", step.output);
}

/// What `PROJECT` names, and goes wherever it goes: the charts, and their copies.
fn sources(mut tree: Tree) -> Tree {
    tree.retain(|path, _| ["charts/", COPIES].iter().any(|it| path.starts_with(it)));
    tree
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
        let mut expected = created.clone();
        if source.starts_with("charts/") {
            // Nothing was copied.
            expected.retain(|path, _| !path.starts_with(COPIES));
        }
        assert_same(&create, &expected, &tree(root));
        succeed(root, DELETE);
        assert_same(DELETE, &left, &tree(root));
    }
}

/// A newer chart beside the project, and the command that merges it.
struct Newer {
    directory: TempDir,
    update: String,
}

impl Newer {
    /// The chart of the tests after `edit`, a command in its directory.
    fn of(edit: &str) -> Self {
        let directory = TempDir::new().unwrap();
        let chart = directory.path().join("memcached");
        succeed(directory.path(), "cp -r $CHARTS/memcached .");
        succeed(&chart, edit);
        let update = format!(
            "operator-forge create api -q --helm-chart {} --force",
            chart.display()
        );
        Self { directory, update }
    }

    fn edit(&self, edit: &str) {
        succeed(&self.directory.path().join("memcached"), edit);
    }
}

/// A step that ends with `code`, writes nothing the second time, and is undone whole.
#[track_caller]
fn settle(root: &Path, update: &str, code: i32) -> Tree {
    let before = tree(root);
    let step = shell(root, update);
    assert_eq!(step.code, code, "{}", step.output);
    let after = tree(root);
    succeed(root, "operator-forge undo");
    assert_same("undo", &before, &tree(root));
    succeed(root, "operator-forge undo");
    assert_same("undo of undo", &after, &tree(root));
    for command in [update, "operator-forge check", "operator-forge sync"] {
        succeed(root, command);
        assert_same(command, &after, &tree(root));
    }
    after
}

#[test]
fn a_newer_chart_is_merged_with_the_edits() {
    let directory = project();
    let root = directory.path();
    succeed(root, CREATE);
    succeed(
        root,
        "cd charts/memcached && sed -i 's/^replicas: 1/replicas: 3/' values.yaml && rm templates/NOTES.txt && \
         echo '# ours' >> templates/service.yaml && echo own > templates/own.yaml",
    );
    let newer = Newer::of(
        "sed -i 's/^podAnnotations: .*/podAnnotations: {a: b}/' values.yaml && rm templates/service.yaml && \
         echo '{{- /* new */}}' >> templates/deployment.yaml && echo new > templates/NOTES.txt && echo '# a' > templates/added.yaml",
    );
    let after = settle(root, &newer.update, 3);
    let text = |path: &str| String::from_utf8(after[&format!("charts/memcached/{path}")].clone());
    let values = text("values.yaml").unwrap();
    assert!(values.contains("replicas: 3") && values.contains("podAnnotations: {a: b}"));
    assert!(
        text("templates/service.yaml")
            .unwrap()
            .ends_with("# ours\n")
    );
    assert_eq!(text("templates/own.yaml").unwrap(), "own\n");
    assert_eq!(text("templates/added.yaml").unwrap(), "# a\n");
    assert!(text("templates/deployment.yaml").unwrap().contains("new"));
    assert!(!after.contains_key("charts/memcached/templates/NOTES.txt"));

    // What nobody edited follows the chart, also when it goes. What it dropped, and the user kept, is the user's from then on.
    newer.edit("rm templates/added.yaml && echo '# newest' >> values.yaml");
    let after = settle(root, &newer.update, 0);
    assert!(!after.contains_key("charts/memcached/templates/added.yaml"));
    assert!(after.contains_key("charts/memcached/templates/service.yaml"));
    let copies = |tree: &Tree| tree.keys().filter(|it| it.starts_with(COPIES)).count();
    assert!(copies(&after) > 0);
    succeed(root, DELETE);
    assert_eq!(copies(&tree(root)), 0);
}

#[test]
fn files_that_are_not_text_are_merged_whole() {
    let directory = project();
    let root = directory.path();
    let first = Newer::of("printf 'a\\000\\r\\n\\r\\n' > data.bin && printf 'b\\377' > other.bin");
    succeed(root, &first.update);
    // An edit stays while the chart has the same text.
    succeed(root, "printf 'mine\\377' > charts/memcached/other.bin");
    let edited = tree(root);
    succeed(root, &first.update);
    assert_same("nothing new", &edited, &tree(root));
    first.edit("printf 'a\\000\\n' > data.bin");
    let after = settle(root, &first.update, 0);
    assert_eq!(after["charts/memcached/data.bin"], b"a\0\n");
    first.edit("printf 'c\\377' > other.bin");
    assert_eq!(shell(root, &first.update).code, 1);
    assert_same("a refused merge", &after, &tree(root));
    let keep = format!("{} --on-conflict keep", first.update);
    let kept = settle(root, &keep, 3);
    assert_eq!(kept["charts/memcached/other.bin"], b"mine\xff");
}

/// Whoever put a chart into its place knows better what is an edit.
#[test]
fn a_chart_that_was_not_copied_is_not_replaced_unasked() {
    let directory = project();
    let root = directory.path();
    succeed(root, "mkdir charts && cp -r $CHARTS/memcached charts");
    succeed(
        root,
        "operator-forge create api -q --helm-chart charts/memcached",
    );
    let before = tree(root);
    let newer =
        Newer::of("sed -i 's/^replicas: 1/replicas: 2/' values.yaml && rm templates/NOTES.txt");
    let refused = shell(root, &newer.update);
    assert_eq!(refused.code, 1, "{}", refused.output);
    assert_same("a refused update", &before, &tree(root));
    let markers = format!("{} --on-conflict markers", newer.update);
    assert_eq!(shell(root, &markers).code, 3);
    let values = tree(root)["charts/memcached/values.yaml"].clone();
    let values = String::from_utf8(values).unwrap();
    assert!(values.contains("replicas: 1\n") && values.contains("replicas: 2\n"));
    assert!(tree(root).contains_key("charts/memcached/templates/NOTES.txt"));
}

/// A chart that is gone comes back whole, although its copy is still known.
#[test]
fn a_lost_chart_is_copied_again() {
    let directory = project();
    let root = directory.path();
    succeed(root, CREATE);
    let created = tree(root);
    succeed(root, "rm -r charts");
    succeed(root, &format!("{CREATE} --force"));
    assert_same("copied again", &created, &tree(root));
}

#[test]
fn a_project_follows_from_its_file_and_its_charts() {
    let made = project();
    succeed(made.path(), CREATE);
    let made = tree(made.path());
    let fresh = TempDir::new().unwrap();
    let mut given = sources(made.clone());
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
            "builtin-kinds",
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
