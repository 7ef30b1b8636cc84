//! Properties of the package: the README's program is an example, and no dependency declares a newer Rust
//! than the package.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    process::Command,
};

use serde_json::Value;

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn the_program_of_the_readme_is_an_example() {
    let readme = read("README.md");
    let (_, program) = readme.split_once("```rust,no_run\n").expect("a program");
    let (program, _) = program.split_once("```").expect("its end");
    let example = read("examples/memcached.rs");
    let lines = example
        .lines()
        .skip_while(|line| line.starts_with("//!") || line.is_empty());
    assert_eq!(
        program.lines().collect::<Vec<_>>(),
        lines.collect::<Vec<_>>()
    );
}

/// `major.minor.patch` of a Rust version, whose last parts may be missing.
fn version(text: &str) -> [u32; 3] {
    let mut parts = text.split('.').map(|part| part.parse().expect("a number"));
    [(); 3].map(|()| parts.next().unwrap_or(0))
}

#[test]
fn no_dependency_needs_a_newer_rust() {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args([
        "metadata",
        "--locked",
        "--all-features",
        "--format-version",
        "1",
    ]);
    let output = cargo
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let by_id = |list: &Value| -> BTreeMap<String, Value> {
        let list = list.as_array().unwrap().iter();
        list.map(|item| (item["id"].as_str().unwrap().to_owned(), item.clone()))
            .collect()
    };
    let (packages, nodes) = (
        by_id(&metadata["packages"]),
        by_id(&metadata["resolve"]["nodes"]),
    );
    let own = packages
        .values()
        .find(|package| package["name"] == env!("CARGO_PKG_NAME"))
        .unwrap();
    let promised = version(own["rust_version"].as_str().expect("a rust-version"));

    let mut seen = BTreeSet::new();
    let mut next = vec![own["id"].as_str().unwrap().to_owned()];
    let mut newer = BTreeSet::new();
    while let Some(id) = next.pop() {
        if !seen.insert(id.clone()) {
            continue;
        }
        let package = &packages[&id];
        if let Some(needs) = package["rust_version"]
            .as_str()
            .filter(|it| version(it) > promised)
        {
            let (name, version) = (&package["name"], &package["version"]);
            newer.insert(format!("{name} {version} needs {needs}"));
        }
        for dependency in nodes[&id]["deps"].as_array().unwrap() {
            // Only users' dependencies: those of our tests may be newer.
            let kinds = dependency["dep_kinds"].as_array().unwrap();
            if kinds.iter().any(|kind| kind["kind"] != "dev") {
                next.push(dependency["pkg"].as_str().unwrap().to_owned());
            }
        }
    }
    assert!(
        seen.len() > 100,
        "only {} packages were looked at",
        seen.len()
    );
    assert!(newer.is_empty(), "newer than {promised:?}: {newer:#?}");
}
