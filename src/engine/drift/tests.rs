use super::*;
use crate::project::Project;

/// A project with these entries, and options for each entry with short names.
fn project(options: &str, entries: &[String]) -> Project {
    let text = format!(
        "domain: example.com\nlayout: [rust.operator-forge/v1]\nprojectName: demo\nversion: \"3\"\nplugins:\n  \
         rust.operator-forge/v1:\n    templates: {}\n    resources:\n    - {{domain: example.com, {options}}}\nresources:\n{}",
        template::SET,
        entries.concat()
    );
    Project::read(text.as_bytes()).unwrap()
}

fn entry(group: &str, version: &str, kind: &str, rest: &str) -> String {
    format!(
        "- {{domain: example.com, group: '{group}', version: {version}, kind: {kind}, {rest}}}\n"
    )
}

const NAMESPACED: &str = "api: {crdVersion: v1, namespaced: true}";

fn compare_with_memcached(source: &str) -> Vec<Drift> {
    let options = "group: cache, version: v1, kind: Memcached, options: {shortNames: [mc, memc]}";
    let project = project(options, &[entry("cache", "v1", "Memcached", NAMESPACED)]);
    let path = RelPath::constant("src/api/cache/v1/memcached.rs");
    compare(&path, source, &project.apis()[0])
}

/// The drifts of a type with these attributes, as `line field: file, PROJECT`.
#[track_caller]
fn check(attributes: &str, drifts: &[&str]) {
    let source = format!(
        "use kube::CustomResource;\n#[derive(CustomResource)]\n{attributes}\npub struct Spec {{}}\n"
    );
    let found = compare_with_memcached(&source).into_iter();
    let found = found.map(|Drift { line, what, .. }| match what {
        DriftKind::Differs {
            attribute,
            found,
            expected,
            ..
        } => format!("{line} {attribute}: {found}, {expected}"),
        DriftKind::Unparsable { why, .. } => why,
        DriftKind::Spoke { .. } => unreachable!("a type is no controller"),
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
fn a_value_that_is_no_literal_is_not_compared() {
    check("#[derive(Debug)]", &[]);
    check(
        r#"#[kube(group = GROUP, version = concat!("v", 1), kind = "Memcached", plural = MANY, namespaced = HERE, shortname = "mc", shortname = MEMC)]"#,
        &[],
    );
}

#[test]
fn the_place_of_a_syntax_error() {
    let drifts = compare_with_memcached("struct A;\nstruct {");
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

#[test]
fn a_rendered_type_agrees_with_its_project() {
    let entries = [
        entry("cache", "v1", "Memcached", NAMESPACED),
        entry("cache", "v1alpha1", "Memcached", NAMESPACED),
        entry("cache", "v1", "Cluster", "api: {crdVersion: v1}"),
        entry(
            "crew",
            "v1",
            "Admiral",
            &format!("plural: admirales, {NAMESPACED}"),
        ),
        entry("type", "v2beta3", "Option", NAMESPACED),
        entry("", "v1", &"K".repeat(59), NAMESPACED),
        entry(&"g".repeat(63), "v10", "HTTPRoute", NAMESPACED),
    ];
    let options = "group: crew, version: v1, kind: Admiral, options: {shortNames: [ad, adm]}";
    let project = project(options, &entries);
    let tree = template::tree(&project).unwrap();
    let types = template::all_types(&project).unwrap();
    assert_eq!(types.len(), entries.len());
    for (path, api) in types {
        let source = String::from_utf8_lossy(&tree[&path].content);
        assert_eq!(compare(&path, &source, &api), Vec::new(), "{source}");
    }
}
