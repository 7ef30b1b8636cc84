//! What a real API server says of the manifests of a generated project.

use std::{fs, path::Path};

use operator_runtime::envtest::ControlPlane;
use tempfile::TempDir;

use super::succeed;

const NO_CONVERSION: &str =
    r#"[{"op":"add","path":"/spec/conversion","value":{"strategy":"None"}}]"#;

/// CRDs of cert-manager, as far as its objects have to be known.
fn foreign_crds() -> String {
    ["Certificate", "Issuer"]
        .map(|kind| {
            let singular = kind.to_lowercase();
            format!(
                "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: {singular}s.cert-manager.io}}
spec:
  group: cert-manager.io
  names: {{kind: {kind}, plural: {singular}s, singular: {singular}}}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema: {{openAPIV3Schema: {{type: object, x-kubernetes-preserve-unknown-fields: true}}}}
---
"
            )
        })
        .concat()
}

/// Installs the CRDs, then asks the API server for its opinion on everything else, strictly and without storing it.
pub fn check_manifests(name: &str, directory: &Path, control_plane: &ControlPlane) {
    let kubectl = |arguments: &str, input: Option<&Path>| {
        let mut kubectl = control_plane.kubectl();
        kubectl.args(arguments.split(' ')).current_dir(directory);
        if let Some(file) = input {
            kubectl.arg("-f").arg(file);
        }
        succeed(&format!("{name}: kubectl {arguments}"), &mut kubectl)
    };
    let scratch = TempDir::new().unwrap();
    let build = |source: &str| {
        let file = scratch.path().join(source.replace('/', "-"));
        fs::write(&file, kubectl(&format!("kustomize {source}"), None)).unwrap();
        file
    };
    let everything = build("config/default");
    let text = fs::read_to_string(&everything).unwrap();
    let namespace = text
        .lines()
        .find_map(|line| line.strip_prefix("  namespace: "))
        .expect("something lives in the operator's namespace");
    kubectl(&format!("create namespace {namespace}"), None);
    let with_crds = directory.join("config/crd/bases").exists();
    let crds = with_crds.then(|| build("config/crd"));
    if let Some(crds) = &crds {
        kubectl("apply --server-side --validate=strict", Some(crds));
        kubectl("wait --for=condition=Established --timeout=30s", Some(crds));
    }
    let foreign = scratch.path().join("foreign.yaml");
    fs::write(&foreign, foreign_crds()).unwrap();
    if text.contains("cert-manager.io/v1") {
        kubectl("apply --server-side", Some(&foreign));
        kubectl(
            "wait --for=condition=Established --timeout=30s",
            Some(&foreign),
        );
    }
    let dry_run = "apply --server-side --dry-run=server --validate=strict";
    kubectl(&format!("{dry_run} --force-conflicts"), Some(&everything));
    // Nobody is there to convert the samples.
    for crd in kubectl("get crds -o name", None).lines() {
        kubectl(&format!("patch {crd} --type=json -p {NO_CONVERSION}"), None);
    }
    let samples = fs::read_dir(directory.join("config/samples")).unwrap();
    for sample in samples.map(|entry| entry.unwrap().path()) {
        if !sample.ends_with("kustomization.yaml") {
            kubectl(dry_run, Some(&sample));
        }
    }
    if let Some(crds) = &crds {
        kubectl("delete --wait=true", Some(crds));
    }
}
