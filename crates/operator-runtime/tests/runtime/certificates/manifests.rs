//! The manifests of a project in self-managed mode: those of a snapshot, through kustomize, with webhooks
//! of the tests.

use std::{fs, path::Path};

use anyhow::{Context, Result};
use operator_runtime::envtest::Cluster;

use super::site::{CRD, kubectl};

/// The recorded project, with what it shares with the smallest one, and the CRD that it converts.
const PROJECTS: [&str; 2] = [
    concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../snapshots/projects/webhooks/config"
    ),
    concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../snapshots/projects/minimal/config"
    ),
];
const CONVERTED: &str = "memcacheds.cache.example.com";
/// The name of its operator.
const OPERATOR: &str = "project-webhooks.example.com";

/// The manifests that the operator needs for its certificates.
const FILES: [&str; 5] = [
    "rbac/service_account.yaml",
    "rbac/leader_election_role.yaml",
    "webhook/certificate.yaml",
    "webhook/certificate_role.yaml",
    "webhook/kustomizeconfig.yaml",
];

const OTHERS: &str = include_str!("manifests.yaml");

/// The manifests for a namespace, with webhooks at a port.
pub fn render(cluster: &Cluster, namespace: &str, port: u16) -> Result<String> {
    let admin = cluster.control_plane().kubeconfig();
    let directory = admin.with_file_name(format!("{namespace}-manifests"));
    fs::create_dir_all(&directory)?;
    let mut kustomization =
        format!("namespace: {namespace}\nnamePrefix: {namespace}-\nresources:\n- others.yaml\n");
    for file in FILES {
        let mut places = PROJECTS.iter().map(|it| Path::new(it).join(file));
        let text = fs::read_to_string(places.find(|it| it.exists()).context("no such file")?)?;
        let name = file.replace('/', "-");
        let text = text
            .replace(CONVERTED, CRD)
            .replace(OPERATOR, "certificates.example.com");
        fs::write(directory.join(&name), text)?;
        kustomization += &match name.ends_with("kustomizeconfig.yaml") {
            true => format!("configurations:\n- {name}\n"),
            false => format!("- {name}\n"),
        };
    }
    let others = OTHERS
        .replace("NAMESPACE", namespace)
        .replace("PORT", &port.to_string());
    fs::write(directory.join("others.yaml"), others)?;
    fs::write(directory.join("kustomization.yaml"), kustomization)?;
    let directory = directory.display().to_string();
    kubectl(cluster, &["kustomize", &directory], "")
}
