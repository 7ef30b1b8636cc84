//! Lists of YAML: no entry that the template adds is lost, and no comment is in its way.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde::Deserialize;

use super::{Values, config, driver, edits, sides};

/// The values in the top-level lists of a text's documents; `None` where it is no YAML.
fn entries(text: &str) -> Option<BTreeSet<String>> {
    let mut entries = BTreeSet::new();
    for document in serde_yaml::Deserializer::from_str(text) {
        let document = serde_yaml::Value::deserialize(document).ok()?;
        for (key, value) in document.as_mapping().into_iter().flatten() {
            let values = value.as_sequence().into_iter().flatten();
            let values = values.filter(|value| !value.is_mapping());
            entries.extend(values.map(|value| format!("{key:?} {value:?}")));
        }
    }
    Some(entries)
}

/// Whether a merge has every entry that its new text adds to the base.
pub fn has_what_is_new(base: &str, theirs: &str, merged: &str) -> bool {
    let Some(mut new) = entries(theirs) else {
        return true;
    };
    let old = entries(base).unwrap_or_default();
    new.retain(|entry| !old.contains(entry));
    new.is_empty() || entries(merged).is_some_and(|merged| new.is_subset(&merged))
}

proptest! {
    #![proptest_config(config())]

    /// Comments and entries in them are the user's to edit, and no entry of either side is in their way.
    #[test]
    fn yaml_has_the_entries_of_both_sides_whatever_the_comments(edits in edits(), shown in proptest::collection::vec(0..4usize, 5)) {
        let (base, ours, theirs, both) = sides(&edits);
        let list = |values: &Values, why: &str, option: &dyn Fn(usize) -> String| {
            let entries: String = values.keys().map(|at| format!("  - f{at}.yaml\n")).collect();
            let options: String = (0..5).map(|at| format!("  # {why} {at}.\n{}", option(at))).collect();
            format!("kind: Kustomization\nresources:{}\n{entries}{options}", if entries.is_empty() { " []" } else { "" })
        };
        let hidden = |at| format!("  # - o{at}.yaml\n");
        let mine = |at| match shown[at] {
            0 => hidden(at),
            1 => String::new(),
            _ if ours.is_empty() => hidden(at),
            2 => format!("  - o{at}.yaml\n"),
            _ => format!("  # Mine.\n  - o{at}.yaml # why\n"),
        };
        let ours = list(&ours, "Why", &mine);
        let (base, theirs) = (list(&base, "Why", &hidden), list(&theirs, "Now", &hidden));
        let merged = driver("config/kustomization.yaml").merge(&base, &ours, &theirs).unwrap();
        let mut expected = both.keys().map(|at| format!("f{at}.yaml")).collect::<BTreeSet<_>>();
        let uncommented = |at: &usize| ours.contains(&format!("  - o{at}.yaml"));
        expected.extend((0..5).filter(uncommented).map(|at| format!("o{at}.yaml")));
        let document: serde_json::Value = serde_yaml::from_str(&merged).expect("YAML");
        let entries = document["resources"].as_array().unwrap();
        prop_assert_eq!(entries.len(), expected.len(), "{}", merged);
        prop_assert!(entries.iter().all(|entry| expected.contains(entry.as_str().unwrap())), "{}", merged);
        for at in (0..5).filter(uncommented) {
            prop_assert!(!merged.contains(&hidden(at)), "{}", merged);
        }
    }
}
