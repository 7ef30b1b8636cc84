//! `--runtime registry`, against a registry on disk that holds our packaged crate beside all others: the day that the crate is
//! published changes nothing but the default.
//!
//! A run resolves and locks; `REGISTRY=all` compiles, lints, tests and runs the operator, too. Cargo tells crates of another
//! source from those that the other projects share, so that this has a target directory of its own.

use std::{fs, path::Path, process::Command};

use operator_forge::tree::Digest;
use tempfile::TempDir;

use crate::{
    project::{cache, cargo, place, place_of_projects, succeed},
    session::{repository, shell, tree},
};

/// The packaged runtime, as `cargo publish` would send it.
fn packaged(target: &Path) -> Vec<u8> {
    let mut package = cargo(
        repository(),
        "package --no-verify --allow-dirty --package operator-runtime",
    );
    succeed("cargo package", package.env("CARGO_TARGET_DIR", target));
    fs::read(target.join("package/operator-runtime-0.1.0.crate")).unwrap()
}

/// Fills `registry`, a directory source: every crate that the project in `directory` is locked to, and the runtime.
fn fill(registry: &Path, directory: &Path) {
    let mut vendor = cargo(directory, "vendor --locked --versioned-dirs --quiet");
    succeed("cargo vendor", vendor.arg(registry));
    let scratch = TempDir::new().unwrap();
    let archive = packaged(scratch.path());
    let file = scratch.path().join("runtime.crate");
    fs::write(&file, &archive).unwrap();
    let mut tar = Command::new("tar");
    tar.arg("-xzf").arg(&file).arg("-C").arg(registry);
    succeed("tar", &mut tar);
    let checksum = Digest::exact(&archive);
    fs::write(
        registry.join("operator-runtime-0.1.0/.cargo-checksum.json"),
        format!("{{\"files\":{{}},\"package\":\"{checksum}\"}}"),
    )
    .unwrap();
}

#[test]
fn a_registry_serves_the_runtime() {
    let (directory, _lock) = place_of_projects();
    let made = TempDir::new().unwrap();
    let forge = |line: &str| {
        let step = shell(made.path(), &format!("operator-forge {line}"));
        assert_eq!(step.code, 0, "{}", step.output);
    };
    forge("init -q --domain example.com --project-name served-operator --vcs none");
    forge("create api -q --group cache --version v1alpha1 --kind Memcached");
    place(&tree(made.path()), &directory);
    let registry = TempDir::new().unwrap();
    fill(registry.path(), &directory);

    forge("edit -q --runtime registry");
    let mut files = tree(made.path());
    let config = format!(
        "[source.crates-io]\nreplace-with = \"disk\"\n\n[source.disk]\ndirectory = \"{}\"\n",
        registry.path().display()
    );
    files.insert(".cargo/config.toml".to_owned(), config.into());
    place(&files, &directory);
    let target = cache().join("target-registry");
    let run = |arguments: &str| {
        let mut cargo = cargo(&directory, arguments);
        succeed(
            &format!("registry: cargo {arguments}"),
            cargo.env("CARGO_TARGET_DIR", &target),
        )
    };
    // Nobody knows the checksum before the crate is published, so the first build without `--locked` writes it.
    let unlocked = cargo(&directory, "metadata --locked --format-version 1")
        .output()
        .unwrap();
    assert!(!unlocked.status.success());
    run("fetch");
    let lock = fs::read_to_string(directory.join("Cargo.lock")).unwrap();
    let (_, entry) = lock.split_once("name = \"operator-runtime\"\n").unwrap();
    let entry = entry.split("\n\n").next().unwrap();
    assert!(
        entry.contains("source = \"registry+") && entry.contains("checksum = \""),
        "{entry}"
    );
    run("metadata --locked --format-version 1");
    // Every other package stays at the version that the project came with.
    let versions = |lock: &str| -> Vec<String> {
        let lines = lock
            .lines()
            .filter(|line| line.starts_with("name = ") || line.starts_with("version = "));
        lines.map(str::to_owned).collect()
    };
    assert_eq!(
        versions(&String::from_utf8_lossy(&files["Cargo.lock"])),
        versions(&lock)
    );

    if std::env::var_os("REGISTRY").is_some_and(|which| which == "all") {
        run("clippy --all-targets --locked -- -D warnings");
        run("run --locked --bin manifests");
        run("test --locked");
        run("run --locked -- --version");
    }
}
