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
    assert_eq!(set_version(&text, "C", "v2"), Err(Fault::NoAttribute));
    assert!(matches!(
        set_version("struct {", "C", "v2"),
        Err(Fault::Unparsable(_))
    ));
}
