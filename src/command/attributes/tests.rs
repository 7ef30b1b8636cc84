use super::*;

fn memcached() -> Expected {
    Expected {
        group: "cache.example.com".into(),
        version: "v1".into(),
        kind: "Memcached".into(),
        plural: "memcacheds".into(),
        namespaced: true,
        short_names: vec!["mc".into(), "memc".into()],
    }
}

/// The drifts of a type with these attributes, as `line field: file, PROJECT`.
#[track_caller]
fn check(attributes: &str, drifts: &[&str]) {
    let source = format!(
        "use kube::CustomResource;\n#[derive(CustomResource)]\n{attributes}\npub struct Spec {{}}\n"
    );
    let found: Vec<String> = compare(&source, &memcached())
        .unwrap()
        .iter()
        .map(|d| format!("{} {}: {}, {}", d.line, d.field, d.file, d.project))
        .collect();
    assert_eq!(found, drifts);
}

const FIRST: &str = r#"#[kube(group = "cache.example.com", version = "v1", kind = "Memcached", "#;

#[test]
fn agrees() {
    for rest in [
        r#"namespaced, shortname = "memc", shortname = "mc")]"#,
        r#"namespaced = true, shortname = "memc", shortname = "mc", status = "S", printcolumn(name = "a"))]"#,
        r#"plural = "memcacheds")] #[kube(namespaced, shortname = "memc", shortname = "mc")]"#,
        r#"namespaced = "true", shortname = "mc", shortname = "memc", label("a", "b"))]"#,
    ] {
        check(&format!("{FIRST}{rest}"), &[]);
    }
}

#[test]
fn differs() {
    let names = r#"shortname = "memc", shortname = "mc")]"#;
    check(
        &format!("{FIRST}{names}"),
        &["3 scope: Cluster, Namespaced"],
    );
    check(
        &format!("{FIRST}namespaced = false, {names}"),
        &["3 scope: Cluster, Namespaced"],
    );
    check(
        &format!("{FIRST}namespaced,\nplural = \"memcached\", {names}"),
        &["4 plural: memcached, memcacheds"],
    );
    check(
        &format!("{FIRST}namespaced,\nshortname = \"m\")]"),
        &["4 short names: m, mc, memc"],
    );
    check(
        "#[kube(group = \"example.com\",\nversion = \"v2\",\nkind = \"Redis\",\nplural = \"memcacheds\",\nnamespaced, shortname = \"mc\", shortname = \"memc\")]",
        &[
            "3 group: example.com, cache.example.com",
            "4 version: v2, v1",
            "5 kind: Redis, Memcached",
        ],
    );
}

#[test]
fn what_is_no_literal_is_not_judged() {
    check("#[derive(Debug)]", &[]);
    check(
        r#"#[kube(group = GROUP, version = concat!("v", 1), kind = "Memcached", namespaced, shortname = "mc", shortname = "memc")]"#,
        &[],
    );
}

#[test]
fn the_place_of_a_syntax_error() {
    let (line, column, _) = compare("struct A;\nstruct {", &memcached()).unwrap_err();
    assert_eq!((line, column), (2, 8));
}
