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

fn path() -> RelPath {
    RelPath::parse("src/api/cache/v1/memcached.rs").unwrap()
}

/// The drifts of a type with these attributes, as `line field: file, PROJECT`.
#[track_caller]
fn check(attributes: &str, drifts: &[&str]) {
    let source = format!(
        "use kube::CustomResource;\n#[derive(CustomResource)]\n{attributes}\npub struct Spec {{}}\n"
    );
    let found = compare(&path(), &source, &memcached()).into_iter();
    let found = found.map(|Drift { line, what, .. }| match what {
        DriftKind::Differs {
            attribute,
            found,
            expected,
            ..
        } => format!("{line} {attribute}: {found}, {expected}"),
        DriftKind::Unparsable { why, .. } => why,
    });
    let found: Vec<String> = found.collect();
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
        r#"#[kube(group = GROUP, version = concat!("v", 1), kind = "Memcached", plural = MANY, namespaced = HERE, shortname = "mc", shortname = MEMC)]"#,
        &[],
    );
}

#[test]
fn the_place_of_a_syntax_error() {
    let drifts = compare(&path(), "struct A;\nstruct {", &memcached());
    let [
        Drift {
            line: 2,
            what: DriftKind::Unparsable { column: 8, .. },
            ..
        },
    ] = &drifts[..]
    else {
        panic!("{drifts:?}");
    };
}
