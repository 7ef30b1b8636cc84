//! The projects of `snapshots/projects` as their users have them: clippy-clean, tested, with manifests that are stable,
//! as recorded in `snapshots/manifests`, and accepted by a real API server. `BLESS=1` records the manifests.

use crate::imported::takes_over;
use crate::project;
use crate::session;

use std::{env, fs, path::Path};

use project::{
    Tree, cargo, control_plane, manifests::check_manifests, place, place_of_projects, succeed,
};
use session::{assert_same, bless, consoles, parse, repository, run, tree};
use tempfile::TempDir;

/// What `make manifests` wrote: every file that is not the tool's, or is no longer as the tool made it.
fn derived(made: &Tree, directory: &Path) -> Tree {
    tree(directory)
        .into_iter()
        .filter(|(path, bytes)| made.get(path) != Some(bytes))
        .collect()
}

/// The projects that are compiled for every change: together they have every template of code, with the names and shapes that broke
/// them before. `make projects` compiles all of them, and `PROJECTS=fields,many` these two.
const OF_EVERY_CHANGE: [&str; 6] = [
    "ansible",
    "cert-manager",
    "fields",
    "imported",
    "nasty-names",
    "taken-over",
];

#[test]
fn projects() {
    let which = env::var("PROJECTS").unwrap_or_default();
    let is_wanted = |name: &str| match which.as_str() {
        "" => bless() || OF_EVERY_CHANGE.contains(&name),
        "all" => true,
        names => names.split(',').any(|it| it == name),
    };
    let control_plane = control_plane();
    let (directory, _lock) = place_of_projects();
    let mut names = Vec::new();
    for console in consoles("projects") {
        let name = console.file_stem().unwrap().to_string_lossy().into_owned();
        names.push(name.clone());
        if !is_wanted(&name) {
            continue;
        }
        let fresh = TempDir::new().unwrap();
        run(fresh.path(), &parse(&fs::read_to_string(&console).unwrap()));
        let mut made = tree(fresh.path());
        place(&made, &directory);
        let cargo = |arguments: &str| {
            succeed(
                &format!("{name}: cargo {arguments}"),
                &mut cargo(&directory, arguments),
            )
        };

        // The lock of the templates has no crates for charts and Ansible, which cargo adds.
        if made.contains_key("src/charts.rs") || made.contains_key("ansible/install.sh") {
            cargo("update --workspace --offline");
            let lock = fs::read(directory.join("Cargo.lock")).unwrap();
            made.insert("Cargo.lock".to_owned(), lock);
        }
        // Also of what is in `vendor/`.
        cargo("fmt --all --check");
        cargo("clippy --all-targets --locked -- -D warnings");
        cargo("run --locked --quiet --bin manifests");
        let written = derived(&made, &directory);
        cargo("run --locked --quiet --bin manifests");
        assert_same(
            &format!("{name}: manifests, a second time"),
            &written,
            &derived(&made, &directory),
        );
        cargo("run --locked --quiet --bin manifests -- --check");
        let recorded = repository().join("snapshots/manifests").join(&name);
        if bless() {
            place(&written, &recorded);
        }
        assert_same(
            &format!("{name}: snapshots/manifests"),
            &tree(&recorded),
            &written,
        );
        check_manifests(&name, &directory, &control_plane);
        if name == "imported" {
            takes_over(&directory, &control_plane);
        }
        cargo("test --locked");
    }
    for name in OF_EVERY_CHANGE {
        assert!(names.iter().any(|it| it == name), "no project is {name}");
    }
}

/// A crate that was there before, with a dependency and code of its own, is an operator after `init` and `create api`.
#[test]
fn an_adopted_crate_builds() {
    let made = TempDir::new().unwrap();
    let crate_of = |path: &str, text: &str| {
        let file = made.path().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    };
    crate_of(
        "Cargo.toml",
        "[package]\nname = \"brewery\"\nversion = \"2.1.0\"\nedition = \"2024\"\n\n[features]\ndry = []\n\n[dependencies]\nserde_json = { version = \"1\", features = [\"raw_value\"] }\n",
    );
    crate_of(
        "src/main.rs",
        "fn main() {\n    println!(\"Hello, world!\");\n}\n",
    );
    crate_of(
        "src/bin/brew.rs",
        "fn main() {\n    println!(\"{}\", serde_json::json!({ \"beer\": cfg!(feature = \"dry\") }));\n}\n",
    );
    for command in [
        "init --domain example.com --vcs none",
        "create api --group beer --version v1 --kind Brewery",
    ] {
        let said = session::shell(made.path(), &format!("operator-forge {command}"));
        assert_eq!(said.code, 0, "{}", said.output);
    }
    let (directory, _lock) = place_of_projects();
    place(&tree(made.path()), &directory);
    for arguments in [
        "update --workspace --offline",
        "clippy --all-targets --all-features --locked -- -D warnings",
        "run --locked --quiet --bin manifests",
        "test --locked --lib",
    ] {
        succeed(
            &format!("adopted: cargo {arguments}"),
            &mut cargo(&directory, arguments),
        );
    }
}

/// A project whose kinds are releases of charts, beside a kind of its own: clean, and tested with the permissions that follow from the
/// charts.
#[test]
fn an_operator_from_charts_works() {
    let made = TempDir::new().unwrap();
    for command in [
        "init --domain example.com --project-name caches --vcs none",
        "create api --helm-chart $CHARTS/memcached",
        "create api --helm-chart charts/memcached --group type --version v1 --kind Result",
        "create api --group cache --version v1 --kind Memcached",
        "create webhook --group charts --version v1alpha1 --kind Memcached --defaulting --validation",
    ] {
        let said = session::shell(made.path(), &format!("operator-forge {command}"));
        assert_eq!(said.code, 0, "{}", said.output);
    }
    let (directory, _lock) = place_of_projects();
    place(&tree(made.path()), &directory);
    for arguments in [
        "update --workspace --offline",
        "fmt --all --check",
        "clippy --all-targets --locked -- -D warnings",
        "run --locked --quiet --bin manifests",
        "run --locked --quiet --bin manifests -- --check",
        "test --locked",
    ] {
        succeed(
            &format!("charts: cargo {arguments}"),
            &mut cargo(&directory, arguments),
        );
    }
    let crd = "config/crd/bases/charts.example.com_memcacheds.yaml";
    let crd = fs::read_to_string(directory.join(crd)).unwrap();
    // A wrong value is refused when it is applied.
    let replicas = "replicas:\n                description: How many Pods there are.\n                nullable: true\n                type: integer\n";
    assert!(crd.contains(replicas), "{crd}");
    check_manifests("charts", &directory, &control_plane());
}

/// `init` inside somebody's Cargo workspace says what to add there; with it, the project is a member and the runtime is none.
#[test]
fn a_project_inside_a_cargo_workspace_builds() {
    let outer = TempDir::new().unwrap();
    let manifest = outer.path().join("Cargo.toml");
    fs::write(&manifest, "[workspace]\nresolver = \"3\"\n").unwrap();
    let said = session::shell(
        outer.path(),
        "operator-forge init operators/inner --domain example.com --vcs none",
    );
    let lines = [
        "members = [\"operators/inner*\"]",
        "exclude = [\"operators/inner/vendor\"]",
    ];
    for line in lines {
        assert!(said.output.contains(line), "{}", said.output);
    }
    let text = format!("[workspace]\nresolver = \"3\"\n{}\n", lines.join("\n"));
    fs::write(&manifest, text).unwrap();
    let inner = outer.path().join("operators/inner");
    fs::copy(inner.join("Cargo.lock"), outer.path().join("Cargo.lock")).unwrap();
    let metadata = "metadata --locked --no-deps --format-version 1";
    let metadata = succeed(metadata, &mut cargo(&inner, metadata));
    assert!(metadata.contains("\"inner\""), "{metadata}");
    assert!(
        !metadata.contains("\"name\":\"operator-runtime\",\"version\""),
        "{metadata}"
    );
    let check = "check --locked";
    succeed(check, &mut cargo(&inner, check));
}
