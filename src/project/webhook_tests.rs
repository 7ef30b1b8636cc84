//! Every refusal of `create webhook`.

use super::testing::{create, empty, webhook};
use super::*;

/// A project after a number of commands: those with a kind of webhook in them are `create webhook`.
pub(super) fn project(commands: &[&str]) -> Project {
    let kinds = ["defaulting", "validation", "conversion"];
    let is_webhook = |flags: &str| kinds.iter().any(|kind| flags.contains(kind));
    commands
        .iter()
        .fold(empty("example.com", false), |project, flags| {
            let after = match is_webhook(flags) {
                true => project.create_webhook(&webhook(flags)),
                false => project.create_api(&create(flags)),
            };
            after.unwrap_or_else(|failure| panic!("{flags}: {failure:?}"))
        })
}

#[track_caller]
pub(super) fn refused(commands: &[&str], flags: &str, error: &str, help: &str) {
    let failure = project(commands).create_webhook(&webhook(flags));
    let failure = failure.unwrap_err();
    assert_eq!(failure.what, error);
    assert_eq!(failure.lines(), [help]);
    assert!(!failure.notes.is_empty(), "{failure:?}");
}

pub(super) const TWO: [&str; 2] = ["cache v1alpha1 Foo", "cache v1 Foo controller=false"];

pub(super) fn three() -> Vec<&'static str> {
    [&TWO[..], &["cache v2 Foo controller=false"]].concat()
}

#[test]
fn flags_that_contradict() {
    refused(
        &TWO,
        "cache v1 Foo",
        "no webhook is selected",
        "--defaulting --validation",
    );
    refused(
        &TWO,
        "cache v1 Foo validation defaulting-path=/x",
        "`--defaulting-path /x` is given without `--defaulting`",
        "--defaulting --defaulting-path /x",
    );
    refused(
        &TWO,
        "cache v1 Foo defaulting spoke=v1alpha1",
        "`--spoke v1alpha1` is given without `--conversion`",
        "--conversion --spoke v1alpha1",
    );
    refused(
        &TWO,
        "cache v1 Foo conversion spoke=v1alpha1 spoke=v1alpha1",
        "`--spoke v1alpha1` is given twice",
        "--spoke v1alpha1",
    );
}

#[test]
fn what_is_there_already() {
    refused(
        &[TWO[0], "cache v1alpha1 Foo defaulting"],
        "cache v1alpha1 Foo validation defaulting",
        "`cache/v1alpha1, Kind Foo` has a defaulting webhook already",
        "--force --dry-run --diff",
    );
    let converted = [TWO[0], TWO[1], "cache v1 Foo conversion"];
    refused(
        &converted,
        "cache v1 Foo conversion",
        "`Foo` converts every other version already",
        "--force --dry-run --diff",
    );
    refused(
        &converted,
        "cache v1 Foo conversion spoke=v1alpha1",
        "`Foo` converts v1alpha1 already",
        "--force --dry-run --diff",
    );
}

#[test]
fn conversions_that_cannot_be() {
    refused(
        &TWO[..1],
        "cache v1alpha1 Foo conversion",
        "`Foo` has one version, v1alpha1: there is nothing to convert",
        "operator-forge create api --group cache --version v1 --kind Foo --controller=false",
    );
    refused(
        &TWO,
        "cache v1 Foo conversion spoke=v1",
        "v1 is the hub of `Foo`, so it cannot be a spoke",
        "--spoke v1alpha1",
    );
    refused(
        &TWO,
        "cache v1 Foo conversion spoke=v3",
        "`Foo` has no version v3 to convert",
        "--spoke v1alpha1",
    );
    refused(
        &TWO,
        "cache v1 Foo conversion spoke=v3 spoke=v1alpha1",
        "`Foo` has no version v3 to convert",
        "operator-forge create api --group cache --version v3 --kind Foo --controller=false",
    );
    refused(
        &three(),
        "cache v1 Foo conversion",
        "`--spoke` is missing",
        "--spoke v1alpha1 --spoke v2",
    );
    refused(
        &[&three()[..], &["cache v1 Foo conversion spoke=v1alpha1"]].concat(),
        "cache v2 Foo conversion",
        "`Foo` has the hub v1 already, and cannot have v2, too",
        "--version v1 --spoke v2",
    );
    refused(
        &[],
        "core v1 Pod conversion",
        "`core/v1, Kind Pod` is not defined by this project, so its versions are not converted here",
        "operator-forge status",
    );
}

#[test]
fn paths_that_are_taken() {
    refused(
        &[TWO[0], "cache v1alpha1 Foo defaulting defaulting-path=/x"],
        "cache v1alpha1 Foo validation validation-path=/x",
        "the validation webhook of `cache/v1alpha1, Kind Foo` has the path `/x`, which the defaulting webhook of \
         `cache/v1alpha1, Kind Foo` has",
        "--validation-path /x-2",
    );
    // Whichever comes first in the file, the one that was asked for is told.
    refused(
        &["cache v1 Foo", "cache v1 Bar", "cache v1 Foo defaulting"],
        "cache v1 Bar defaulting defaulting-path=/mutate-cache-example-com-v1-foo",
        "the defaulting webhook of `cache/v1, Kind Bar` has the path `/mutate-cache-example-com-v1-foo`, which the \
         defaulting webhook of `cache/v1, Kind Foo` has",
        "--defaulting-path /mutate-cache-example-com-v1-foo-2",
    );
}

#[test]
fn names_have_an_end() {
    let (group, kind) = (format!("{}.a", "g".repeat(170)), "K".repeat(59));
    let api = format!("{group} v1 {}", "K".repeat(5));
    assert!(empty("", false).create_api(&create(&api)).is_ok());
    let flags = format!("{group} v1 {kind} path=a::B validation");
    let failure = empty("", false).create_webhook(&webhook(&flags));
    assert!(failure.is_ok());
    let flags = format!("{}.{group} v1 {kind} path=a::B validation", "h".repeat(20));
    let failure = empty("", false).create_webhook(&webhook(&flags));
    let error = failure.unwrap_err().what;
    assert!(error.ends_with("has 265 characters"), "{error}");
}

#[test]
fn the_service_is_named_by_the_project() {
    let with_name = |length: usize| {
        let mut project = empty("example.com", false);
        project.name = "p".repeat(length).parse().unwrap();
        project.create_webhook(&webhook("core v1 Pod defaulting"))
    };
    assert!(with_name(47).is_ok());
    let error = with_name(48).unwrap_err().what;
    assert!(error.ends_with("would have 64 characters"), "{error}");
}

#[test]
fn certificates_are_set_once() {
    let set = [
        TWO[0],
        "cache v1alpha1 Foo defaulting certificates=cert-manager",
    ];
    refused(
        &set,
        "cache v1alpha1 Foo validation certificates=mounted",
        "the certificates of this project are `cert-manager`, not `mounted`",
        "operator-forge edit --certificates mounted",
    );
    let same = project(&set).create_webhook(&webhook("cache v1alpha1 Foo validation"));
    let same = same.unwrap();
    assert_eq!(same.settings.certificates, Some(Certificates::CertManager));
    assert_eq!(Project::read(same.write().as_bytes()).unwrap(), same);
}

#[test]
fn the_hub_is_stored() {
    let stored = |commands: &[&str]| project(commands).kinds()[0].storage.to_string();
    assert_eq!(stored(&TWO), "v1");
    let older = [TWO[0], TWO[1], "cache v1alpha1 Foo conversion"];
    assert_eq!(stored(&older), "v1alpha1");
    let newer = [&three()[..], &["cache v2 Foo conversion spoke=v1"]].concat();
    assert_eq!(stored(&newer), "v2");
    assert_eq!(project(&newer).kinds()[0].spokes.len(), 1);
}

#[test]
fn force_makes_again_what_is_there() {
    let before = project(&[
        TWO[0],
        TWO[1],
        "cache v1 Foo defaulting conversion defaulting-path=/x",
    ]);
    let again = "cache v1 Foo defaulting conversion force";
    assert_eq!(before.create_webhook(&webhook(again)).unwrap(), before);
    let moved = before.create_webhook(&webhook(&format!("{again} defaulting-path=/y")));
    let text = moved.unwrap().write();
    assert!(text.contains("defaultingPath: /y\n"), "{text}");
}
