//! Webhooks of types: whose they are, and where their files are.

use super::testing::{create, webhook};
use super::webhook_tests::{TWO, project, refused};
use super::*;

#[test]
fn kinds_that_nobody_defines() {
    refused(
        &[],
        "cache v1 Foo defaulting",
        "`cache/v1, Kind Foo` is defined neither by this project nor by Kubernetes",
        "operator-forge create api --group cache --version v1 --kind Foo",
    );
    refused(
        &[],
        "apps v1 Deploymint defaulting",
        "`apps/v1, Kind Deploymint` is defined neither by this project nor by Kubernetes",
        "--group apps --version v1 --kind Deployment",
    );
    refused(
        &TWO[..1],
        "cache v1 Foo validation",
        "`cache/v1, Kind Foo` is defined neither by this project nor by Kubernetes",
        "--version v1alpha1",
    );
}

const CERTIFICATE: &str =
    "cert-manager v1 Certificate domain=io path=cert_manager_crds::v1::Certificate";

#[test]
fn types_of_other_projects() {
    let first = format!("{CERTIFICATE} defaulting");
    let with_both = project(&[&first, "cert-manager v1 Certificate validation"]);
    let [view] = with_both.webhooks()[..] else {
        panic!("one entry");
    };
    assert_eq!(view.key.api_group(false), "cert-manager.io");
    assert!(view.webhooks.defaulting.is_some() && view.webhooks.validation.is_some());
    let text = with_both.write();
    assert!(
        text.contains("  path: cert_manager_crds::v1::Certificate\n"),
        "{text}"
    );
    assert_eq!(Project::read(text.as_bytes()).unwrap(), with_both);

    refused(
        &[&first],
        "cert-manager v1 Certificate domain=io path=other::Certificate validation",
        "the path of `cert-manager.io/v1, Kind Certificate` is `cert_manager_crds::v1::Certificate`, not `other::Certificate`",
        "--external-api-path cert_manager_crds::v1::Certificate",
    );
    refused(
        &[&first],
        "cert-manager v1 Certificate plural=certs validation",
        "the plural of `cert-manager.io/v1, Kind Certificate` is `certificates`, not `certs`",
        "--plural certificates",
    );
    refused(
        &[&first],
        &format!("{CERTIFICATE} conversion"),
        "`cert-manager.io/v1, Kind Certificate` is not defined by this project, so its versions are not converted here",
        "operator-forge status",
    );
    refused(
        &[],
        "cert-manager v1 Certificate path=a::Certificate validation",
        "the API group `cert-manager` has no dot",
        "--group cert-manager --external-api-domain io",
    );
    refused(
        &[],
        "apps v1 Deployment path=a::Deployment validation",
        "`apps/v1, Kind Deployment` is one of Kubernetes' types, not of another project",
        "leave out --external-api-path",
    );
    refused(
        &TWO[..1],
        "cache v1alpha1 Foo domain=example.com path=a::Foo validation",
        "`cache/v1alpha1, Kind Foo` is an API of this project, not of another project",
        "leave out --external-api-path",
    );
    refused(
        &TWO[..1],
        "cache.example.com v1alpha1 Foo path=a::Foo validation",
        "`cache.example.com/v1alpha1, Kind Foo` is an API of this project, not of another project",
        "leave out --external-api-path",
    );
}

#[test]
fn controllers_of_types_of_other_projects() {
    let path = format!("{CERTIFICATE} resource=false");
    let later = "cert-manager v1 Certificate resource=false name=renewer";
    let webhook = "cert-manager v1 Certificate defaulting";
    let mut with_all = project(&[&path, later, webhook]);
    let names: Vec<_> = with_all.controllers().into_iter().map(|c| c.name).collect();
    assert_eq!(names, ["cert-manager-io-certificate", "renewer"]);
    let first = format!("{CERTIFICATE} defaulting");
    let default = "cert-manager v1 Certificate resource=false";
    assert_eq!(project(&[&first, later, default]), with_all);
    assert_eq!(
        Project::read(with_all.write().as_bytes()).unwrap(),
        with_all
    );

    for entry in with_all.resources.values_mut() {
        entry.webhooks = None;
        entry.controllers.clear();
    }
    let failure = Project::read(with_all.write().as_bytes()).unwrap_err();
    assert_eq!(
        failure.what,
        "`PROJECT:13`: `cert-manager.io/v1, Kind Certificate` has neither an API, a controller nor webhooks"
    );
}

#[test]
fn two_kinds_in_one_directory() {
    refused(
        &["a-b v1 Foo", "a-b v1 Foo defaulting"],
        "a.b v1 Foo path=c::Foo validation",
        "the webhooks of `a-b/v1, Kind Foo` and `a.b/v1, Kind Foo` would both be in `src/webhooks/a_b/v1/foo/`",
        "operator-forge init --help",
    );
}

#[test]
fn two_types_of_one_name() {
    let error = "`apps/v1, Kind Deployment` would mean two types";
    let core = project(&["apps v1 Deployment defaulting"]);
    let failure = core.create_api(&create("apps v1 Deployment")).unwrap_err();
    assert_eq!(failure.what, error);
    // Once the project has the kind, its own is meant.
    let own = project(&["apps v1 Deployment", "apps v1 Deployment defaulting"]);
    assert!(!own.webhooks()[0].resource.core);
    refused(
        &["apps v1 Deployment"],
        "apps v1 Deployment path=a::Deployment validation",
        error,
        "operator-forge status",
    );
}

#[test]
fn two_groups_with_the_same_first_label() {
    let all = [
        "cert v1 Foo",
        "cert v1 Foo domain=io path=c::Foo validation",
        "cert v1 Foo domain=example.org path=d::Foo validation",
    ];
    let groups = |project: &Project| -> Vec<_> {
        let keys = project.webhooks().into_iter();
        keys.map(|view| view.key.group.to_string()).collect()
    };
    assert_eq!(groups(&project(&all)), ["cert.example.org", "cert.io"]);
    // The first labels are enough where they name one group.
    let named = project(&[all[1], "cert v1 Foo defaulting"]);
    assert_eq!(groups(&named), ["cert.io"]);
    refused(
        &all[1..],
        "cert v1 Foo defaulting",
        "`cert/v1, Kind Foo` is defined neither by this project nor by Kubernetes",
        "operator-forge status",
    );
}

/// kubebuilder writes the group of an external type in two parts, which stay.
#[test]
fn a_group_in_two_parts_stays() {
    let whole = project(&["cert v1 Foo domain=io path=c::Foo validation"]).write();
    let parts = whole.replace(
        "- external: true\n  group: cert.io",
        "- domain: io\n  external: true\n  group: cert",
    );
    let parts = Project::read(parts.as_bytes()).unwrap();
    let more = parts
        .create_webhook(&webhook("cert v1 Foo domain=io path=c::Foo defaulting"))
        .unwrap();
    let [view] = more.webhooks()[..] else {
        panic!("one entry");
    };
    assert_eq!(
        (view.key.group.as_str(), view.key.domain.as_str()),
        ("cert", "io")
    );
    assert!(view.webhooks.defaulting.is_some());
}
