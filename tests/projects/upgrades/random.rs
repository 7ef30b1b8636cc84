//! Random edits of any files before an update: none is lost, whatever it meets.
//!
//! `PROPTEST_CASES` is the number of updates.

use std::{collections::BTreeMap, fs, sync::LazyLock};

use proptest::{prelude::*, sample::Index, test_runner::FileFailurePersistence};
use tempfile::TempDir;

use crate::{
    fixture::{SETS, Tree, owners, projects, write},
    session::{assert_same, shell, tree},
};

/// What a user does to one file.
#[derive(Clone, Debug)]
enum Hand {
    /// A comment of its own line, somewhere.
    Comment(Index),
    Delete,
    Crlf,
}

fn hand() -> impl Strategy<Value = Hand> {
    prop_oneof![
        4 => any::<Index>().prop_map(Hand::Comment),
        1 => Just(Hand::Delete),
        1 => Just(Hand::Crlf),
    ]
}

/// The projects that are updated, one a set.
static PROJECTS: LazyLock<Vec<Tree>> = LazyLock::new(|| {
    let of = |set: u32| projects(set).remove("one-api").unwrap();
    SETS.into_iter().map(of).collect()
});

/// The comment that marks the edit with this number.
fn comment(path: &str, number: usize) -> String {
    match path.ends_with(".rs") {
        true => format!("// edit {number}."),
        false => format!("# edit {number}."),
    }
}

/// Does it, and returns the line that may not be lost.
fn edit(files: &mut Tree, path: &str, hand: &Hand, number: usize) -> Option<String> {
    let text = String::from_utf8(files.get(path)?.clone()).unwrap();
    match hand {
        Hand::Delete => _ = files.remove(path),
        Hand::Crlf => {
            let dos = text.replace("\r\n", "\n").replace('\n', "\r\n");
            files.insert(path.to_owned(), dos.into());
        }
        Hand::Comment(place) => {
            let mut lines: Vec<&str> = text.lines().collect();
            let comment = comment(path, number);
            let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
            lines.insert(place.index(lines.len() + 1), &comment);
            let edited: String = lines.iter().flat_map(|line| [*line, end]).collect();
            files.insert(path.to_owned(), edited.into());
            return Some(comment);
        }
    }
    None
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(24),
        max_shrink_iters: 64,
        failure_persistence: Some(Box::new(FileFailurePersistence::Off)),
        ..ProptestConfig::default()
    })]

    #[test]
    fn no_edit_is_lost(set in 0..SETS.len(), hands in proptest::collection::vec((hand(), any::<Index>()), 1..12)) {
        let mut made = PROJECTS[set].clone();
        let owned = owners(&made);
        // Half of the edits are in the few files that both sides change.
        let shared: Vec<&String> = owned.iter().filter(|(_, owner)| *owner == "shared").map(|(path, _)| path).collect();
        let all: Vec<&String> = owned.keys().collect();
        let mut comments = BTreeMap::new();
        let mut deleted = Vec::new();
        for (number, (hand, file)) in hands.iter().enumerate() {
            let path = match number % 2 {
                0 => shared[file.index(shared.len())],
                _ => all[file.index(all.len())],
            };
            if let Some(line) = edit(&mut made, path, hand, number) {
                comments.insert(line, path.clone());
            }
            if !made.contains_key(path) {
                comments.retain(|_, at| at != path);
                deleted.push(path.clone());
            }
        }
        let directory = TempDir::new().unwrap();
        write(&made, directory.path());

        let first = shell(directory.path(), "operator-forge update");
        if first.code == 1 {
            assert_same("a refusal", &made, &tree(directory.path()));
            let kept = shell(directory.path(), "operator-forge update --on-conflict keep");
            prop_assert!([0, 3].contains(&kept.code), "{}", kept.output);
        } else {
            prop_assert!([0, 3].contains(&first.code), "{}", first.output);
        }
        let now = tree(directory.path());
        for (line, path) in &comments {
            let text = now.get(path).map(|bytes| String::from_utf8_lossy(bytes).into_owned()).unwrap_or_default();
            prop_assert!(text.contains(line.as_str()), "`{line}` is lost in {path}:\n{text}");
        }
        // One that is the tool's now comes back.
        let owners = owners(&now);
        let is_tools = |path: &String| owned[path] == "tool" || owners.get(path).is_some_and(|it| it == "tool");
        for path in deleted.iter().filter(|path| !is_tools(path)) {
            prop_assert!(!now.contains_key(path), "{path} came back");
        }
        let again = shell(directory.path(), "operator-forge sync --dry-run --output json");
        prop_assert!(again.output.contains("\"changes\":[]"), "{}", again.output);
        fs::remove_dir_all(directory.path()).unwrap();
    }
}
