//! The lines of the pages that compile, which `tests/cli/docs.rs` leaves out: the blocks that are marked `compile` alone.

use crate::project;
use crate::session;

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use project::{cache, place, place_of_projects, succeed};
use session::{repository, shell, tree};
use tempfile::TempDir;

/// The lines of such blocks in `docs/`, without what is said of them.
fn lines() -> Vec<String> {
    let mut pages: Vec<PathBuf> = fs::read_dir(repository().join("docs"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    pages.sort();
    let text: Vec<String> = pages
        .iter()
        .map(|page| fs::read_to_string(page).unwrap())
        .collect();
    let mut lines = Vec::new();
    for block in text
        .iter()
        .flat_map(|text| text.split("\n```sh compile\n").skip(1))
    {
        let (block, _) = block.split_once("\n```").unwrap();
        let command = |line: &str| line.split(" #").next().unwrap().trim().to_owned();
        lines.extend(block.lines().map(command));
    }
    lines
}

/// The files that `make release-assets` writes for the plugins of the project.
fn assets(directory: &Path) {
    let read = |script: &str| {
        let mut command = Command::new("sh");
        succeed(script, command.args(["-ec", script]).current_dir(directory))
    };
    let files =
        "SHA256SUMS\ninstall.yaml\npaged-operator-0.1.0.tgz\npaged-operator-olm-0.1.0.tgz\n";
    assert_eq!(read("LC_ALL=C ls"), files);
    read("shasum --algorithm 256 --check SHA256SUMS && [ $(wc -l < SHA256SUMS) -eq 3 ]");
    read("grep -q 'image: registry.example.com/memcached-operator:v0.1.0$' install.yaml");
    let chart = read("tar -xzOf paged-operator-0.1.0.tgz");
    assert!(chart.contains("\nversion: 0.1.0\n"), "{chart}");
    assert!(
        chart.contains("\"registry.example.com/memcached-operator\""),
        "{chart}"
    );
    let files = read("tar -tzf paged-operator-olm-0.1.0.tgz");
    for name in [
        "bundle/manifests/",
        "bundle.Dockerfile",
        "catalog/paged-operator/",
    ] {
        assert!(files.lines().any(|file| file == name), "{files}");
    }
}

/// `make` runs in a project with one API, as the page has it at that place.
#[test]
fn every_line_that_compiles_runs() {
    let scratch = TempDir::new().unwrap();
    for command in [
        "operator-forge init -q paged-operator --domain example.com --plugins helm,olm,release --vcs none",
        "operator-forge -C paged-operator create api -q --group cache --version v1alpha1 --kind Memcached",
    ] {
        assert_eq!(shell(scratch.path(), command).code, 0, "{command}");
    }
    let (directory, _lock) = place_of_projects();
    place(&tree(&scratch.path().join("paged-operator")), &directory);
    let kubectl = PathBuf::from(env::var_os("KUBEBUILDER_ASSETS").expect("run `make test`"));
    let kubectl = kubectl.join("kubectl");
    let mut build = Command::new("sh");
    let helm = succeed(
        "tests/helm/build.sh",
        build.arg(repository().join("tests/helm/build.sh")),
    );
    let helm = helm.trim();
    let mut ran = Vec::new();
    for line in lines() {
        let mut command = Command::new("sh");
        match line.split_once(' ').unwrap() {
            ("make", _) => command
                .args(["-ec", &line])
                .current_dir(&directory)
                .env("KUBECTL", &kubectl)
                .env("HELM", helm)
                .env("CARGO_TARGET_DIR", cache().join("target")),
            // Optimized, it takes minutes; and it is not for the home directory of whoever runs tests.
            ("cargo", _) => command
                .args(["-ec", &format!("{line} --debug --root \"$ROOT\"")])
                .current_dir(repository())
                .env("ROOT", scratch.path().join("installed")),
            ("operator-forge", rest) => command
                .args(["-ec", &format!("\"$ROOT/bin/operator-forge\" {rest}")])
                .env("ROOT", scratch.path().join("installed")),
            _ => panic!("`{line}` is neither make nor cargo nor operator-forge"),
        };
        succeed(&line, &mut command);
        ran.push(line);
    }
    assert_eq!(
        ran,
        [
            "make manifests && make test",
            "cargo install --path .",
            "operator-forge version",
            "make manifests",
            "make test",
            "make fmt lint",
            "make chart IMG=registry.example.com/memcached-operator:v1.0.0",
            "make check-chart IMG=registry.example.com/memcached-operator:v1.0.0",
            "make bundle IMG=registry.example.com/memcached-operator:v0.1.0",
            "make catalog BUNDLE_IMG=registry.example.com/memcached-operator-bundle:v0.1.0",
            "make release-assets IMG=registry.example.com/memcached-operator:v0.1.0 \
                BUNDLE_IMG=registry.example.com/memcached-operator-bundle:v0.1.0"
        ]
    );
    assets(&directory.join("dist/release"));
}
