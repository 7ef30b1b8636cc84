//! The merge drivers on random files that both sides have edited: what each did is in the result, and nothing else.
//!
//! `PROPTEST_CASES` is the number of inputs of each test.

use std::collections::{BTreeMap, BTreeSet};

use operator_forge::{merge::Driver, tree::RelPath};
use proptest::{prelude::*, sample::select, test_runner::FileFailurePersistence};

fn config() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: Some(Box::new(FileFailurePersistence::Off)),
        ..ProptestConfig::default()
    }
}

fn driver(path: &str) -> Driver {
    Driver::of(&path.parse::<RelPath>().unwrap())
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

    /// What the user wrote about a key is in the merged file, or the merge is a conflict.
    #[test]
    fn toml_loses_no_comment_of_the_user(edits in edits()) {
        let (base, ours, theirs, _) = sides(&edits);
        let plain = toml(&ours);
        let is_statement = |line: &str| line.starts_with(['k', '[', 'x']);
        let lines = plain.lines().enumerate().map(|(at, line)| match is_statement(line) {
            true if line.contains('#') => format!("# mine {at}.\n{line}\n"),
            true => format!("# mine {at}.\n{line} # beside {at}.\n"),
            false => format!("{line}\n"),
        });
        let commented: String = lines.collect();
        let Ok(merged) = driver("Cargo.toml").merge(&toml(&base), &commented, &toml(&theirs)) else {
            return Ok(());
        };
        for word in commented.lines().flat_map(|line| line.split('#').skip(1)).filter(|word| word.ends_with('.')) {
            prop_assert_eq!(merged.matches(&format!("#{word}")).count(), 1, "{}", merged);
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

    #[test]
    fn yaml_has_the_edits_of_both_sides(edits in edits()) {
        let (base, ours, theirs, both) = sides(&edits);
        let text = |values: &Values| {
            let line = |at| values.get(&at).map_or(String::new(), |value| format!("  - value: {value}\n"));
            (0..10).map(|at| format!("a{at}:\n  - first\n{}  # Why.\n  - last\n", line(at))).collect::<String>()
        };
        let merged = driver("config/manager/manager.yaml").merge(&text(&base), &text(&ours), &text(&theirs)).unwrap();
        prop_assert_eq!(merged, text(&both));
    }

    /// Lines apart from each other, so that no edit is beside another one.
    #[test]
    fn text_has_the_edits_of_both_sides(edits in edits(), file in select(vec!["Makefile", "src/main.rs"])) {
        let (base, ours, theirs, both) = sides(&edits);
        let text = |values: &Values| {
            let line = |at| values.get(&at).map_or(String::new(), |value| format!("mod m{at}_{value};\n"));
            (0..10).map(|at| format!("mod a{at};\nmod b{at};\n{}mod c{at};\n", line(at))).collect::<String>()
        };
        let merged = driver(file).merge(&text(&base), &text(&ours), &text(&theirs)).unwrap();
        prop_assert_eq!(merged, text(&both));
    }

    /// Any texts at all: no panic, what is merged stays merged, one side unchanged gives the other.
    #[test]
    fn any_text_is_merged_or_refused(base in any_text(), ours in any_text(), theirs in any_text()) {
        for file in FILES {
            let driver = driver(file);
            prop_assert_eq!(driver.merge(&base, &base, &theirs), Ok(theirs.clone()));
            prop_assert_eq!(driver.merge(&base, &ours, &base), Ok(ours.clone()));
            if let Ok(merged) = driver.merge(&base, &ours, &theirs) {
                prop_assert_eq!(driver.merge(&theirs, &merged, &theirs), Ok(merged));
            }
            let _ = driver.merge("", &ours, &theirs);
        }
    }
}
