//! A generated operator with a controller and webhooks of a type that another project defines: a crate for the Rust type, and
//! a CRD in `tests/crds` for the API server of the tests.

use crate::project;

use std::{fs, path::Path};

use project::{
    Tree, cargo, control_plane, manifests::check_manifests, place, place_of_projects, succeed,
};

/// Where the crate is.
const CRATE: &str = "vendor/cert-manager-types";

/// What a user writes into the files that the commands made: file, text of the template, text of the user.
const WRITTEN: [(&str, &str, &str); 7] = [
    (
        "Cargo.toml",
        "\n[dependencies]\n",
        "\n[dependencies]\ncert-manager-types = { path = \"vendor/cert-manager-types\" }\n",
    ),
    (
        "src/controllers/cert_manager_io/certificate.rs",
        "use kube::ResourceExt;\nuse operator_runtime::{Action, Controller, ReconcileError};",
        "use kube::api::{Api, Patch, PatchParams};\nuse kube::ResourceExt;\nuse operator_runtime::{Action, Controller, ReconcileError, Verb};",
    ),
    (
        "src/controllers/cert_manager_io/certificate.rs",
        "Controller::external(NAME, reconcile)",
        "Controller::external(NAME, reconcile).needs::<Certificate>(&[Verb::Patch])",
    ),
    (
        "src/controllers/cert_manager_io/certificate.rs",
        "_: Arc<Context>) -> Result<Action, Error> {\n    tracing::debug!(name = certificate.name_any(), \"nothing to do\");",
        "context: Arc<Context>) -> Result<Action, Error> {
    let namespace = certificate.namespace().unwrap_or_default();
    let api: Api<Certificate> = Api::namespaced(context.client.clone(), &namespace);
    let seen = serde_json::json!({ \"metadata\": { \"annotations\": { \"example.com/seen\": \"yes\" } } });
    api.patch(&certificate.name_any(), &PatchParams::default(), &Patch::Merge(seen)).await?;",
    ),
    (
        "src/webhooks/cert_manager_io/v1/certificate/default.rs",
        "    Ok(())\n",
        "    let names = || vec![\"example.com\".to_owned()];\n    _certificate.spec.dns_names.get_or_insert_with(names);\n    Ok(())\n",
    ),
    (
        "tests/webhooks/cert_manager_io/v1/certificate/default.rs",
        "assert_eq!(stored.metadata.name, certificate.metadata.name);",
        "assert_eq!(stored.spec.dns_names.unwrap(), [\"example.com\"]);",
    ),
    (
        "tests/controllers/cert_manager_io/certificate.rs",
        "use kube::api::{ListParams, WatchParams};",
        "use kube::ResourceExt;\nuse kube::api::{ListParams, PostParams, WatchParams};\nuse kube::runtime::wait::await_condition;",
    ),
];

fn written() -> Tree {
    let of = "--group cert-manager --version v1 --kind Certificate";
    let external =
        "--external-api-domain io --external-api-path cert_manager_types::v1::Certificate";
    let commands = [
        "init -q foreign-operator --domain example.com --vcs none".to_owned(),
        format!("-C foreign-operator create api -q {of} {external} --resource=false"),
        format!("-C foreign-operator create webhook -q {of} --defaulting --validation"),
    ];
    let mut files = project::written("foreign-operator", &commands, &WRITTEN);
    let test = files
        .get_mut("tests/controllers/cert_manager_io/certificate.rs")
        .unwrap();
    test.extend(include_bytes!("external/controller.rs"));
    let vendored = [
        ("Cargo.toml", &include_bytes!("external/types.toml")[..]),
        ("src/lib.rs", &include_bytes!("external/types.rs")[..]),
    ];
    files.extend(vendored.map(|(path, bytes)| (format!("{CRATE}/{path}"), bytes.to_vec())));
    files
}

#[test]
fn a_type_of_another_project_is_watched_and_asked_about() {
    // No other test has a project of this name: Cargo would take its artifacts for this one's.
    let (directory, _lock) = place_of_projects();
    place(&written(), &directory);
    let run = |arguments: &str| succeed(arguments, &mut cargo(&directory, arguments));
    run("clippy --all-targets -- -D warnings");
    run("run --quiet --bin manifests");
    run("run --quiet --bin manifests -- --check");
    let role = fs::read_to_string(directory.join("config/rbac/role.yaml")).unwrap();
    let rule = "- apiGroups:\n  - cert-manager.io\n  resources:\n  - certificates\n  verbs:\n  - get\n  - list\n  - patch\n  - watch\n";
    assert!(role.contains(rule), "{role}");
    check_manifests("external", &directory, &control_plane());
    says_which_crd_is_missing(&directory);
    let crds = directory.join("tests/crds");
    fs::create_dir_all(&crds).unwrap();
    fs::copy(
        "tests/projects/external/certificates.yaml",
        crds.join("certificates.yaml"),
    )
    .unwrap();
    run("test");
}

fn says_which_crd_is_missing(directory: &Path) {
    let output = cargo(directory, "test --test main").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let expected = "Error: the API server of the tests does not serve certificates.cert-manager.io in version v1: \
        put the CRD, as YAML, into tests/crds/";
    assert!(
        !output.status.success() && text.contains(expected),
        "{text}"
    );
}
