//! The merge drivers on random files that both sides have edited: what each did is in the result, and nothing else.
//!
//! `PROPTEST_CASES` is the number of inputs of each test.

mod lists;

use std::collections::{BTreeMap, BTreeSet};

use operator_forge::{merge::Driver, tree::RelPath};
use proptest::{prelude::*, sample::subsequence, test_runner::FileFailurePersistence};

fn config() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: Some(Box::new(FileFailurePersistence::Off)),
        ..ProptestConfig::default()
    }
}

fn driver(path: &str) -> Driver {
    Driver::of(&RelPath::parse(path).unwrap())
}

/// What a side does to one name of a base that has some of them.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Edit {
    Leave,
    Set(u8),
    Remove,
}

/// For each of ten names whether the base has it, and which side edits it how.
fn edits() -> impl Strategy<Value = Vec<(bool, bool, Edit)>> {
    let edit = prop_oneof![
        3 => Just(Edit::Leave),
        2 => (1..5u8).prop_map(Edit::Set),
        1 => Just(Edit::Remove),
    ];
    proptest::collection::vec((any::<bool>(), any::<bool>(), edit), 10)
}

type Values = BTreeMap<usize, u8>;

/// The base, both sides, and both sides' edits together.
fn sides(edits: &[(bool, bool, Edit)]) -> (Values, Values, Values, Values) {
    let base: Values = (0..edits.len())
        .filter(|at| edits[*at].0)
        .map(|at| (at, 0))
        .collect();
    let edited = |wanted: &dyn Fn(bool) -> bool| {
        let mut values = base.clone();
        for (at, (_, side, edit)) in edits.iter().enumerate() {
            match edit {
                Edit::Set(value) if wanted(*side) => _ = values.insert(at, *value),
                Edit::Remove if wanted(*side) => _ = values.remove(&at),
                _ => {}
            }
        }
        values
    };
    (
        base.clone(),
        edited(&|ours| ours),
        edited(&|ours| !ours),
        edited(&|_| true),
    )
}

/// A manifest with the names spread over tables, lists and inline tables.
fn toml(values: &Values) -> String {
    let part = |range: std::ops::Range<usize>| values.range(range).map(|(at, value)| (*at, *value));
    let mut text = String::from("# top\nname = \"demo\"\n");
    part(0..3)
        .for_each(|(at, value)| text += &format!("# about {at}\nk{at} = {value} # behind {at}\n"));
    text += "\n[dependencies]\nkube = { version = \"5\"";
    part(3..5).for_each(|(at, value)| text += &format!(", k{at} = {value}"));
    text += " }\n";
    part(5..8).for_each(|(at, value)| text += &format!("k{at} = {value}\n"));
    part(8..10).for_each(|(at, value)| text += &format!("\n# table {at}\n[t{at}]\nx = {value}\n"));
    text
}

/// The keys and comments of a manifest: the order of what both sides added at one place is either's.
fn parts(text: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = text.split(['\n', ',', '{', '}']).map(str::trim).collect();
    parts.sort();
    parts
}

/// A kustomization whose entries are names, with their values in comments' reach.
fn yaml(values: &Values, indent: &str) -> String {
    let mut text = String::from("# top\nkind: Kustomization\n");
    for (key, range) in [("resources", 0..5), ("patches", 5..10)] {
        text += &format!(
            "{key}:{}\n",
            if values.range(range.clone()).next().is_none() {
                " []"
            } else {
                ""
            }
        );
        for (at, value) in values.range(range) {
            text +=
                &format!("{indent}# about {at}\n{indent}- path: f{at}\n{indent}  value: {value}\n");
        }
    }
    text + "namespace: demo\n"
}

fn parsed_yaml(text: &str) -> Values {
    let document: serde_json::Value = serde_yaml::from_str(text).expect("YAML");
    let entries =
        ["resources", "patches"].map(|key| document[key].as_array().cloned().unwrap_or_default());
    let number = |value: &serde_json::Value| {
        value
            .to_string()
            .trim_matches(['"', 'f'])
            .parse::<usize>()
            .unwrap()
    };
    let pair = |entry: &serde_json::Value| (number(&entry["path"]), number(&entry["value"]) as u8);
    entries.iter().flatten().map(pair).collect()
}

/// A line that a random side may hold, and that drivers give a meaning.
fn any_text() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        "[ -~]{0,10}\n?",
        "\\PC{0,6}\n",
        "(resources|patches|a):( \\[\\]| x|)\n",
        " {0,4}- [a-c](: [a-c])?\n",
        " {0,4}# [a-c]\n",
        "\\[?\\[[a-c](\\.[a-c])?\\]\\]?\n",
        "[a-c](\\.[a-c])? = ([0-9]|\"[a-c]\"|\\[[0-9], ?[0-9]\\]|\\{ a = [0-9] \\})( # [a-c])?\n",
        "(pub )?(mod|use) [a-c];\n",
        "fn [a-c]\\(\\) \\{\\}?\n",
        Just("---\n".to_owned()),
        Just("\r\n".to_owned()),
    ];
    proptest::collection::vec(line, 0..10).prop_map(|lines| lines.concat())
}

const FILES: [&str; 5] = [
    "Makefile",
    "src/main.rs",
    "Cargo.toml",
    "kustomization.yaml",
    ".gitignore",
];

proptest! {
    #![proptest_config(config())]

    #[test]
    fn toml_has_the_edits_of_both_sides(edits in edits()) {
        let (base, ours, theirs, both) = sides(&edits);
        let merged = driver("Cargo.toml").merge(&toml(&base), &toml(&ours), &toml(&theirs)).unwrap();
        let expected = toml(&both);
        prop_assert_eq!(parts(&merged), parts(&expected));
        // A comment stays above what it is about.
        for at in (0..3).filter(|at| both.contains_key(at)) {
            let about = format!("# about {at}\nk{at} = {} # behind {at}\n", both[&at]);
            prop_assert!(merged.contains(&about), "{}", merged);
        }
    }

    #[test]
    fn yaml_has_the_edits_of_both_sides(edits in edits(), mine in subsequence(vec!["", "  "], 1)) {
        let (base, ours, theirs, both) = sides(&edits);
        let driver = driver("config/kustomization.yaml");
        let (base, theirs) = (yaml(&base, "  "), yaml(&theirs, "  "));
        let merged = driver.merge(&base, &yaml(&ours, mine[0]), &theirs).unwrap();
        prop_assert_eq!(parsed_yaml(&merged), both);
        // Each entry has its comment above it, once.
        for at in 0..edits.len() {
            let entry = format!("- path: f{at}\n");
            let about = format!("# about {at}\n");
            prop_assert_eq!(merged.matches(&about).count(), merged.matches(&entry).count());
        }
    }

    /// What the user says about a key is no edit of it, and is in the file when the key is gone.
    #[test]
    fn toml_keeps_every_comment_of_the_user(edits in edits()) {
        let (base, ours, theirs, _) = sides(&edits);
        let merge = |ours: &str| driver("Cargo.toml").merge(&toml(&base), ours, &toml(&theirs)).unwrap();
        let plain = toml(&ours);
        let is_statement = |line: &str| line.starts_with(['k', '[', 'x']);
        let lines = plain.lines().enumerate().map(|(at, line)| match is_statement(line) {
            true if line.contains('#') => format!("# mine {at}.\n{line}\n"),
            true => format!("# mine {at}.\n{line} # beside {at}.\n"),
            false => format!("{line}\n"),
        });
        let commented: String = lines.collect();
        let merged = merge(&commented);
        for word in commented.lines().flat_map(|line| line.split('#').skip(1)).filter(|word| word.ends_with('.')) {
            prop_assert_eq!(merged.matches(&format!("#{word}")).count(), 1, "{}", merged);
        }
        let parsed = |text: &str| {
            let mut document = text.parse::<toml_edit::DocumentMut>().unwrap();
            document.as_table_mut().sort_values();
            let lines = document.to_string();
            let mut lines: Vec<String> = lines.lines().map(|line| line.split('#').next().unwrap().trim().to_owned()).collect();
            lines.retain(|line| !line.is_empty());
            lines.sort();
            lines
        };
        prop_assert_eq!(parsed(&merged), parsed(&merge(&plain)));
    }

    /// A value has the same fate in every form, and no comment is lost.
    #[test]
    fn yaml_knows_a_value_in_every_form(edits in edits(), forms in proptest::collection::vec(0..4usize, 10)) {
        let (base, ours, theirs, both) = sides(&edits);
        let list = |values: &Values, form: &dyn Fn(usize) -> String| {
            let entries: String = values.keys().map(|at| format!("  - {}\n", form(*at))).collect();
            format!("kind: Kustomization\nresources:{}\n{entries}", if entries.is_empty() { " []" } else { "" })
        };
        let plain = |at| format!("f{at}.yaml");
        let formed = |at: usize| match forms[at] {
            0 => plain(at),
            1 => format!("f{at}.yaml # mine {at}."),
            2 => format!("\"f{at}.yaml\""),
            _ => format!("'f{at}.yaml'  # mine {at}."),
        };
        let driver = driver("config/kustomization.yaml");
        let merged = driver.merge(&list(&base, &plain), &list(&ours, &formed), &list(&theirs, &plain)).unwrap();
        let document: serde_json::Value = serde_yaml::from_str(&merged).expect("YAML");
        let names: BTreeSet<String> = document["resources"].as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect();
        prop_assert_eq!(document["resources"].as_array().unwrap().len(), both.len());
        prop_assert_eq!(names, both.keys().map(|at| plain(*at)).collect::<BTreeSet<_>>());
        for at in ours.keys() {
            let comment = format!("# mine {at}.\n");
            prop_assert_eq!(merged.contains(&comment), forms[*at] % 2 == 1, "{}", merged);
            if both.contains_key(at) {
                let line = format!("  - {}\n", formed(*at));
                prop_assert!(merged.contains(&line), "{}", merged);
            }
        }
    }

    #[test]
    fn sets_of_lines_have_the_edits_of_both_sides(edits in edits()) {
        let (base, ours, theirs, both) = sides(&edits);
        let text = |values: &Values| values.iter().map(|(at, value)| format!("/{at}/{value}\n")).collect::<String>();
        let merged = driver(".gitignore").merge(&text(&base), &text(&ours), &text(&theirs)).unwrap();
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<BTreeSet<_>>();
        prop_assert_eq!(lines(&merged), lines(&text(&both)));
    }

    /// Lines apart from each other, so that no edit is beside another one.
    #[test]
    fn text_has_the_edits_of_both_sides(edits in edits(), file in 0..2usize) {
        let (base, ours, theirs, both) = sides(&edits);
        let text = |values: &Values| {
            let line = |at| values.get(&at).map_or(String::new(), |value| format!("mod m{at}_{value};\n"));
            (0..10).map(|at| format!("mod a{at};\nmod b{at};\n{}mod c{at};\n", line(at))).collect::<String>()
        };
        let merged = driver(FILES[file]).merge(&text(&base), &text(&ours), &text(&theirs)).unwrap();
        prop_assert_eq!(merged, text(&both));
    }

    /// Any texts at all: no panic, what is merged stays merged, one side unchanged gives the other, no entry is lost.
    #[test]
    fn any_text_is_merged_or_refused(base in any_text(), ours in any_text(), theirs in any_text()) {
        for file in FILES {
            let driver = driver(file);
            prop_assert_eq!(driver.merge(&base, &base, &theirs), Ok(theirs.clone()));
            prop_assert_eq!(driver.merge(&base, &ours, &base), Ok(ours.clone()));
            if let Ok(merged) = driver.merge(&base, &ours, &theirs) {
                let is_whole = file != "kustomization.yaml" || [&base, &ours].contains(&&theirs) || lists::has_what_is_new(&base, &theirs, &merged);
                prop_assert!(is_whole, "{}", merged);
                prop_assert_eq!(driver.merge(&theirs, &merged, &theirs), Ok(merged));
            }
            if let Ok(merged) = driver.merge("", &ours, &theirs) {
                prop_assert!(file != "kustomization.yaml" || ours == theirs || lists::has_what_is_new("", &theirs, &merged), "{}", merged);
            }
        }
    }
}
