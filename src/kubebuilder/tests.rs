use std::collections::BTreeSet;

use super::*;

#[test]
fn only_version_three_of_a_go_project_is_read() {
    let check = |text: &str, expected: Error| assert_eq!(GoProject::read(text), Err(expected));
    let layout = |layout: &str| format!("layout: [{layout}]\nversion: \"3\"\n");
    check(
        "domain: a.b\nversion: \"2\"\n",
        Error::Version(Some("2".into())),
    );
    check("version: 3-alpha\n", Error::Version(Some("3-alpha".into())));
    check("domain: a.b\n", Error::Version(None));
    check(&layout("rust.operator-forge/v1"), Error::Ours);
    let helm = "helm.sdk.operatorframework.io/v1";
    check(&layout(helm), Error::Layout(helm.to_owned()));
    check("version: \"3\"\n", Error::Layout(String::new()));
    for plugin in [
        "go.kubebuilder.io/v3",
        "go.kubebuilder.io/v4",
        "base.go.kubebuilder.io/v4",
    ] {
        assert!(GoProject::read(&layout(plugin)).is_ok(), "{plugin}");
    }
    let one = "layout: go.kubebuilder.io/v4\nresources:\nplugins:\nversion: 3\n";
    assert_eq!(GoProject::read(one), Ok(GoProject::default()));
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
    let entries = GoProject::read(text).unwrap().resources;
    let are_apis: Vec<_> = entries.iter().map(Entry::is_api).collect();
    assert_eq!(are_apis, [true, false, false]);
    assert_eq!(entries[0].controllers(), [None, Some("backup")]);
    let crds: Vec<_> = entries.iter().map(Entry::crd).collect();
    assert_eq!(
        crds,
        ["boxes.a.b.c", "deployments.apps", "certs.cert-manager.io"]
    );
    assert!(entries[1].webhooks.defaulting);
}

#[test]
fn markers_are_rules() {
    let text = r#"
// +kubebuilder:rbac:groups="",resources=configmaps;secrets,verbs=get;list;watch
//+kubebuilder:rbac:groups={apps,"batch"},resources=deployments/scale,verbs="*"
// +kubebuilder:rbac:groups=a,resources=b,resourceNames=c,verbs=get
// +kubebuilder:rbac:urls=/metrics,verbs=get
// +kubebuilder:object:root=true
"#;
    let list = |words: &[&str]| -> Vec<String> { words.iter().map(|&it| it.to_owned()).collect() };
    let found: Vec<_> = rules(text)
        .into_iter()
        .map(|it| (it.groups, it.resources, it.verbs, it.is_special))
        .collect();
    let expected = [
        (
            list(&[""]),
            list(&["configmaps", "secrets"]),
            list(&["get", "list", "watch"]),
            false,
        ),
        (
            list(&["apps", "batch"]),
            list(&["deployments/scale"]),
            list(&["*"]),
            false,
        ),
        (list(&["a"]), list(&["b"]), list(&["get"]), true),
        (list(&[]), list(&[]), list(&["get"]), true),
    ];
    assert_eq!(found, expected);
}

#[test]
fn markers_are_admissions() {
    let text = r#"
// +kubebuilder:webhook:path=/mutate-v1-pod,mutating=true,groups="",verbs=create;update,name=mpod.kb.io
//+kubebuilder:webhook:verbs={create,"delete"},timeoutSeconds=5
// +kubebuilder:webhookconfiguration:mutating=true,name=a
"#;
    let found = admissions(text);
    let settings = |at: usize| -> Vec<_> {
        let settings = found[at].settings.iter();
        settings
            .map(|it| (it.text.as_str(), it.values.join(" ")))
            .collect()
    };
    assert_eq!(found.len(), 2);
    assert_eq!(
        settings(0),
        [
            ("path=/mutate-v1-pod", "/mutate-v1-pod".to_owned()),
            ("mutating=true", "true".to_owned()),
            ("groups=\"\"", String::new()),
            ("verbs=create;update", "create update".to_owned()),
            ("name=mpod.kb.io", "mpod.kb.io".to_owned()),
        ]
    );
    assert_eq!(
        settings(1),
        [
            ("verbs={create,\"delete\"}", "create delete".to_owned()),
            ("timeoutSeconds=5", "5".to_owned()),
        ]
    );
    assert_eq!(found[1].values("verbs"), ["create", "delete"]);
    assert_eq!(found[1].values("name"), [""; 0]);
}

#[test]
fn calls_of_the_builder() {
    let text = "
        return ctrl.NewControllerManagedBy(mgr).
            For(&mediav1.Video{}).
            Owns(&appsv1.Deployment{}, builder.MatchEveryOwner).
            Owns( &Job{}).
            Watches(\n&corev1.Secret{}, handler).
            Watches(source, handler).
            Complete(r)";
    let kinds = |call| built(text, call).into_iter().collect::<Vec<_>>();
    assert_eq!(kinds("For"), ["Video"]);
    assert_eq!(kinds("Owns"), ["Deployment", "Job"]);
    assert_eq!(kinds("Watches"), ["Secret"]);
}

#[test]
fn flags_that_a_person_added() {
    let text = r#"
        flag.StringVar(&addr, "metrics-bind-address", "0", "usage")
        flag.DurationVar(&resync, "resync", time.Minute, "usage \"x\"")
        name := flag.String("region", "eu", "usage")
        pflag.IntVar(&n, "workers", 1, "usage")
        flag.Parse()
        opts.BindFlags(flag.CommandLine)
        fmt.Println("flag.Usage", "x")
    "#;
    assert_eq!(flags(text), ["resync", "region", "workers"]);
}

fn files(files: &[(&str, &str)]) -> Files {
    let own = |(path, text): &(&str, &str)| ((*path).to_owned(), (*text).to_owned());
    Files(files.iter().map(own).collect())
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
    let check = |files: &Files, group: &str, name, expected| {
        assert_eq!(files.controller(&bar(group), name), expected);
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
