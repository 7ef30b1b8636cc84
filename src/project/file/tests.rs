//! The text of `PROJECT`, and the fields that reading keeps.

use super::*;
use crate::project::testing::{create, empty};

pub const GOOD: &str = r#"# The desired state of this project. Commands of `operator-forge` edit it; after an edit of your own, run `operator-forge sync`.
# It is kubebuilder's project file, version 3; comments below this line are not kept.
domain: example.com
layout:
- rust.operator-forge/v1
plugins:
  rust.operator-forge/v1:
    license: apache2
    resources:
    - domain: example.com
      group: cache
      kind: Memcached
      options:
        shortNames:
        - mc
      version: v1alpha1
    runtime: vendored
    templates: 1
projectName: demo
resources:
- controller: true
  core: true
  group: apps
  kind: Deployment
  version: v1
- api:
    crdVersion: v1
    namespaced: true
  controller: true
  controllers:
  - name: backup
  domain: example.com
  group: cache
  kind: Memcached
  version: v1alpha1
- api:
    crdVersion: v1
  domain: example.com
  group: crew
  kind: Admiral
  plural: admirales
  version: v1
version: "3"
"#;

fn good() -> Project {
    [
        "crew v1 Admiral plural=admirales namespaced=false controller=false",
        "cache v1alpha1 Memcached short=mc",
        "cache v1alpha1 Memcached resource=false name=backup",
        "apps v1 Deployment resource=false",
    ]
    .iter()
    .fold(empty("example.com", false), |project, flags| {
        project.create_api(&create(flags)).unwrap()
    })
}

#[test]
fn is_written_sorted() {
    assert_eq!(good().write(), GOOD);
    assert_eq!(Project::read(GOOD.as_bytes()).unwrap(), good());
}

#[test]
fn unknown_fields_are_kept_at_every_level() {
    let mut text = GOOD.to_owned();
    for (before, field) in [
        ("domain: example.com\nlayout", "cliVersion: 4.15.0\n"),
        (
            "  rust.operator-forge/v1:",
            "  grafana.kubebuilder.io/v1-alpha: {}\n",
        ),
        (
            "    license: apache2",
            "    flavour: {b: 1, a: [x, 0.5, null]}\n",
        ),
        ("      kind: Memcached\n      options", "      hint: yes\n"),
        ("        shortNames", "        age: 0644\n"),
        ("    namespaced: true", "    listKind: '0x10'\n"),
        ("  - name: backup", "  - colour: on\n    name: again\n"),
        ("  plural: admirales", "  path: crate::api\n"),
        ("version: \"3\"", "tested: 'true'\n"),
    ] {
        text = text.replacen(before, &format!("{field}{before}"), 1);
    }
    let project = Project::read(text.as_bytes()).unwrap();
    let written = project.write();
    for kept in [
        "cliVersion: \"4.15.0\"\n",
        "  grafana.kubebuilder.io/v1-alpha: {}\n",
        "    flavour:\n      a:\n      - x\n      - 0.5\n      - null\n      b: 1\n",
        "      hint: \"yes\"\n",
        "        age: ",
        "    listKind: \"0x10\"\n",
        "  - colour: \"on\"\n    name: again\n",
        "  path: crate::api\n",
        "tested: \"true\"\n",
    ] {
        assert!(written.contains(kept), "{kept:?} in\n{written}");
    }
    assert_eq!(Project::read(written.as_bytes()).unwrap(), project);
    let changed = project.create_api(&create("cache v1 Other")).unwrap();
    assert!(changed.write().contains("listKind: \"0x10\""));
}

#[test]
fn order_style_and_line_ends_do_not_matter() {
    let compact = r#"{version: 3, layout: rust.operator-forge/v1, projectName: demo, domain: example.com,
        plugins: {rust.operator-forge/v1: {templates: 1}}, resources: [{kind: Foo, version: v1, group: z, domain: example.com,
        api: {namespaced: true}}, {kind: Bar, version: v1, group: a, domain: example.com, api: {}}]}"#;
    let project = Project::read(compact.as_bytes()).unwrap();
    let kinds: Vec<_> = project
        .resources()
        .map(|(key, _)| key.kind.as_str())
        .collect();
    assert_eq!(kinds, ["Bar", "Foo"]);
    assert_eq!(
        Project::read(GOOD.replace('\n', "\r\n").as_bytes()).unwrap(),
        good()
    );
}

/// kubebuilder reads YAML 1.1, where these words are booleans and numbers.
#[test]
fn words_that_another_reader_takes_for_something_else_are_quoted() {
    let project = empty("y.com", false).create_api(&create("on v1 On"));
    let text = project.unwrap().write().replace("Name: demo", "Name: off");
    let text = Project::read(text.as_bytes()).unwrap().write();
    for line in ["group: \"on\"", "kind: \"On\"", "projectName: \"off\""] {
        assert!(text.contains(line), "{line} in {text}");
    }
}
