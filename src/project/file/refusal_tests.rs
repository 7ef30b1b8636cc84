//! The refusals of a `PROJECT` that a person edited.

use super::tests::GOOD;
use super::*;

const EDIT: &str = "${EDITOR:-vi} PROJECT && operator-forge sync";

/// Reads the good file with one replacement.
#[track_caller]
fn check(from: &str, to: &str, error: &str, help: &str) {
    assert!(GOOD.contains(from), "{from}");
    refused(GOOD.replacen(from, to, 1).as_bytes(), error, help);
}

#[track_caller]
fn refused(text: &[u8], error: &str, help: &str) {
    let failure = Project::read(text).unwrap_err();
    assert_eq!(failure.what, error);
    // The last note has the field to write, and the advice opens the file.
    match failure.lines()[0].as_str() {
        EDIT if help != EDIT => {
            let last = failure.notes.last().map(String::as_str);
            assert_eq!(last, Some(&*format!("change it there: {help}")));
        }
        found => assert_eq!(found, help),
    }
    assert!(
        !failure.notes.is_empty()
            || help == "diff .operator-forge/PROJECT PROJECT"
            || help == "cp .operator-forge/PROJECT PROJECT"
    );
    assert_eq!(failure.exit_code(), 1);
}

#[test]
fn names() {
    check(
        "kind: Deployment",
        "kind: 2Deployment",
        "`PROJECT:24:9`: resources[0].kind: invalid kind `2Deployment`: it starts with a digit",
        "kind: Deployment",
    );
    check(
        "version: v1\n- api",
        "version: 1.0\n- api",
        "`PROJECT:25:12`: resources[0].version: invalid version `1.0`: it does not start with `v`",
        "version: v1",
    );
    check(
        "version: v1\n- api",
        "version: V1\n- api",
        "`PROJECT:25:12`: resources[0].version: invalid version `V1`: the `V` is upper case",
        "version: v1",
    );
    check(
        "projectName: demo",
        "projectName: De_mo",
        "`PROJECT:19:14`: projectName: invalid projectName `De_mo`: `D` is upper case",
        "projectName: de-mo",
    );
    check(
        "- mc",
        "- m_c",
        "`PROJECT:15:11`: plugins.rust.operator-forge/v1.resources[0].options.shortNames[0]: invalid shortName `m_c`: `_` is not allowed",
        "shortName: m-c",
    );
}

#[test]
fn types_of_fields() {
    check(
        "    namespaced: true",
        "    namespaced: maybe",
        "`PROJECT:28:17`: resources[1].api.namespaced: invalid type: string \"maybe\", expected a boolean",
        "diff .operator-forge/PROJECT PROJECT",
    );
    check(
        "crdVersion: v1",
        "crdVersion: v1beta1",
        "`PROJECT:27:17`: resources[1].api.crdVersion: unknown variant `v1beta1`, expected `v1`",
        "diff .operator-forge/PROJECT PROJECT",
    );
    check(
        "license: apache2",
        "license: gpl",
        "`PROJECT:8:14`: plugins.rust.operator-forge/v1.license: unknown variant `gpl`, expected one of `apache2`, `mit`, `none`, `custom`",
        "diff .operator-forge/PROJECT PROJECT",
    );
    check(
        "layout:\n- rust.operator-forge/v1",
        "layout: {a: b}",
        "`PROJECT:4:9`: layout: invalid type: map, expected a plugin key or a list of plugin keys",
        "diff .operator-forge/PROJECT PROJECT",
    );
    check(
        "templates: 1",
        "templates: one",
        "`PROJECT:18:16`: plugins.rust.operator-forge/v1.templates: invalid type: string \"one\", expected u32",
        "diff .operator-forge/PROJECT PROJECT",
    );
    check(
        "resources:\n- controller",
        "resources: none\nx:\n- controller",
        "`PROJECT:20:12`: resources: invalid type: string \"none\", expected a sequence",
        "diff .operator-forge/PROJECT PROJECT",
    );
}

#[test]
fn files_that_are_no_project() {
    refused(
        b"",
        "`PROJECT` is empty",
        "cp .operator-forge/PROJECT PROJECT",
    );
    refused(
        b"domain: \xff",
        "`PROJECT:1`: the file is not UTF-8 text",
        "cp .operator-forge/PROJECT PROJECT",
    );
    refused(
        b"{]",
        "`PROJECT:1:2`: did not find expected node content, while parsing a flow node",
        "diff .operator-forge/PROJECT PROJECT",
    );
    refused(
        b"just words",
        "`PROJECT:1:1`: invalid type: string \"just words\", expected the fields of a project",
        "diff .operator-forge/PROJECT PROJECT",
    );
    check(
        "layout:\n- rust.operator-forge/v1\n",
        "",
        "`PROJECT` has no `layout`",
        "cp .operator-forge/PROJECT PROJECT",
    );
    check(
        "version: \"3\"",
        "",
        "`PROJECT` has no `version`",
        "cp .operator-forge/PROJECT PROJECT",
    );
    check(
        "version: \"3\"",
        "version: \"4\"",
        "`PROJECT` has version `4`",
        "run the command again",
    );
    check(
        "- rust.operator-forge/v1",
        "- rust.operator-forge/v2",
        "`PROJECT` has layout `rust.operator-forge/v2`, this operator-forge knows `rust.operator-forge/v1`",
        "run the command again",
    );
    check(
        "- name: backup",
        "<<<<<<< HEAD\n  - name: backup\n=======\n",
        "`PROJECT:33`: a merge conflict is not resolved",
        "${EDITOR:-vi} PROJECT && operator-forge sync",
    );
    check(
        "  rust.operator-forge/v1:",
        "  other:",
        "`PROJECT`: `plugins` has no `rust.operator-forge/v1`",
        &format!(
            "plugins: {{rust.operator-forge/v1: {{templates: {}}}}}",
            crate::project::TEMPLATES
        ),
    );
}

#[test]
fn keys_that_are_not_words() {
    for (key, place, what) in [
        ("x:\n  ? {a: b}\n  : c\n", "2:5", "x: invalid type: map"),
        ("x: {[a]: b}\n", "1:5", "x: invalid type: sequence"),
        ("x: {{a}}\n", "1:5", "x: invalid type: map"),
        ("x: {\n  [a]}\n", "2:3", "x: invalid type: sequence"),
        (
            "x: &x [a]\ny:\n  *x : b\n",
            "1:4",
            "y: invalid type: sequence",
        ),
        (
            "x:\n  <<:\n    a: b\n",
            "2:3",
            "x: `<<` stands where a key belongs",
        ),
    ] {
        let text = format!("{key}{GOOD}");
        let expected = if what.contains("type") {
            ", expected a word as a key"
        } else {
            ""
        };
        refused(
            text.as_bytes(),
            &format!("`PROJECT:{place}`: {what}{expected}"),
            "diff .operator-forge/PROJECT PROJECT",
        );
    }
}

#[test]
fn projects_of_other_tools() {
    let go = "domain: testproject.org\nlayout:\n- go.kubebuilder.io/v4\nplugins:\n  manifests.sdk.operatorframework.io/v2: {}\nprojectName: captain\nrepo: x\nversion: \"3\"\n";
    let port = "operator-forge init ../captain-rs --from-kubebuilder .";
    let init = "operator-forge init ../captain-rs --domain testproject.org --project-name captain";
    refused(
        go.as_bytes(),
        "`PROJECT` belongs to another kind of project: a Go project of kubebuilder or operator-sdk (layout `go.kubebuilder.io/v4`)",
        port,
    );
    let helm = go.replace("go.kubebuilder.io/v4", "helm.sdk.operatorframework.io/v1");
    refused(
        helm.as_bytes(),
        "`PROJECT` belongs to another kind of project: a Helm operator of operator-sdk (layout `helm.sdk.operatorframework.io/v1`)",
        init,
    );
    let single = go.replace(
        "layout:\n- go.kubebuilder.io/v4",
        "layout: go.kubebuilder.io/v2",
    );
    refused(
        single.as_bytes(),
        "`PROJECT` belongs to another kind of project: a Go project of kubebuilder or operator-sdk (layout `go.kubebuilder.io/v2`)",
        port,
    );
}

#[test]
fn a_truncated_file_is_never_read_as_a_smaller_project() {
    for end in 0..GOOD.len() - 1 {
        assert!(
            Project::read(&GOOD.as_bytes()[..end]).is_err(),
            "{}",
            &GOOD[..end]
        );
    }
}

/// The rules of commands, each with the line of the entry, and with a field to write instead of a flag.
#[test]
fn the_rules_of_commands() {
    check(
        "group: crew\n  kind: Admiral\n  plural: admirales",
        "group: cache\n  kind: MEMCACHED\n  plural: admirales",
        "`PROJECT:26`: the kinds `MEMCACHED` and `Memcached` differ only by upper and lower case",
        "rename one of the kinds",
    );
    check(
        "group: crew\n  kind: Admiral\n  plural: admirales",
        "group: cache\n  kind: Memcached\n  plural: admirales",
        "`PROJECT:36`: `Memcached` has the plural `admirales` in v1 and `memcacheds` in v1alpha1",
        "plural: memcacheds",
    );
    check(
        "domain: example.com\n  group: crew",
        "domain: example.org\n  group: crew",
        "`PROJECT:36`: `crew/v1, Kind Admiral` has domain `example.org`, the project has `example.com`",
        "domain: example.com",
    );
    check(
        "- api:\n    crdVersion: v1\n  domain",
        "- controller: true\n  domain",
        "`PROJECT:36`: `crew/v1, Kind Admiral` is defined neither by this project nor by Kubernetes",
        "api: {crdVersion: v1, namespaced: true}",
    );
    check(
        "- api:\n    crdVersion: v1\n  domain",
        "- domain",
        "`PROJECT:36`: `crew/v1, Kind Admiral` has neither an API, a controller nor webhooks",
        "remove that entry",
    );
    check(
        "kind: Deployment",
        "kind: Deploymint",
        "`PROJECT:21`: `apps/v1, Kind Deploymint` is `core`, but Kubernetes has no such type",
        "remove `core: true` or correct the group, version or kind",
    );
    check(
        "  core: true\n",
        "  core: true\n  api: {}\n",
        "`PROJECT:21`: `apps/v1, Kind Deployment` is both `core` and an API of this project",
        "remove `api` or `core`",
    );
    check(
        "  plural: admirales",
        "  external: true\n  plural: admirales",
        "`PROJECT:36`: `crew/v1, Kind Admiral` is `external` and has no `path`",
        "path: cert_manager_crds::v1::Certificate",
    );
    check(
        "projectName: demo",
        "namespaced: true\nprojectName: demo",
        "`PROJECT:37`: `crew/v1, Kind Admiral` is cluster-scoped, but the project is namespaced",
        "api: {crdVersion: v1, namespaced: true}",
    );
    check(
        "      kind: Memcached\n      options",
        "      kind: Memcache\n      options",
        "`PROJECT`: there are options for `cache/v1alpha1, Kind Memcache`, which is not in `resources`",
        "remove that entry",
    );
    let twice = GOOD
        .replace("version: \"3\"", "")
        .replace("  plural: admirales\n", "")
        + "- api:\n    crdVersion: v1\n  domain: example.com\n  group: crew\n  kind: Admiral\n  version: v1\nversion: \"3\"\n";
    refused(
        twice.as_bytes(),
        "`PROJECT:43`: `crew/v1, Kind Admiral` has two entries",
        "remove one of the two",
    );
}
