use std::collections::BTreeSet;

use super::*;

#[test]
fn the_project_files_that_are_read() {
    let ours = "rust.example.com/v1";
    let read = |text: &str, is_go: bool| GoProject::read(text, is_go, &[ours]);
    let check = |text: &str, expected: Error| {
        assert_eq!(read(text, false), Err(expected));
    };
    let layout = |layout: &str| format!("layout: [{layout}]\nversion: \"3\"\n");
    check(
        "domain: a.b\nversion: \"4\"\n",
        Error::Version(Some("4".into())),
    );
    check("domain: a.b\n", Error::Version(None));
    check(&layout(ours), Error::Layout(ours.to_owned()));
    let of_both = format!("layout: [go.kubebuilder.io/v4, {ours}]\nversion: \"9\"\n");
    check(&of_both, Error::Layout(ours.to_owned()));
    let helm = "helm.sdk.operatorframework.io/v1";
    check(&layout(helm), Error::Layout(helm.to_owned()));
    check("version: \"3\"\n", Error::Layout(String::new()));
    for plugin in [
        "go.kubebuilder.io/v3",
        "go.kubebuilder.io/v4",
        "base.go.kubebuilder.io/v4",
    ] {
        assert!(read(&layout(plugin), false).is_ok(), "{plugin}");
    }
    let one = "layout: go.kubebuilder.io/v4\nresources:\nplugins:\nversion: 3\n";
    assert_eq!(read(one, false), Ok(GoProject::default()));
    let alpha = "layout: go.kubebuilder.io/v3\nversion: 3-alpha\n";
    assert_eq!(read(alpha, false), Ok(GoProject::default()));
    let bare = "version: \"3\"\n";
    assert_eq!(read(bare, true), Ok(GoProject::default()));
}

#[test]
fn every_entry_of_version_two_is_an_api() {
    let text =
        "domain: b.c\nrepo: x\nresources:\n- {group: a, version: v1, kind: Box}\nversion: \"2\"\n";
    let project = GoProject::read(text, true, &[]).unwrap();
    assert!(project.is_version_2);
    let entry = &project.resources[0];
    assert!(entry.is_api());
    assert_eq!(entry.api_group(), "a.b.c");
}

#[test]
fn an_entry_of_each_sort() {
    let text = r#"
layout: [go.kubebuilder.io/v4]
resources:
- {api: {crdVersion: v1}, controller: true, controllers: [{name: backup}], domain: b.c, group: a, kind: Box, version: v1}
- {core: true, group: apps, kind: Deployment, path: k8s.io/api/apps/v1, version: v1, webhooks: {defaulting: true}}
- {external: true, domain: io, group: cert-manager, kind: Certificate, plural: certs, path: x.y/z, version: v1, controller: true}
version: "3"
"#;
    let entries = GoProject::read(text, false, &[]).unwrap().resources;
    let are_apis: Vec<_> = entries.iter().map(Entry::is_api).collect();
    assert_eq!(are_apis, [true, false, false]);
    assert_eq!(entries[0].controllers(), [None, Some("backup")]);
    let groups: Vec<_> = entries.iter().map(Entry::api_group).collect();
    assert_eq!(groups, ["a.b.c", "apps", "cert-manager.io"]);
    assert!(entries[1].webhooks.defaulting);
}

fn files(files: &[(&str, &str)]) -> Files {
    let own = |(path, text): &(&str, &str)| ((*path).to_owned(), (*text).to_owned());
    Files::read(files.iter().map(own))
}

#[test]
fn the_file_of_a_controller() {
    let bar = |group: &str| Entry {
        group: group.to_owned(),
        version: "v1".to_owned(),
        kind: "Bar".to_owned(),
        ..Entry::default()
    };
    let many = files(&[
        ("internal/controller/fiz/bar_controller.go", ""),
        ("internal/controller/fiz/bar_controller_test.go", ""),
        ("internal/controller/foo/bar_controller.go", ""),
        ("internal/controller/foo/nightly_backup_controller.go", ""),
    ]);
    let check = |files: &Files, group: &str, name, expected: Option<&str>| {
        let expected: Vec<_> = expected.into_iter().collect();
        assert_eq!(files.controllers(&bar(group), name), expected);
    };
    check(
        &many,
        "foo",
        None,
        Some("internal/controller/foo/bar_controller.go"),
    );
    check(
        &many,
        "fiz",
        None,
        Some("internal/controller/fiz/bar_controller.go"),
    );
    let named = Some("internal/controller/foo/nightly_backup_controller.go");
    check(&many, "foo", Some("nightly-backup"), named);
    check(&many, "foo", Some("other"), None);
    let moved = files(&[("pkg/bars/reconcile.go", "x.For(&v1.Bar{})")]);
    check(&moved, "foo", None, Some("pkg/bars/reconcile.go"));
    let several = files(&[
        ("pkg/a/one.go", "x.For(&v1.Bar{})"),
        ("pkg/b/two.go", "x.For(&v1.Bar{})"),
        (
            "pkg/c/webhook.go",
            "ctrl.NewWebhookManagedBy(m).For(&v1.Bar{})",
        ),
    ]);
    let candidates = ["pkg/a/one.go", "pkg/b/two.go"];
    assert_eq!(several.controllers(&bar("foo"), None), candidates);
}

#[test]
fn what_is_not_scaffolded() {
    let files = files(&[
        ("api/v1/bar_types.go", "package v1\n\nfunc init() {}\n"),
        (
            "api/v1/baz_types.go",
            "package v1\n\nfunc (b *Baz) Size() int { return 1 }\n",
        ),
        ("api/v1/groupversion_info.go", ""),
        (
            "api/v1/zz_generated.deepcopy.go",
            "//go:build !x\n\n// Code generated by controller-gen. DO NOT EDIT.\n\nfunc (in *Bar) DeepCopy() {}",
        ),
        ("cmd/main.go", ""),
        ("config/crd/bases/a.yaml", ""),
        ("config/crd/patches/webhook_in_bars.yaml", ""),
        ("config/crd/patches/labels.yaml", ""),
        ("config/default/manager_metrics_patch.yaml", ""),
        ("config/default/tolerations.yaml", ""),
        ("config/extra/thing.yaml", ""),
        ("config/rbac/foo_bar_editor_role.yaml", ""),
        ("config/rbac/secrets_role.yaml", ""),
        ("internal/render/render.go", ""),
        ("internal/render/render_test.go", ""),
        ("test/utils/utils.go", ""),
    ]);
    let others: Vec<_> = files.others(&BTreeSet::new()).into_iter().collect();
    assert_eq!(
        others,
        [
            ("api/v1", vec!["baz_types.go"]),
            ("internal/render", vec!["render.go"])
        ]
    );
    assert_eq!(
        files.manifests(),
        [
            "config/crd/patches/labels.yaml",
            "config/default/tolerations.yaml",
            "config/extra/thing.yaml",
            "config/rbac/secrets_role.yaml",
        ]
    );
}

#[test]
fn the_binary_of_the_manager_is_known_by_its_command() {
    let check = |container: &str, binary: Option<&str>| {
        let text = format!("spec: {{template: {{spec: {{containers: [{container}]}}}}}}");
        let files = Files::read([(MANAGER.to_owned(), text)]);
        assert_eq!(files.binary().as_deref(), binary);
    };
    check("{command: [/usr/bin/librarian, run]}", Some("librarian"));
    check("{command: [manager]}", Some("manager"));
    check("{args: [--leader-elect]}", None);
    assert_eq!(Files::default().binary(), None);
}

#[test]
fn tests_are_listed_apart_from_those_that_only_start_others() {
    let paths = [
        "main_test.go",
        "internal/controller/suite_test.go",
        "internal/controller/book_test.go",
        "vendor/a/b_test.go",
    ];
    let files = Files::read(paths.map(|path| (path.to_owned(), "package a".to_owned())));
    let expected = [
        ("", vec!["main_test.go"]),
        ("internal/controller", vec!["book_test.go"]),
    ];
    assert_eq!(files.tests(), expected.into());
}
