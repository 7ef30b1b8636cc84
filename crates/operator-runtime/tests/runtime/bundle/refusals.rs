//! Projects that cannot be a bundle: the error names the reason, and nothing is written.

use anyhow::{Result, ensure};

use super::project::Project;

/// What `make bundle` prints when it refuses.
fn refused(project: &Project, version: &str) -> Result<String> {
    let output = project.try_bundle(version, &["--channels", "candidate"])?;
    let text = String::from_utf8(output.stderr)?;
    ensure!(!output.status.success(), "nothing is refused");
    ensure!(!project.path().join("bundle").exists(), "{text}");
    Ok(text)
}

#[test]
fn bases_that_a_catalog_would_refuse() -> Result<()> {
    for (from, to, expected) in [
        (
            "kind: ClusterServiceVersion",
            "kind: Other",
            "it is no ClusterServiceVersion",
        ),
        (
            "name: memcached-operator.v0.0.0",
            "name: memcached",
            "`metadata.name` is not",
        ),
        (
            "displayName: Project Webhooks",
            "displayName: ''",
            "`spec.displayName` is missing or empty",
        ),
        (
            "maintainers:",
            "others:",
            "`spec.maintainers` is missing or empty",
        ),
        (
            "email: you@example.com",
            "email: you",
            "`spec.maintainers[0].email` is not an email address",
        ),
        (
            "url: https://example.com\n  icon",
            "href: x\n  icon",
            "`spec.links[0].url` is missing or empty",
        ),
        (
            "image/svg+xml",
            "text/html",
            "`spec.icon[0].mediatype` is not one of",
        ),
        (
            "minKubeVersion: 1.30.0",
            "minKubeVersion: 1.30",
            "`spec.minKubeVersion` is not a version",
        ),
        (
            "capabilities: Basic Install",
            "capabilities: All",
            "`capabilities` is not one of",
        ),
        (
            "maturity: alpha",
            "version: 0.1.0",
            "`spec.version` is generated; remove it",
        ),
        (
            "spec:\n",
            "spec: [\n",
            "cannot read `config/manifests/bases/clusterserviceversion.yaml`",
        ),
    ] {
        let project = Project::new("one-api")?;
        project.edit_base(from, to)?;
        let text = refused(&project, "0.1.0")?;
        ensure!(
            text.starts_with("error: ") && text.contains(expected),
            "{to}: {text}"
        );
    }
    Ok(())
}

#[test]
fn entries_of_the_base_that_the_project_does_not_have() -> Result<()> {
    for (list, expected) in [
        (
            "  customresourcedefinitions:\n    owned:\n      - name: a.example.com\n        version: v1\n",
            "describes version `v1` of `a.example.com`",
        ),
        (
            "  webhookdefinitions:\n    - generateName: none\n",
            "lists the webhook `none`",
        ),
    ] {
        let project = Project::new("one-api")?;
        project.add_to_base(list)?;
        let text = refused(&project, "0.1.0")?;
        ensure!(text.contains(expected), "{text}");
    }
    Ok(())
}

#[test]
fn objects_that_a_bundle_cannot_contain() -> Result<()> {
    let binding = "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata:\n  name: more\n  namespace: system\n\
                   roleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: ClusterRole\n  name: view\n\
                   subjects:\n  - kind: ServiceAccount\n    name: controller-manager\n    namespace: system\n";
    for (object, expected) in [
        (
            "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata:\n  name: door\n",
            "a bundle cannot contain `Ingress/memcached-operator-door`",
        ),
        (
            binding,
            "its role `ClusterRole/view` is not in `config/default`",
        ),
    ] {
        let project = Project::new("one-api")?;
        project.write("config/rbac/more.yaml", object)?;
        project.edit(
            "config/rbac/kustomization.yaml",
            "  - service_account.yaml",
            "  - service_account.yaml\n  - more.yaml",
        )?;
        let text = refused(&project, "0.1.0")?;
        ensure!(
            text.contains(expected) && text.contains("\nhelp: "),
            "{text}"
        );
    }
    Ok(())
}

#[test]
fn webhooks_that_olm_would_ask_too_often() -> Result<()> {
    let text = refused(&Project::new("webhooks")?, "0.1.0")?;
    let expected = "error: a bundle cannot contain the `namespaceSelector` of the webhook `default.pod.v1.core.k8s.io`\n";
    ensure!(text.starts_with(expected), "{text}");
    ensure!(
        text.ends_with(
            "    - generateName: default.pod.v1.core.k8s.io\n      failurePolicy: Ignore\n"
        ),
        "{text}"
    );
    Ok(())
}

#[test]
fn a_conversion_in_a_namespaced_project() -> Result<()> {
    let mut project = Project::new("webhooks")?;
    project.accept_all_namespaces()?;
    project.namespaced = true;
    let text = refused(&project, "0.1.0")?;
    ensure!(
        text.contains("cannot install the conversion webhook of `memcacheds.cache.example.com`"),
        "{text}"
    );
    Ok(())
}

#[test]
fn versions_that_cannot_be_released() -> Result<()> {
    let project = Project::new("one-api")?;
    for version in ["v0.1.0", "0.1", "0.1.0+1", ""] {
        let text = refused(&project, version)?;
        ensure!(
            text.contains(&format!("`{version}` is not a version of a bundle")),
            "{text}"
        );
    }
    project.bundle("0.2.0")?;
    let before = project.csv()?;
    let output = project.try_bundle("0.1.0", &["--channels", "candidate"])?;
    let text = String::from_utf8(output.stderr)?;
    ensure!(
        text.contains("version `0.1.0` is older than `0.2.0`"),
        "{text}"
    );
    ensure!(project.csv()? == before);
    Ok(())
}
