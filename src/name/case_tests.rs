//! Our rules against the names that the tests of Kubernetes and kubebuilder accept and refuse.

use serde::Deserialize;

use super::*;

#[derive(Deserialize)]
struct Case {
    field: String,
    value: serde_json::Value,
    valid: bool,
}

/// Differences on purpose, each with the reason.
const DELIBERATE: &[(&str, &str, &str)] = &[
    (
        "k8s:IsDNS1123Label",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "63 characters leave no room for the Service `<name>-metrics`; kubebuilder accepts it and fails on deploy",
    ),
    (
        "flect-plural",
        "octopus",
        "flect's `octupuses` is a slip of the pen",
    ),
];

#[test]
fn agrees_with_the_cases_of_kubernetes_and_kubebuilder() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/names/cases.json");
    let Ok(text) = std::fs::read_to_string(path) else {
        eprintln!("left out: no ../shared/names/cases.json beside the repository");
        return;
    };
    let cases: Vec<Case> = serde_json::from_str(&text).unwrap();
    let mut differences = Vec::new();
    let mut compared = 0;
    for case in &cases {
        let text = case.value.as_str().unwrap_or_default();
        let (text, same) = match case.field.as_str() {
            "k8s:IsDNS1123Label" => (text, text.parse::<ProjectName>().is_ok() == case.valid),
            // An empty group is a group without a name of its own.
            "k8s:IsDNS1123Subdomain" => (
                text,
                (text.parse::<Group>().is_ok() && !text.is_empty()) == case.valid,
            ),
            "k8s:IsDNS1035Label" => {
                let all = [
                    text.parse::<Plural>().is_ok(),
                    text.parse::<ShortName>().is_ok(),
                    text.parse::<ControllerName>().is_ok(),
                ];
                (text, all == [case.valid; 3])
            }
            "flect-plural" => {
                let word: serde_json::Value = match case.value.as_str() {
                    Some(text) => serde_json::from_str(text).unwrap(),
                    None => case.value.clone(),
                };
                let singular = word["singular"].as_str().unwrap().to_owned();
                if Some(plural::pluralize(&singular).as_str()) != word["plural"].as_str() {
                    differences.push((case.field.clone(), singular));
                }
                compared += 1;
                continue;
            }
            // Port names, label keys and values are no names of a project.
            _ => continue,
        };
        compared += 1;
        if !same {
            differences.push((case.field.clone(), text.to_owned()));
        }
    }
    let expected: Vec<_> = DELIBERATE
        .iter()
        .map(|(field, value, _)| (field.to_string(), value.to_string()))
        .collect();
    assert_eq!(differences, expected);
    assert!(compared > 300, "{compared}");
}
