//! A project for the oldest version of Kubernetes, and then for the newest, as `edit --kubernetes` makes it: it compiles, and the
//! schemas of Kubernetes' types in its CRD are those of its version.

use std::{fs, path::Path};

use operator_forge::name::kubernetes::KubernetesVersion;
use serde_json::Value;
use tempfile::TempDir;

use crate::{
    project::{
        cargo, control_plane, manifests::check_manifests, place, place_of_projects, succeed,
    },
    session::{shell, tree},
};

const CRD: &str = "config/crd/bases/batch.example.com_tasks.yaml";

/// The schema of the Pod in the CRD that `make manifests` wrote.
fn pod(directory: &Path) -> Value {
    let text = fs::read_to_string(directory.join(CRD)).unwrap();
    let crd: Value = serde_yaml::from_str(&text).unwrap();
    let spec = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties";
    let pod = crd.pointer(&format!("{spec}/template/properties/spec"));
    pod.expect("the field `template` has a Pod").clone()
}

/// The keys of a list in the Pod, as controller-gen writes them; `None` if the version has no such list.
fn keys(pod: &Value, path: &str) -> Option<Value> {
    pod.pointer(&format!("/properties/{path}"))?;
    Some(pod["properties"][path]["x-kubernetes-list-map-keys"].clone())
}

#[test]
fn the_types_are_those_of_the_chosen_version() {
    let control_plane = control_plane();
    let (directory, _lock) = place_of_projects();
    let made = TempDir::new().unwrap();
    let forge = |line: &str| {
        let step = shell(made.path(), &format!("operator-forge {line}"));
        assert_eq!(step.code, 0, "{}", step.output);
    };
    let (oldest, newest) = (KubernetesVersion::OLDEST, KubernetesVersion::NEWEST);
    forge(&format!(
        "init -q --domain example.com --project-name old --vcs none --kubernetes {oldest}"
    ));
    forge("create api -q --group batch --version v1 --kind Task --field template:PodTemplateSpec");
    let build = |version: KubernetesVersion, arguments: &[&str]| {
        place(&tree(made.path()), &directory);
        for arguments in arguments {
            let what = format!("Kubernetes {version}: cargo {arguments}");
            succeed(&what, &mut cargo(&directory, arguments));
        }
        pod(&directory)
    };
    let manifests = "run --locked --quiet --bin manifests";
    let clippy = "clippy --all-targets --locked -- -D warnings";
    let old = build(oldest, &[clippy, manifests, "test --locked"]);
    check_manifests("old", &directory, &control_plane);
    forge(&format!("edit -q --kubernetes {newest}"));
    let new = build(newest, &[manifests]);

    // A type of every version, with what controller-gen adds to it.
    for pod in [&old, &new] {
        let by_name = serde_json::json!(["name"]);
        assert_eq!(keys(pod, "containers"), Some(by_name));
    }
    // A list that is new in 1.37, and a field that is new in 1.34.
    assert_eq!(keys(&old, "evictionResponders"), None);
    assert!(keys(&new, "evictionResponders").is_some_and(|keys| keys.is_array()));
    let hostname = "/properties/hostnameOverride";
    assert!(old.pointer(hostname).is_none() && new.pointer(hostname).is_some());
}
