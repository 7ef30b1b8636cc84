use super::*;

/// `after` is what becomes of the attribute `before`, when it is to say `plural = bs`, the short names and the scope.
#[track_caller]
fn check(before: &str, short_names: &[&str], namespaced: bool, after: &str) {
    let type_of = |attribute: &str| {
        format!(
            "// Kept: kube(kind = \"B\").\n#[derive(Clone)]\n{attribute}\npub   struct BSpec {{}}\n"
        )
    };
    let names = Names {
        plural: "bs".to_owned(),
        short_names: short_names.iter().map(|name| (*name).to_owned()).collect(),
        namespaced,
    };
    let set = set_names(&type_of(before), "B", &names).unwrap();
    assert_eq!(set, type_of(after));
    assert_eq!(super::names(&set, "B").unwrap(), names);
    assert_eq!(set_names(&set, "B", &names).unwrap(), set);
}

#[test]
fn only_what_differs_is_changed() {
    check(
        r#"#[kube(group = "g", kind = "B", plural = "as", namespaced)]"#,
        &["b"],
        false,
        r#"#[kube(group = "g", kind = "B", plural = "bs", shortname = "b")]"#,
    );
    check(
        r#"#[kube(kind = "B")]"#,
        &["b", "c"],
        true,
        r#"#[kube(kind = "B", plural = "bs", shortname = "b", shortname = "c", namespaced)]"#,
    );
    check(
        "#[kube(\n    kind = \"B\", // why B\n    plural=r\"bs\",\n    shortname = \"x\", // x\n    shortname = \"y\",\n    namespaced,\n    doc = \"namespaced, plural\",\n)]",
        &[],
        false,
        "#[kube(\n    kind = \"B\", // why B\n    plural=r\"bs\",\n    // x\n    doc = \"namespaced, plural\",\n)]",
    );
    check(
        "#[kube(\n  kind = \"B\", // why B\n  status = \"BStatus\"\n)]",
        &[],
        true,
        "#[kube(\n  kind = \"B\", // why B\n  plural = \"bs\",\n  namespaced,\n  status = \"BStatus\"\n)]",
    );
    check(
        "#[kube(status = \"BStatus\",\n  kind = \"B\" // last\n)]",
        &["b"],
        false,
        "#[kube(status = \"BStatus\",\n  kind = \"B\", // last\n  plural = \"bs\",\n  shortname = \"b\"\n)]",
    );
    check(
        "#[kube(kind = \"B\", plural = \"bs\")]\n/// Between.\n#[kube(namespaced)]",
        &[],
        false,
        "#[kube(kind = \"B\", plural = \"bs\")]\n/// Between.\n#[kube()]",
    );
    check(
        "#[kube(kind = \"B\", plural = \"bs\", namespaced = false, doc = \"x\")]",
        &[],
        true,
        "#[kube(kind = \"B\", plural = \"bs\", namespaced, doc = \"x\")]",
    );
}

#[test]
fn what_is_no_literal_is_not_changed() {
    for items in ["plural = BS", "plural", "plural = \"bs\", namespaced = X"] {
        let text =
            format!("#[kube(kind = \"B\", version = VERSION, {items})]\nstruct BSpec {{}}\n");
        let names = Names {
            plural: "bs".to_owned(),
            short_names: Vec::new(),
            namespaced: true,
        };
        assert_eq!(
            set_names(&text, "B", &names),
            Err(Error::NoAttribute),
            "{items}"
        );
        assert_eq!(set_version(&text, "B", "v2"), Err(Error::NoAttribute));
    }
}

#[test]
fn only_the_kind_that_is_meant() {
    let of = |kind: &str, version: &str| {
        format!(
            "#[kube(kind = \"{kind}\", version = \"{version}\")]\nstruct {kind}Spec {{ #[kube(x)] y: u8 }}\n"
        )
    };
    let text = format!(
        "\u{feff}{}mod inner {{\n{}}}\n",
        of("A", "v1"),
        of("B", "v1")
    );
    let expected = format!(
        "\u{feff}{}mod inner {{\n{}}}\n",
        of("A", "v1"),
        of("B", "v2")
    );
    assert_eq!(set_version(&text, "B", "v2"), Ok(expected));
    assert_eq!(set_version(&text, "C", "v2"), Err(Error::NoAttribute));
    assert!(matches!(
        set_version("struct A;\nstruct {", "C", "v2"),
        Err(Error::Unparsable {
            line: 2,
            column: 8,
            ..
        })
    ));
}

#[test]
fn every_field_of_a_copy_is_named() {
    let types = "
        pub struct BSpec { pub size: u32, pub mode: Mode, pub disks: Option<Vec<Disk>> }
        pub struct BStatus {}
        pub enum Mode { Off, On { since: String }, Other(Box<Mode>) }
        pub struct Disk { pub labels: BTreeMap<String, Mode> }
    ";
    let members = |pairs: &[(&str, &str)]| Members {
        spoke: pairs.iter().map(|(name, _)| (*name).to_owned()).collect(),
        hub: pairs.iter().map(|(name, _)| (*name).to_owned()).collect(),
        to_hub: pairs.iter().map(|(_, value)| (*value).to_owned()).collect(),
        to_spoke: pairs.iter().map(|(_, value)| (*value).to_owned()).collect(),
    };
    let variant = |name: &str, brackets, pairs| Variant {
        name: name.to_owned(),
        brackets,
        members: members(pairs),
    };
    let expected = Conversion {
        spec: members(&[
            ("size", "size"),
            ("mode", "mode: mode.into()"),
            (
                "disks",
                "disks: disks.map(|it| it.into_iter().map(Into::into).collect())",
            ),
        ]),
        status: Some(Members::default()),
        open: Vec::new(),
        missing: Vec::new(),
        below: vec![
            Below {
                spoke: "Mode".to_owned(),
                hub: "Mode".to_owned(),
                members: Members::default(),
                variants: vec![
                    variant("Off", "", &[]),
                    variant("On", "{}", &[("since", "since")]),
                    variant("Other", "()", &[("field0", "Box::new((*field0).into())")]),
                ],
            },
            Below {
                spoke: "Disk".to_owned(),
                hub: "Disk".to_owned(),
                members: members(&[(
                    "labels",
                    "labels: labels.into_iter().map(|(key, value)| (key, value.into())).collect()",
                )]),
                variants: Vec::new(),
            },
        ],
    };
    assert_eq!(Conversion::of(types, "B"), Some(expected));
}

#[test]
fn fields_that_differ_stay_open() {
    let spoke = "
        pub struct BSpec { pub size: i32, pub mode: Mode, pub old: u8, pub disks: Vec<Disk>, pub port: i32 }
        pub enum Mode { On, Off }
        pub struct Disk { pub name: String }
    ";
    let hub = "
        pub struct BSpec { pub size: Option<i32>, pub mode: BMode, pub new: u8, pub disks: Vec<Disk>, pub port: i32 }
        pub struct BStatus { pub ready: bool }
        pub enum BMode { On, Auto }
        pub struct Disk { pub name: String, pub path: String }
    ";
    let names = |names: &[&str]| -> Vec<String> { names.iter().map(|&it| it.to_owned()).collect() };
    let conversion = Conversion::between(spoke, hub, "B", "v2").unwrap();
    let values = [
        "mode: mode.into()",
        "disks: disks.into_iter().map(Into::into).collect()",
        "port",
    ];
    assert_eq!(conversion.spec.to_spoke, names(&values));
    assert_eq!(
        conversion.spec.spoke,
        names(&["size", "mode", "old", "disks", "port"])
    );
    assert_eq!(
        conversion.spec.hub,
        names(&["size", "mode", "new: _", "disks", "port"])
    );
    assert_eq!(conversion.status, None);
    let below: Vec<_> = conversion
        .below
        .iter()
        .map(|it| (&*it.spoke, &*it.hub))
        .collect();
    assert_eq!(below, [("Mode", "BMode"), ("Disk", "Disk")]);
    let open = [
        "BSpec.size",
        "BSpec.old",
        "BSpec.new",
        "Mode::Off",
        "BMode::Auto",
        "Disk.path",
        "BStatus",
    ];
    assert_eq!(conversion.open, names(&open));
    assert_eq!(
        Conversion::between(spoke, "pub struct BFields {}", "B", "v2"),
        None
    );
}

#[test]
fn a_field_that_only_the_hub_has_starts_as_its_default() {
    let spoke = "
        pub struct BSpec { pub size: i32, pub disk: Disk }
        pub struct Disk { pub name: String }
    ";
    let hub = "
        pub struct BSpec { pub size: i32, pub disk: Disk, pub mode: Mode, pub note: Option<String> }
        impl Default for BSpec { fn default() -> Self { todo!() } }
        #[derive(Clone, Default)]
        pub struct Disk { pub name: String, pub path: String }
        pub enum Mode { A }
    ";
    let conversion = Conversion::between(spoke, hub, "B", "v2").unwrap();
    assert_eq!(conversion.spec.hub, ["size", "disk", "mode: _", "note: _"]);
    assert_eq!(
        conversion.spec.to_hub,
        [
            "size",
            "disk: disk.into()",
            "mode: v2::BSpec::default().mode",
            "note: None"
        ]
    );
    assert_eq!(conversion.spec.to_spoke, ["size", "disk: disk.into()"]);
    assert_eq!(
        conversion.below[0].members.to_hub,
        ["name", "path: v2::Disk::default().path"]
    );
    assert_eq!(conversion.open, ["BSpec.mode", "BSpec.note", "Disk.path"]);
    assert!(conversion.missing.is_empty());
    // Without a default, the compiler names the field.
    let hub = hub.replace("Default", "Debug");
    let conversion = Conversion::between(spoke, &hub, "B", "v2").unwrap();
    assert_eq!(
        conversion.spec.to_hub,
        ["size", "disk: disk.into()", "note: None"]
    );
    assert_eq!(conversion.missing, ["BSpec.mode", "Disk.path"]);
}

#[test]
fn a_field_that_clippy_allows_no_variable_of_has_another_variable() {
    let types = "pub struct BSpec { pub foo: u8, pub baz: Mode } pub enum Mode { A }";
    let spec = Conversion::of(types, "B").unwrap().spec;
    let patterns = ["foo: foo_field", "baz: baz_field"].map(str::to_owned);
    assert_eq!(spec.hub, patterns);
    assert_eq!(spec.spoke, patterns);
    assert_eq!(spec.to_hub, spec.to_spoke);
    assert_eq!(spec.to_spoke, ["foo: foo_field", "baz: baz_field.into()"]);
}

#[test]
fn what_is_not_known_is_left_to_the_user() {
    for fields in [
        "pub a: (Mode, u8)",
        "a: u8",
        "pub a: Hidden",
        "#[cfg(x)] pub a: u8",
        "pub a: Of<u8>",
    ] {
        let types = format!(
            "pub struct BSpec {{ {fields} }} pub struct BStatus {{}} pub enum Mode {{}} struct Hidden; pub struct Of<T>(T);"
        );
        assert_eq!(Conversion::of(&types, "B"), None, "{fields}");
    }
}

#[test]
fn a_kind_is_renamed_where_a_token_means_it() {
    let pair = |old: &str, new: &str| (old.to_owned(), new.to_owned());
    let names = Renamed {
        kind: pair("Memcached", "Type"),
        type_name: pair("Memcached", "TypeResource"),
        module: pair("memcached", "r#type"),
        plural: pair("memcacheds", "types"),
        controller: pair("cache-memcached", "cache-type"),
        library: "operator".to_owned(),
    };
    for (before, after) in [
        (
            "use crate::api::cache::v1::memcached::{Memcached, MemcachedSpec};",
            "use crate::api::cache::v1::r#type::{TypeResource, TypeResourceSpec};",
        ),
        (
            "use operator::{api::cache::{v1::memcached as v1, v2}, memcached};",
            "use operator::{api::cache::{v1::r#type as v1, v2}, memcached};",
        ),
        (
            "fn f(memcached: &Memcached) -> MemcachedX { g::memcached(\"Memcached\", \"a Memcached\") } // Memcached",
            "fn f(memcached: &TypeResource) -> MemcachedX { g::memcached(\"Type\", \"a Memcached\") } // Memcached",
        ),
        (
            "///Memcached\n#[kube(doc = \"Memcached is a resource of g.\")]\nstruct Memcached;",
            "///Memcached\n#[kube(doc = \"Type is a resource of g.\")]\nstruct TypeResource;",
        ),
        (
            "const NAME: &str = \"cache-memcached\"; const OTHER: &str = \"memcached\";",
            "const NAME: &str = \"cache-type\"; const OTHER: &str = \"memcached\";",
        ),
        (
            "#[kube(kind = \"Memcached\", plural = \"memcacheds\", status = \"MemcachedStatus\")]\nstruct MemcachedSpec;",
            "#[kube(kind = \"Type\", root = \"TypeResource\", plural = \"types\", status = \"TypeResourceStatus\")]\nstruct TypeResourceSpec;",
        ),
        (
            "use other::api::core::v1::Memcached as Core; use crate::api::cache::v1::Memcached; fn f(_: Memcached) {}",
            "use other::api::core::v1::Memcached as Core; use crate::api::cache::v1::TypeResource; fn f(_: TypeResource) {}",
        ),
        (
            "use other::{v1, x::Memcached}; use crate::api::cache::v1 as mine; fn f(_: Memcached, _: mine::Memcached, _: v1::Memcached) {}",
            "use other::{v1, x::Memcached}; use crate::api::cache::v1 as mine; fn f(_: Memcached, _: mine::TypeResource, _: v1::Memcached) {}",
        ),
        (
            "fn f(_: a::Memcached, _: Vec<super::Memcached>) { let x = ::b::Memcached; Kind::Memcached }",
            "fn f(_: a::Memcached, _: Vec<super::TypeResource>) { let x = ::b::Memcached; Kind::TypeResource }",
        ),
        (
            "use crate::api::cache::v1; fn f(_: v1::Memcached, _: other::Memcached) {}\nmod tests { use super::*; use crate::x::Memcached; }",
            "use crate::api::cache::v1; fn f(_: v1::TypeResource, _: other::Memcached) {}\nmod tests { use super::*; use crate::x::TypeResource; }",
        ),
    ] {
        assert_eq!(rename(before, &names).as_deref(), Ok(after));
    }
    // What has one of the new names already would be two things then.
    for (text, at) in [
        ("struct TypeResourceSpec;\nstruct MemcachedSpec;", Some(1)),
        (
            "fn f(_: Memcached) {}\nuse k8s::{a, b as TypeResource};",
            Some(2),
        ),
        ("struct TypeResourceSpec;\nfn f(_: Memcached) {}", None),
        (
            "struct MemcachedSpec;\nmod a { struct TypeResourceSpec; }",
            None,
        ),
    ] {
        let line = match rename(text, &names) {
            Err(Error::Unparsable { line, .. }) => Some(line),
            _ => None,
        };
        assert_eq!(line, at, "{text}");
    }
}

#[test]
fn of_two_plurals_the_first_is_changed_and_told() {
    let text = "#[kube(kind = \"A\", plural = \"as\", plural = \"bs\")]\nstruct S {}\n";
    let wanted = Names {
        plural: "cs".into(),
        short_names: Vec::new(),
        namespaced: false,
    };
    let edited = set_names(text, "A", &wanted).unwrap();
    assert_eq!(edited, text.replace("\"as\"", "\"cs\""));
    assert_eq!(names(&edited, "A"), Ok(wanted));
}

/// On a test's thread, which has a stack of 2 MiB.
#[test]
fn attributes_are_read_however_deep_the_text_is() {
    for (open, close) in [("[", "]"), ("(", ")"), ("{", "}")] {
        let deep = open.repeat(200_000) + &close.repeat(200_000);
        for (text, expected) in [
            (format!("#[kube(kind = {deep})] struct A;"), None),
            (
                format!("#[kube({deep}, kind = \"A\")] struct A;"),
                Some("A"),
            ),
            (
                format!("#[kube(kind = \"A\")] struct A {{ a: {deep} }}"),
                Some("A"),
            ),
        ] {
            let said = items(&text, "A").unwrap();
            let kind = said.iter().find(|item| item.name == "kind");
            assert_eq!(kind.and_then(Item::text), expected, "{open}");
        }
    }
}
