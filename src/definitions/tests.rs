//! Texts with definitions, texts that are ignored, and texts that are refused.

use super::*;

#[test]
fn lists_and_several_documents_are_read() {
    let crd = |name: &str| {
        format!(
            "{{kind: CustomResourceDefinition, apiVersion: apiextensions.k8s.io/v1, metadata: {{name: {name}}}}}"
        )
    };
    let read = |text: &str| super::read("test", text).map(|release| release.len());
    assert_eq!(
        read(&format!(
            "kind: ConfigMap\n---\n{}\n---\n---\n{}\n",
            crd("a"),
            crd("b")
        )),
        Ok(2)
    );
    assert_eq!(
        read(&format!("kind: List\nitems: [{}, {{kind: Pod}}]", crd("a"))),
        Ok(1)
    );
    let list = "kind: CustomResourceDefinitionList\napiVersion: apiextensions.k8s.io/v1\nitems: [{metadata: {name: a}}]";
    assert_eq!(read(list), Ok(1));
    assert_eq!(read(&format!("\u{feff}{}", crd("a"))), Ok(1));
    // What YAML cannot escape.
    let json = r#"{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1","metadata":{"name":"\ud83d\ude00"}}"#;
    assert_eq!(read(json), Ok(1));
}

#[test]
fn merge_keys_are_replaced_with_their_mappings() {
    let read = |text: &str| {
        let head = "kind: CustomResourceDefinition\napiVersion: apiextensions.k8s.io/v1\nmetadata: {name: a}\n";
        super::read("test", &format!("{head}{text}"))
    };
    let names = "spec: {names: {kind: A, plural: as}}\n";
    let merged = "x: &x {kind: A}\nspec: {names: {<<: *x, plural: as}}\n";
    assert_eq!(read(merged), read(names));
    assert!(read("spec: {<<: 3}\n").is_err());
}

#[test]
fn a_text_of_both_releases_is_read_once_and_each_names_its_own_file() {
    const TEXT: &str = "kind: CustomResourceDefinition\napiVersion: apiextensions.k8s.io/v1\nmetadata: {name: a}\n";
    let files = |sources: &[&str]| {
        let file = |source: &&str| Manifest {
            source: (*source).to_owned(),
            bytes: TEXT.into(),
        };
        sources.iter().map(file).collect::<Vec<_>>()
    };
    let after = Manifests::read(files(&["new.yaml"]), None);
    let before = Manifests::read(files(&["old.yaml"]), Some(&after))
        .release()
        .unwrap();
    let twice = Manifests::read(files(&["old.yaml", "copy.yaml"]), Some(&after)).release();
    let after = after.release().unwrap();
    assert_eq!(before, after);
    let only = |release: &Release| release.definitions().next().cloned().unwrap();
    assert!(Arc::ptr_eq(&only(&before), &only(&after)));
    let refused = twice.unwrap_err().to_string();
    assert!(refused.contains("`copy.yaml`"), "{refused}");
}

#[test]
fn a_text_that_does_not_parse_is_ignored_only_if_it_has_no_definition() {
    let read = |source: &str, text: &str| super::read(source, text).map(|release| release.len());
    for (source, text) in [
        ("empty.yaml", ""),
        ("empty.yaml", "\u{feff}# nothing\n---\n"),
        ("values.yaml", "a: 1\na: 2\nb: !tag [x]\n"),
        (
            "templates/pod.yaml",
            "{{- if .Values.pod }}\nkind: Pod\n{{ end }}",
        ),
        ("v1:config/crd/bases/README.md", "- [a](b): 'c\n# d: ["),
        ("dashboard.json", r#"{"title":"\ud83d\ude00"}"#),
    ] {
        assert_eq!(read(source, text), Ok(0), "{source}: {text}");
    }
    let utf16: Vec<u8> = "\u{feff}kind: CustomResourceDefinition"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    for (source, text, note) in [
        ("foo.json", "{", "it may contain CRDs"),
        ("foo.yml", "a: [", "it may contain CRDs"),
        ("standard input", "a: [", "it may contain CRDs"),
        ("foo.yaml", &String::from_utf8_lossy(&utf16), "`iconv "),
        (
            "crd.yaml",
            "{{- if .Values.crds }}\nkind: CustomResourceDefinition\n{{ end }}",
            "`helm template CHART",
        ),
    ] {
        let refusal = read(source, text).unwrap_err();
        assert!(refusal.what.contains(source), "{refusal:?}");
        assert!(refusal.notes.concat().contains(note), "{refusal:?}");
    }
}

#[test]
fn hostile_yaml_is_refused() {
    let crd = |schema: &str| {
        let text = format!(
            "kind: CustomResourceDefinition\napiVersion: apiextensions.k8s.io/v1\nmetadata: {{name: a}}\nspec: {{versions: [{{name: v1, schema: {{openAPIV3Schema: {schema}}}}}]}}"
        );
        read("test", &text).map(|release| release.len())
    };
    assert_eq!(crd("{type: object}"), Ok(1));
    // Deeper than the reader goes.
    assert!(
        crd(&format!(
            "{}{}",
            "{items: ".repeat(5_000),
            "}".repeat(5_000)
        ))
        .is_err()
    );
    // A billion laughs.
    let mut laughs = "&a0 {type: object}".to_owned();
    for level in 1..40 {
        laughs = format!(
            "&a{level} {{allOf: [{laughs}, *a{}, *a{}]}}",
            level - 1,
            level - 1
        );
    }
    assert!(crd(&laughs).is_err());
}
