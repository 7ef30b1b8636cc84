//! Webhooks in `PROJECT`: their text, and the refusals in a file that a person edited.

use crate::project::Project;
use crate::project::testing::{create, empty, webhook};

const EDIT: &str = "${EDITOR:-vi} PROJECT && operator-forge sync";

const WRITTEN: &str = "\
- api:
    crdVersion: v1
    namespaced: true
  domain: example.com
  group: cache
  kind: Foo
  version: v1
  webhooks:
    conversion: true
    defaulting: true
    defaultingPath: /x
    spoke:
    - v1alpha1
    validation: true
    webhookVersion: v1
version: \"3\"
";

fn written() -> Project {
    let all = "cache v1 Foo defaulting defaulting-path=/x validation conversion";
    let versions = ["cache v1alpha1 Foo", "cache v1 Foo controller=false"];
    let with = |project: Project, flags| project.create_api(&create(flags)).unwrap();
    let project = versions.into_iter().fold(empty("example.com", false), with);
    project.create_webhook(&webhook(all)).unwrap()
}

#[test]
fn is_written_as_kubebuilder_does() {
    let text = written().write();
    assert!(text.ends_with(WRITTEN), "{text}");
    assert_eq!(Project::read(text.as_bytes()).unwrap(), written());
    let text = text.replace("    spoke:", "    mine: [1]\n    spoke:");
    let kept = Project::read(text.as_bytes()).unwrap().write();
    assert!(kept.contains("    mine:\n    - 1\n"), "{kept}");
}

/// Reads the written file with one replacement.
#[track_caller]
fn check(from: &str, to: &str, error: &str, help: &str) {
    let text = written().write();
    assert!(text.contains(from), "{from}");
    let failure = Project::read(text.replacen(from, to, 1).as_bytes()).unwrap_err();
    assert_eq!(failure.what, error);
    // The last note has the field to write, and the advice opens the file.
    match failure.lines()[0].as_str() {
        EDIT => {
            let last = failure.notes.last().map(String::as_str);
            assert_eq!(last, Some(&*format!("change it there: {help}")));
        }
        found => assert_eq!(found, help),
    }
}

#[test]
fn files_edited_by_hand() {
    check(
        "    defaulting: true\n",
        "",
        "`PROJECT:21`: `cache/v1, Kind Foo` has the defaultingPath `/x` without `defaulting`",
        "defaulting: true, or remove `defaultingPath`",
    );
    check(
        "    spoke:\n    - v1alpha1\n",
        "",
        "`PROJECT:21`: `cache/v1, Kind Foo` has `conversion` without `spoke`",
        "spoke: [v1alpha1], or remove `conversion`",
    );
    check(
        "    conversion: true\n",
        "",
        "`PROJECT:21`: `cache/v1, Kind Foo` has `spoke` without `conversion`",
        "conversion: true, or remove `spoke`",
    );
    check(
        "    - v1alpha1\n",
        "    - v1alpha1\n    - v1alpha1\n",
        "`PROJECT:21`: `cache/v1, Kind Foo` has the spoke v1alpha1 twice",
        "remove one of the two",
    );
    check(
        "    - v1alpha1\n",
        "    - v3\n",
        "`PROJECT:21`: `Foo` has no version v3 to convert",
        "remove v3 from `spoke`, or add that version with `api`",
    );
    check(
        "  version: v1alpha1\n",
        "  version: v1alpha1\n  webhooks: {conversion: true, spoke: [v1]}\n",
        "`PROJECT:22`: `Foo` has the hub v1alpha1 already, and cannot have v1, too",
        "remove `conversion` and `spoke` of one of the two",
    );
    check(
        "    defaultingPath: /x\n",
        "    defaultingPath: /convert\n",
        "`PROJECT:31:21`: resources[1].webhooks.defaultingPath: invalid path `/convert`: conversion has it",
        "path: /convert-defaults",
    );
    check(
        "  group: cache\n  kind: Foo\n  version: v1\n",
        "  external: true\n  group: cache\n  kind: Foo\n  version: v1\n",
        "`PROJECT:21`: `cache/v1, Kind Foo` is `external` and has no `path`",
        "path: cert_manager_crds::v1::Certificate",
    );
    check(
        "    crdVersion: v1\n    namespaced: true\n  domain: example.com\n  group: cache\n  kind: Foo\n  version: v1\n  webhooks",
        "    crdVersion: v1\n  external: true\n  path: a::Foo\n  domain: example.com\n  group: cache\n  kind: Foo\n  version: v1\n  webhooks",
        "`PROJECT:21`: `cache/v1, Kind Foo` is an API of this project, not of another project",
        "remove `external` and `path`",
    );
    check(
        "    templates: 1\n",
        "    certificates: none\n    templates: 1\n",
        "`PROJECT:10:19`: plugins.rust.operator-forge/v1.certificates: unknown variant `none`, expected one of \
         `self-managed`, `cert-manager`, `mounted`",
        "diff .operator-forge/PROJECT PROJECT",
    );
}
