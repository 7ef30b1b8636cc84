//! The refusal of each kind of wrong name, and that each suggestion is accepted.

use crate::error::Failure;
use proptest::prelude::*;

use super::*;

#[track_caller]
fn check<T: FromStr<Err = Invalid> + fmt::Debug>(text: &str, error: &str, help: &str) {
    let failure = Failure::from(text.parse::<T>().unwrap_err());
    assert_eq!(failure.what, error);
    assert_eq!(failure.lines(), [help]);
    assert_eq!(failure.notes.len(), 1);
    assert_eq!(failure.exit_code(), 2);
}

#[test]
fn kinds() {
    let check = check::<Kind>;
    assert_eq!(
        "postgresql".parse::<Kind>().unwrap().camel_case().as_str(),
        "Postgresql"
    );
    check(
        "Foo-Bar",
        "invalid value `Foo-Bar` for `--kind`: `-` is not allowed",
        "--kind FooBar",
    );
    check(
        "F00_",
        "invalid value `F00_` for `--kind`: `_` is not allowed",
        "--kind F00",
    );
    check(
        "2Foo",
        "invalid value `2Foo` for `--kind`: it starts with a digit",
        "--kind Foo",
    );
    check(
        "HTTP route",
        "invalid value `HTTP route` for `--kind`: it contains a space",
        "--kind HTTPRoute",
    );
    let long = "K".repeat(60);
    let help = format!("--kind {}", &long[..59]);
    check(
        &long,
        &format!("invalid value `{long}` for `--kind`: it has 60 characters, 59 are allowed"),
        &help,
    );
}

#[test]
fn versions() {
    let check = check::<Version>;
    check(
        "1.0",
        "invalid value `1.0` for `--version`: it does not start with `v`",
        "--version v1",
    );
    check(
        "V1",
        "invalid value `V1` for `--version`: the `V` is upper case",
        "--version v1",
    );
    check(
        "beta",
        "invalid value `beta` for `--version`: it does not start with `v`",
        "--version v1beta1",
    );
    check(
        "v1.2",
        "invalid value `v1.2` for `--version`: `.2` after the number is not `alpha` or `beta`",
        "--version v1",
    );
    check(
        "v1alpha",
        "invalid value `v1alpha` for `--version`: no number up to 4294967295 follows the stage",
        "--version v1alpha1",
    );
    check(
        "v4294967296",
        "invalid value `v4294967296` for `--version`: no number up to 4294967295 follows the `v`",
        "--version v1",
    );
    check(
        "v1beta2x",
        "invalid value `v1beta2x` for `--version`: `x` is too much",
        "--version v1beta2",
    );
    check(
        "",
        "invalid value `` for `--version`: it is empty",
        "--version v1",
    );
}

#[test]
fn a_version_keeps_its_zeros() {
    for text in ["v0", "v00", "v01", "v10", "v1alpha08", "v00beta00", "v1"] {
        let version: Version = text.parse().unwrap();
        assert_eq!(version.to_string(), text);
    }
    let order = |a: &str, b: &str| a.parse::<Version>().unwrap() < b.parse().unwrap();
    assert!(order("v0", "v1") && order("v1alpha08", "v1alpha9") && order("v1", "v01"));
}

#[test]
fn groups_and_domains() {
    check::<Group>(
        "Cache",
        "invalid value `Cache` for `--group`: `C` is upper case",
        "--group cache",
    );
    check::<Group>(
        "a_b",
        "invalid value `a_b` for `--group`: `_` is not allowed",
        "--group a-b",
    );
    check::<Domain>(
        "example..com",
        "invalid value `example..com` for `--domain`: it contains `..`",
        "--domain example.com",
    );
    check::<Domain>(
        "example.com.",
        "invalid value `example.com.` for `--domain`: it ends with `.`",
        "--domain example.com",
    );
    check::<Domain>(
        "example.-com",
        "invalid value `example.-com` for `--domain`: in `-com`: it starts with `-`",
        "--domain example.com",
    );
    check::<Domain>(
        "https://example.com",
        "invalid value `https://example.com` for `--domain`: in `https://example`: `:` is not allowed",
        "--domain example.com",
    );
    assert!("".parse::<Group>().is_ok() && "".parse::<Domain>().is_ok());
}

#[test]
fn labels() {
    check::<ProjectName>(
        "My_Project",
        "invalid value `My_Project` for `--project-name`: `M` is upper case",
        "--project-name my-project",
    );
    let long = "p".repeat(56);
    check::<ProjectName>(
        &long,
        &format!(
            "invalid value `{long}` for `--project-name`: it has 56 characters, 55 are allowed"
        ),
        &format!("--project-name {}", &long[..55]),
    );
    check::<Plural>(
        "2foos",
        "invalid value `2foos` for `--plural`: it starts with a digit",
        "--plural foos",
    );
    check::<ShortName>(
        "mc-",
        "invalid value `mc-` for `--short-name`: it ends with `-`",
        "--short-name mc",
    );
    check::<ControllerName>(
        "Backup Controller",
        "invalid value `Backup Controller` for `--controller-name`: `B` is upper case",
        "--controller-name backup-controller",
    );
}

#[test]
fn a_flag_is_no_value() {
    check::<Group>(
        "--version",
        "invalid value `--version` for `--group`: it starts with `-`",
        "--group version",
    );
}

#[test]
fn nothing_to_suggest_still_helps() {
    check::<Kind>(
        "数据",
        "invalid value `数据` for `--kind`: `数` is not allowed",
        "--help",
    );
}

#[test]
fn versions_by_age_and_storage() {
    let mut versions: Vec<Version> = [
        "v10",
        "v2",
        "v1alpha2",
        "v1",
        "v1beta1",
        "v2beta3",
        "v1alpha10",
        "v2alpha1",
    ]
    .map(|text| text.parse().unwrap())
    .into();
    let texts = |versions: &[Version]| versions.iter().map(ToString::to_string).collect::<Vec<_>>();
    versions.sort();
    assert_eq!(
        texts(&versions),
        [
            "v1alpha2",
            "v1alpha10",
            "v1beta1",
            "v1",
            "v2alpha1",
            "v2beta3",
            "v2",
            "v10"
        ]
    );

    let storage = |texts: &[&str]| Version::storage(texts.iter().map(|text| text.parse().unwrap()));
    assert_eq!(
        storage(&["v1alpha1", "v1beta2", "v1beta1"])
            .unwrap()
            .to_string(),
        "v1beta1"
    );
    assert_eq!(
        storage(&["v2", "v1alpha1", "v1"]).unwrap().to_string(),
        "v1"
    );
    assert_eq!(storage(&[]), None);
}

/// Texts near and far from names.
fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-zA-Z0-9._ -]{0,70}",
        "[vV]?[0-9.]{0,12}(alpha|beta|rc)?[0-9]{0,3}",
        "[a-z.-]{240,260}",
        any::<String>()
    ]
}

fn check_suggestion<T: FromStr<Err = Invalid> + fmt::Display>(text: &str) {
    match text.parse::<T>() {
        Ok(name) => assert_eq!(name.to_string(), text),
        Err(Invalid {
            suggestion: Some(suggestion),
            ..
        }) => assert!(suggestion.parse::<T>().is_ok(), "{suggestion:?}"),
        Err(_) => (),
    }
}

proptest! {
    #[test]
    fn suggestions_are_accepted(text in texts()) {
        check_suggestion::<Domain>(&text);
        check_suggestion::<Group>(&text);
        check_suggestion::<Version>(&text);
        check_suggestion::<Kind>(&text);
        check_suggestion::<Plural>(&text);
        check_suggestion::<ProjectName>(&text);
    }

    #[test]
    fn every_kind_has_a_plural_a_module_and_a_type(text in "[A-Z][a-zA-Z0-9]{0,58}") {
        let kind = text.parse().unwrap();
        prop_assert!(Plural::of(&kind).as_str().parse::<Plural>().is_ok());
        let module = rust::Module::of_kind(&kind);
        let file = module.file();
        let plain = file.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
        prop_assert!(plain && !file.contains("__") && !file.starts_with(|c: char| c.is_ascii_digit()));
    }
}
