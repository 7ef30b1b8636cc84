use super::*;
use crate::merge::markers::split;

/// Entries of `resources` in short: `kind field=value …`.
fn project(entries: &[&str]) -> String {
    let mut text = "projectName: demo\n".to_owned();
    if !entries.is_empty() {
        text += "resources:\n";
    }
    for entry in entries {
        let mut words = entry.split(' ');
        text += &format!("- kind: {}\n  version: v1\n", words.next().unwrap());
        // Other entries are of types that the project does not define.
        if !entry.contains("core=") {
            text += "  api: {}\n";
        }
        for (name, value) in words.filter_map(|word| word.split_once('=')) {
            text += &format!("  {name}: {value}\n");
        }
    }
    text
}

fn conflicted(ours: &str, theirs: &str) -> Split {
    split(&format!(
        "<<<<<<< HEAD\n{ours}=======\n{theirs}>>>>>>> other\n"
    ))
    .unwrap()
}

#[track_caller]
fn check(base: &[&str], ours: &[&str], theirs: &[&str], expected: &[&str]) {
    let split = conflicted(&project(ours), &project(theirs));
    let merged = merge(Some(&project(base)), &split, Policy::Abort).unwrap();
    let value = |text: &str| serde_yaml::from_str::<Value>(text).unwrap();
    assert_eq!(value(&merged), value(&project(expected)));
}

#[test]
fn entries_of_both_sides_are_kept() {
    check(&["A"], &["A", "B"], &["A", "C"], &["A", "B", "C"]);
    check(&["A"], &["B"], &["A", "C"], &["B", "C"]);
    check(&["A"], &[], &["A", "B"], &["B"]);
    check(&["A"], &["A", "B"], &["A", "B"], &["A", "B"]);
}

#[test]
fn fields_of_one_entry_are_merged() {
    check(
        &["A"],
        &["A controller=true"],
        &["A spoke=[v2]"],
        &["A controller=true spoke=[v2]"],
    );
    check(
        &["A spoke=[v2]"],
        &["A spoke=[v2,v3]"],
        &["A spoke=[v2,v4]"],
        &["A spoke=[v2,v3,v4]"],
    );
}

#[test]
fn a_hub_goes_with_its_last_spoke() {
    check(
        &[r#"A webhooks={"conversion":true,"spoke":[v2,v3],"validation":true}"#],
        &[r#"A webhooks={"conversion":true,"spoke":[v3],"validation":true}"#],
        &[r#"A webhooks={"conversion":true,"spoke":[v2],"validation":true}"#],
        &[r#"A webhooks={"validation":true}"#],
    );
}

#[test]
fn an_entry_goes_with_the_last_that_it_held() {
    let hook = r#"webhooks={"validation":true,"webhookVersion":v1}"#;
    let (controlled, asked) = ("A core=true controller=true", format!("A core=true {hook}"));
    check(
        &[&format!("{controlled} {hook}"), "C"],
        &[controlled, "C"],
        &[&asked, "C"],
        &["C"],
    );
    let (own, both) = (
        format!("B {hook}"),
        r#"B webhooks={"defaulting":true,"validation":true}"#,
    );
    let other = r#"B webhooks={"defaulting":true}"#;
    check(&[both], &[&own], &[other], &["B"]);
}

#[test]
fn without_an_ancestor_what_one_side_has_was_added() {
    let merged = merge(
        None,
        &conflicted(&project(&["A"]), &project(&["B"])),
        Policy::Abort,
    )
    .unwrap();
    assert_eq!(
        serde_yaml::from_str::<Value>(&merged).unwrap()["resources"]
            .as_sequence()
            .unwrap()
            .len(),
        2
    );
}

#[test]
fn a_policy_says_which_side_counts() {
    let split = conflicted(&project(&["A plural=bs", "B"]), &project(&["A plural=cs"]));
    let plural = |policy| {
        let merged = merge(Some(&project(&["A plural=as"])), &split, policy).unwrap();
        let value: Value = serde_yaml::from_str(&merged).unwrap();
        assert_eq!(value["resources"][1]["kind"], "B");
        value["resources"][0]["plural"].clone()
    };
    assert_eq!(plural(Policy::Keep), "bs");
    assert_eq!(plural(Policy::Take), "cs");
}

#[test]
fn a_key_that_is_no_word_is_refused() {
    let split = conflicted("? a: 1\n: 1\n", "b: 2\n");
    let failure = merge(None, &split, Policy::Abort).unwrap_err();
    assert_eq!(
        failure.notes,
        ["a list, a mapping or `<<` stands where a key belongs"]
    );
}

#[test]
fn a_key_that_both_branches_changed_is_named_with_its_values() {
    let failure = merge(
        Some(&project(&["A plural=as"])),
        &conflicted(&project(&["A plural=bs"]), &project(&["A plural=cs"])),
        Policy::Abort,
    )
    .unwrap_err();
    assert_eq!(
        failure.what,
        "`PROJECT:1`: both branches changed `resources, /v1 A, plural`"
    );
    assert_eq!(failure.notes[0], "ours has `bs`, theirs has `cs`");
    let removed = merge(
        Some(&project(&["A", "B"])),
        &conflicted(&project(&["B"]), &project(&["A plural=cs", "B"])),
        Policy::Abort,
    )
    .unwrap_err();
    assert_eq!(removed.notes[0], "ours does not have it, theirs changed it");
}

#[test]
fn two_new_entries_with_different_fields_conflict() {
    let entry = |fields: &str| format!("{}- kind: B\n  version: v1\n{fields}", project(&["A"]));
    let merged = |ours: &str, theirs: &str, policy| {
        let split = conflicted(&entry(ours), &entry(theirs));
        merge(Some(&project(&["A"])), &split, policy)
    };
    let (namespaced, cluster) = ("  api:\n    namespaced: true\n", "  api: {}\n");
    for (ours, theirs) in [(namespaced, cluster), (cluster, namespaced)] {
        let error = merged(ours, theirs, Policy::Abort).unwrap_err().what;
        assert!(
            error.ends_with("`resources, /v1 B, api, namespaced`"),
            "{error}"
        );
        for (policy, expected) in [(Policy::Keep, ours), (Policy::Take, theirs)] {
            let text = merged(ours, theirs, policy).unwrap();
            assert_eq!(
                text.contains("namespaced: true"),
                expected == namespaced,
                "{text}"
            );
        }
    }
    let controller = format!("{cluster}  controller: true\n");
    let error = merged(&controller, cluster, Policy::Abort)
        .unwrap_err()
        .what;
    assert!(error.ends_with("`resources, /v1 B, controller`"), "{error}");
    // Webhooks add up.
    let webhooks = |kind: &str| format!("{cluster}  webhooks:\n    {kind}: true\n");
    let both = merged(
        &webhooks("defaulting"),
        &webhooks("validation"),
        Policy::Abort,
    )
    .unwrap();
    assert!(
        both.contains("defaulting: true") && both.contains("validation: true"),
        "{both}"
    );
}
