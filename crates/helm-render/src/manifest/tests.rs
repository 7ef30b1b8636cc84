use super::*;

fn sorted(files: &[(&str, &str)]) -> Manifests {
    let files = files.iter();
    let files = files.map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
    Manifests::of(&files.collect(), "c", false).unwrap()
}

#[test]
fn documents_are_split() {
    for (text, documents) in [
        (
            "\n \n---\n\n# c\na: 1\n---   \nb: 2\n---\n  \n---c: 3\n",
            vec!["# c\na: 1\n", "b: 2\n", "c: 3\n"],
        ),
        (
            "a: |\n  ---\n  x\n---\tb: 1",
            vec!["a: |\n  ---\n  x\n", "b: 1"],
        ),
        ("a: 1\n---", vec!["a: 1\n"]),
        ("----\na: 1", vec!["-\na: 1"]),
        (
            "\u{a0}\u{2003}a: 1\n--- \u{a0}\nb: 1",
            vec!["a: 1\n", "b: 1"],
        ),
        (" \n", vec![]),
    ] {
        assert_eq!(split(text), documents, "{text:?}");
    }
}

#[test]
fn manifests_are_in_the_order_of_kinds() {
    let sorted = sorted(&[
        (
            "c/templates/z.yaml",
            "kind: Deployment\n---\nkind: Zed\n---\nkind: Namespace",
        ),
        (
            "c/templates/a.yaml",
            "kind: Deployment\n---\nkind: Apple\n---\nkind: Service",
        ),
        ("c/templates/_p.yaml", "- no"),
        ("c/templates/e.yaml", " \n"),
    ]);
    let shown: Vec<String> = sorted
        .manifests
        .iter()
        .map(|it| format!("{} {}", it.head.kind, path::base(&it.path)))
        .collect();
    assert_eq!(
        shown,
        [
            "Namespace z.yaml",
            "Service a.yaml",
            "Deployment a.yaml",
            "Deployment z.yaml",
            "Apple a.yaml",
            "Zed z.yaml"
        ]
    );
}

#[test]
fn hooks_are_read() {
    let hook = |name: &str, annotations: &str| {
        format!("kind: Job\nmetadata: {{name: {name}, annotations: {{{annotations}}}}}\n---\n")
    };
    let text = [
        hook(
            "b",
            "helm.sh/hook: ' Pre-Install , TEST', helm.sh/hook-weight: '5', helm.sh/hook-delete-policy: 'hook-failed,x'",
        ),
        hook(
            "a",
            "helm.sh/hook: test-success, helm.sh/hook-weight: 5, helm.sh/hook-output-log-policy: Hook-Succeeded",
        ),
        hook("z", "helm.sh/hook: test, helm.sh/hook-weight: none"),
        hook("gone", "helm.sh/hook: 'test,nonsense'"),
        hook("empty", "helm.sh/hook: ''"),
        hook("kept", "helm.sh/resource-policy: ' KEEP '"),
    ];
    let sorted = sorted(&[("c/templates/a.yaml", &text.concat())]);
    let names: Vec<&str> = sorted.hooks.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["b", "a", "z"]);
    let b = &sorted.hooks[0];
    assert_eq!(b.events, [Event::PreInstall, Event::Test]);
    assert_eq!(b.weight, 5);
    assert_eq!(
        b.delete_policies,
        [
            DeletePolicy::HookFailed,
            DeletePolicy::Other("x".to_owned())
        ]
    );
    assert_eq!(sorted.hooks[1].log_policies, [LogPolicy::HookSucceeded]);
    let tests = sorted.hooks_of(Event::Test);
    let tests: Vec<&str> = tests.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(tests, ["z", "a", "b"]);
    assert!(sorted.manifests[0].is_kept());
    assert_eq!(sorted.manifests.len(), 1);
}

#[test]
fn notes_are_taken_out() {
    let files = [
        ("c/templates/NOTES.txt", "own"),
        ("c/charts/s/templates/NOTES.txt", "- of another"),
    ];
    assert_eq!(sorted(&files).notes, "own");
    let files = files.map(|(path, text)| (path.to_owned(), text.to_owned()));
    let all = Manifests::of(&files.into(), "c", true).unwrap();
    assert_eq!(all.notes, "- of another\nown");
    assert_eq!(all.manifests, []);
}

#[test]
fn heads_that_are_wrong() {
    for (text, wrong) in [
        ("- a", "array into Go value of type util.SimpleHead"),
        ("abc", "string into Go value of type util.SimpleHead"),
        (
            "kind: {a: 1}",
            "object into Go struct field SimpleHead.kind of type string",
        ),
        (
            "metadata: {name: [1]}",
            "array into Go struct field .metadata.name of type string",
        ),
    ] {
        let files = BTreeMap::from([("c/a.yaml".to_owned(), text.to_owned())]);
        let wrong = format!(
            "YAML parse error on c/a.yaml: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {wrong}"
        );
        assert_eq!(Manifests::of(&files, "c", false), Err(Error::new(wrong)));
    }
}
