//! The versions of Kubernetes that a project can choose, against the source of k8s-openapi, and wherever this repository names one.

use std::{fs, path::PathBuf, process::Command};

use operator_forge::name::kubernetes::{self, KubernetesVersion};
use serde_json::Value;

use crate::session::repository;

/// The sources of the release of k8s-openapi in the lockfile.
fn k8s_openapi() -> PathBuf {
    let metadata = Command::new(env!("CARGO"))
        .args(["metadata", "--locked", "--format-version", "1"])
        .current_dir(repository())
        .output()
        .unwrap();
    let metadata: Value = serde_json::from_slice(&metadata.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let found = packages
        .iter()
        .find(|it| it["name"] == "k8s-openapi")
        .unwrap();
    let manifest = PathBuf::from(found["manifest_path"].as_str().unwrap());
    manifest.with_file_name("src")
}

#[test]
fn each_version_has_the_types_that_the_table_says() {
    let source = k8s_openapi();
    for version in KubernetesVersion::all() {
        let root = source.join(version.feature());
        assert!(root.exists(), "k8s-openapi has no {version}");
        for core in kubernetes::all() {
            let module = core.module.replace("::", "/");
            let file = root.join(format!("{module}/{}/mod.rs", core.version));
            let text = fs::read_to_string(file).unwrap_or_default();
            let has = text.contains(&format!("::{};", core.kind));
            assert_eq!(has, core.since() <= version, "{} in {version}", core.path());
        }
    }
    let versions = fs::read_dir(&source).unwrap();
    let versions = versions.filter(|it| {
        let name = it.as_ref().unwrap().file_name();
        name.to_string_lossy().starts_with("v1_")
    });
    assert_eq!(versions.count(), KubernetesVersion::all().count());
}

#[test]
fn the_newest_version_is_that_of_tests_scripts_and_pages() {
    let newest = KubernetesVersion::NEWEST;
    let (feature, variable) = (
        newest.feature(),
        format!("K8S_OPENAPI_ENABLED_VERSION={newest}"),
    );
    for (path, text) in [
        ("crates/operator-runtime/Cargo.toml", &feature),
        ("crates/operator-runtime/README.md", &feature),
        ("crates/operator-runtime/src/guide/versions.md", &feature),
        ("crates/crd-types/Cargo.toml", &feature),
        ("crates/process-node/Cargo.toml", &feature),
        ("tests/features.sh", &variable),
        ("tests/msrv.sh", &variable),
        ("tests/package.sh", &variable),
        (".github/workflows/release.yml", &variable),
    ] {
        let found = fs::read_to_string(repository().join(path)).unwrap();
        assert!(found.contains(text.as_str()), "{path} does not name {text}");
    }
    let oldest = format!("K8S_OPENAPI_ENABLED_VERSION={}", KubernetesVersion::OLDEST);
    let features = fs::read_to_string(repository().join("tests/features.sh")).unwrap();
    assert!(features.contains(&oldest));
}
