//! Comments in lists, and the entries that stand in them until the user wants them.
//!
//! Invariant: a comment is the user's to change, to delete and to make an entry of; none of it is a conflict.

use super::list::{Entry, List};
use crate::{change::ConflictKind, merge::hunks};

/// Merges the comments at one place: those that both sides changed stay the user's.
pub fn merge(old: &str, mine: &str, new: &str) -> Result<String, ConflictKind> {
    hunks::merge_where(old, mine, new, |_| true)
}

/// The comments of `mine` that are not in `old`.
pub fn comments_beside(old: &str, mine: &str) -> String {
    let is_comment = |line: &&str| line.trim_start().starts_with('#');
    let is_new = |line: &&str| is_comment(line) && !old.split_inclusive('\n').any(|it| it == *line);
    mine.split_inclusive('\n').filter(is_new).collect()
}

/// `old` and `new` as if they had as entries what they have commented out and the user has made an entry: so it stays where
/// it is, below its own comment, and is not written as a comment again.
pub fn uncommented(old: &List, mine: &List, new: &List) -> [List; 2] {
    let has = |list: &List, entry: &Entry| {
        let value = entry.value();
        list.entries.iter().any(|other| other.value() == value)
    };
    let new = with(new, |entry| has(mine, entry) && !has(old, entry));
    // What the template no longer has in any form stays the user's.
    let old = with(old, |entry| has(mine, entry) && has(&new, entry));
    [old, new]
}

/// `list` with those of its commented-out entries as entries that are `wanted` and that it has not.
fn with(list: &List, wanted: impl Fn(&Entry) -> bool) -> List {
    let has =
        |list: &List, entry: &Entry| list.entries.iter().any(|it| it.value() == entry.value());
    let mut read = List::default();
    let take = |read: &mut List, comments: &str| {
        for line in comments.split_inclusive('\n') {
            match commented_out(line).filter(|it| wanted(it) && !has(list, it) && !has(read, it)) {
                Some(entry) => {
                    let above = std::mem::take(&mut read.below);
                    read.entries.push(Entry { above, ..entry });
                }
                None => read.below.push_str(line),
            }
        }
    };
    for entry in &list.entries {
        take(&mut read, &entry.above);
        let above = std::mem::take(&mut read.below);
        let body = entry.body.clone();
        read.entries.push(Entry { above, body });
    }
    take(&mut read, &list.below);
    read
}

/// The entry in a comment, if it is a value.
fn commented_out(line: &str) -> Option<Entry> {
    let body = line.trim_start().strip_prefix('#')?.trim();
    let entry = Entry {
        above: String::new(),
        body: format!("{body}\n"),
    };
    (body.starts_with("- ") && entry.value().is_some()).then_some(entry)
}

#[cfg(test)]
mod tests {
    use crate::merge::yaml;

    const OLD: &str = "r:\n  - a\n  # Why x.\n  # - x\n  # Why y.\n  # - y\n";
    const NEW: &str = "r:\n  - a\n  - b\n  # Why x.\n  # - x\n  # Now y.\n  # - y\n";

    /// Merges a list that the user has edited, while the template has another entry and another comment.
    #[track_caller]
    fn check(ours: &str, expected: &str) {
        let [ours, expected] = [ours, expected].map(|list| format!("r:\n{list}"));
        assert_eq!(yaml::merge(OLD, &ours, NEW), Ok(expected));
    }

    #[test]
    fn an_entry_that_the_user_uncommented_is_an_entry() {
        check(
            "  - a\n  # Why x.\n  # - x\n  # Why y.\n  - y\n",
            "  - a\n  - b\n  # Why x.\n  # - x\n  # Now y.\n  - y\n",
        );
        check(
            "  - a\n  # Why x.\n  - x # mine\n  # Why y.\n  - 'y'\n",
            "  - a\n  - b\n  # Why x.\n  - x # mine\n  # Now y.\n  - 'y'\n",
        );
        // At another place, and without its comment.
        check(
            "  - y\n  - a\n  # Why x.\n  # - x\n",
            "  - y\n  - a\n  - b\n  # Why x.\n  # - x\n",
        );
        // The template no longer has it.
        let merged = yaml::merge(OLD, &OLD.replace("# - y", "- y"), "r:\n  - a\n  - b\n");
        assert_eq!(merged.unwrap().matches("- y").count(), 1);
        // The template has it as an entry, too.
        let new = NEW.replace("# - y", "- y");
        let merged = yaml::merge(OLD, &OLD.replace("# - y", "- y"), &new);
        assert_eq!(merged, Ok(new));
    }

    #[test]
    fn a_comment_that_both_changed_is_the_users() {
        check("  - a\n", "  - a\n  - b\n");
        check("  - a\n  # mine\n", "  - a\n  - b\n  # mine\n");
        check(
            "  - a\n  # Why x.\n  # - x\n  # My y.\n  # - y\n",
            "  - a\n  - b\n  # Why x.\n  # - x\n  # My y.\n  # - y\n",
        );
        check(
            "  - a\n  # Why y.\n  # - y\n  - mine\n",
            "  - a\n  - b\n  # Why y.\n  # - y\n  - mine\n",
        );
        let merged = yaml::merge("r: []\n  # a\n", "r: []\n  # mine\n", "r:\n  - a\n  # b\n");
        assert_eq!(merged.as_deref(), Ok("r:\n  - a\n  # mine\n"));
        let merged = yaml::merge("# a\nr: []\n", "# mine\nr: []\n", "# b\nr:\n- a\n");
        assert_eq!(merged.as_deref(), Ok("# mine\nr:\n- a\n"));
    }
}
