//! A project that takes a CRD over from an operator in Go: `snapshots/crds/backups.yaml`, and the CRD that the project writes.

use std::{
    fs,
    io::Write,
    path::Path,
    process::{Command, Stdio},
};

use operator_runtime::envtest::ControlPlane;
use serde_json::{Value, json};

use crate::{project::succeed, session::repository};

const OURS: &str = "config/crd/bases/storage.example.com_backups.yaml";

/// What users of the former operator have in the cluster.
fn objects() -> Value {
    let object = |name: &str, spec: Value| {
        json!({
            "apiVersion": "storage.example.com/v1", "kind": "Backup",
            "metadata": { "name": name, "namespace": "default" }, "spec": spec,
        })
    };
    let all = json!({
        "schedule": "0 3 * * *", "suspend": true, "keep": 99, "compression": "Gzip", "labels": { "tier": "a" },
        "target": { "bucket": "b", "credentials": { "name": "c" } },
        "options": { "endpoint": "https://example.com", "retries": { "max": 3 } },
    });
    let least = json!({ "schedule": "@ 1 2 3 4", "target": { "bucket": "b" } });
    json!({ "apiVersion": "v1", "kind": "List", "items": [object("all", all), object("least", least)] })
}

/// The CRD that the project in `directory` writes equals the one that it was made from, and the API server serves the stored
/// objects before and after, unchanged.
pub fn takes_over(directory: &Path, control_plane: &ControlPlane) {
    let theirs = repository().join("snapshots/crds/backups.yaml");
    let crd = |path: &Path| -> Value {
        serde_yaml::from_str(&fs::read_to_string(path).unwrap()).unwrap()
    };
    let mut wanted = crd(&theirs);
    let versions = wanted["spec"]["versions"].as_array_mut().unwrap();
    versions.retain(|version| version["served"] == true);
    let differences = crd_types::differences(&wanted, &crd(&directory.join(OURS))).unwrap();
    assert!(differences.is_empty(), "{differences:#?}");

    let kubectl = |arguments: &str| -> Command {
        let mut kubectl = control_plane.kubectl();
        kubectl.args(arguments.split(' ')).current_dir(directory);
        kubectl
    };
    let run = |arguments: &str| succeed(arguments, &mut kubectl(arguments));
    let apply = "apply --server-side --force-conflicts --validate=strict -f";
    run(&format!("{apply} {}", theirs.display()));
    run("wait --for=condition=Established --timeout=30s crd/backups.storage.example.com");
    let mut create = kubectl("create -f -");
    let mut create = create.stdin(Stdio::piped()).spawn().unwrap();
    let input = create.stdin.take().unwrap();
    write!(&input, "{}", objects()).unwrap();
    drop(input);
    assert!(create.wait().unwrap().success());

    let stored = || run("get backups.v1.storage.example.com --namespace default -o json");
    let before = stored();
    run(&format!("{apply} {OURS}"));
    assert_eq!(before, stored());
    run("delete --wait=true crd backups.storage.example.com");
}
