//! OLM bundles and catalogs of recorded projects, judged by operator-framework's own validators.
//!
//! Nothing is compiled but the example `bundle`, which is the `manifests` binary of a project.

mod contents;
mod project;
mod refusals;
mod releases;

use anyhow::{Result, ensure};

use project::Project;

/// Every recorded project that OLM can install, and whether it is namespaced.
const PROJECTS: [(&str, bool); 8] = [
    ("cert-manager", false),
    ("fields", false),
    ("imported", false),
    ("many", false),
    ("namespaced", true),
    ("nasty-names", false),
    ("one-api", false),
    ("webhooks", false),
];

#[test]
fn validators_find_nothing() -> Result<()> {
    for (name, namespaced) in PROJECTS {
        let mut project = Project::new(name)?;
        project.namespaced = namespaced;
        if ["imported", "webhooks"].contains(&name) {
            project.accept_all_namespaces()?;
        }
        project.bundle("0.1.0")?;
        let found = project.findings()?;
        ensure!(found.is_empty(), "{name}: {found}");
    }
    Ok(())
}

#[test]
fn validators_find_mistakes() -> Result<()> {
    let project = Project::new("one-api")?;
    project.bundle("0.1.0")?;
    let manifest = project.manifest();
    for (from, to, finding) in [
        (
            "kind: Memcached\n      name: mem",
            "kind: Other\n      name: mem",
            "not found in bundle",
        ),
        (
            "minKubeVersion: \"1.30.0\"",
            "minKubeVersion: new",
            "MinKubeVersion",
        ),
        ("requests:", "others:", "resource requests"),
        ("candidate", "anything", "naming convention"),
        ("arch.arm64: supported", "arch.arm64: unknown", "arm64"),
        ("image/svg+xml", "image/bitmap", "mediatype"),
    ] {
        for path in [&*manifest, "bundle/metadata/annotations.yaml"] {
            let text = project.read(path)?;
            project.write(path, &text.replace(from, to))?;
        }
        let found = project.findings()?;
        ensure!(found.contains(finding), "{to}: {found}");
        project.remove_bundle()?;
        project.bundle("0.1.0")?;
    }
    ensure!(project.findings()?.is_empty());
    Ok(())
}
