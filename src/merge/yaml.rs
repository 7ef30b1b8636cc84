//! Kustomization files and other manifests: top-level lists are merged by entry, everything else by line.

use std::ops::Range;

use serde::Deserialize;

use super::hunks::{self, Neighbours};
use crate::change::ConflictKind;

/// Merges the entries of top-level lists first, then the rest line by line. Comments stay where they are.
pub fn merge(base: &str, ours: &str, theirs: &str) -> Result<String, ConflictKind> {
    let mut base = base.to_owned();
    let mut ours = ours.to_owned();
    for key in top_level_keys(theirs)
        .into_iter()
        .chain(top_level_keys(&base))
    {
        (base, ours) = merge_list(&key, &base, &ours, theirs);
    }
    if base.trim().is_empty() || base == theirs {
        return Ok(ours);
    }
    hunks::merge(&base, &ours, theirs, Neighbours::Apart, |_, _| None)
}

/// Whether every document of `text` is YAML.
pub fn parses(text: &str) -> Result<(), String> {
    for document in serde_yaml::Deserializer::from_str(text) {
        serde_yaml::Value::deserialize(document).map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// One entry of a list: the comment and blank lines above it, and its own lines.
#[derive(Clone, Default)]
struct Entry {
    above: String,
    body: String,
}

/// Two entries are the same whatever comments stand above them.
impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.body == other.body
    }
}

/// Brings `ours` and `base` to what `theirs` has in the list at `key`, keeping the user's own entries in `ours`.
fn merge_list(key: &str, base: &str, ours: &str, theirs: &str) -> (String, String) {
    let unchanged = (base.to_owned(), ours.to_owned());
    let list_or_absent =
        |text: &str| entries(key, text).is_some() || !top_level_keys(text).iter().any(|k| k == key);
    let Some(new) = entries(key, theirs) else {
        return unchanged;
    };
    let old = entries(key, base).unwrap_or_default();
    if new == old || !list_or_absent(base) || !list_or_absent(ours) {
        return unchanged;
    }
    let mut mine = entries(key, ours).unwrap_or_default();
    mine.retain(|entry| !old.contains(entry) || new.contains(entry));
    for (at, entry) in new.iter().enumerate() {
        if old.contains(entry) || mine.contains(entry) {
            continue;
        }
        let place_of = |entry: &Entry| mine.iter().position(|other| other == entry);
        let before = new[..at].iter().rev().find_map(place_of);
        let after = new[at + 1..].iter().find_map(place_of);
        let place = before
            .map(|place| place + 1)
            .or(after)
            .unwrap_or(mine.len());
        mine.insert(place, entry.clone());
    }
    (
        replace(key, base, &new, theirs),
        replace(key, ours, &mine, theirs),
    )
}

fn top_level_keys(text: &str) -> Vec<String> {
    text.lines().filter_map(key_of).map(str::to_owned).collect()
}

fn key_of(line: &str) -> Option<&str> {
    let (key, _) = line.split_once(':')?;
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    (!key.is_empty() && key.chars().all(plain) && !key.starts_with('-')).then_some(key)
}

/// The lines that hold the entries of the list at `key`, or `None` where there is no block list (or an empty `[]`).
fn block(key: &str, lines: &[&str]) -> Option<Range<usize>> {
    let at = lines.iter().position(|line| key_of(line) == Some(key))?;
    let rest = lines[at].split_once(':')?.1.trim();
    if rest == "[]" {
        return Some(at + 1..at + 1);
    }
    if !(rest.is_empty() || rest.starts_with('#')) {
        return None;
    }
    let mut end = at + 1;
    for (offset, line) in lines[at + 1..].iter().enumerate() {
        if line.starts_with("- ") || line.starts_with("  ") {
            end = at + 2 + offset;
        } else if !(line.trim().is_empty() || line.starts_with('#')) {
            break;
        }
    }
    let first = lines[at + 1..end]
        .iter()
        .find(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'))?;
    first.trim_start().starts_with("- ").then_some(at + 1..end)
}

/// The entries of the list at `key`, without their common indentation.
fn entries(key: &str, text: &str) -> Option<Vec<Entry>> {
    let lines: Vec<&str> = text.lines().collect();
    let range = block(key, &lines)?;
    let indent = indent(&lines[range.clone()]);
    let mut entries: Vec<Entry> = Vec::new();
    let mut above = String::new();
    for line in &lines[range] {
        let blank = line.len() - line.trim_start().len();
        let line = &line[indent.min(blank)..];
        if line.trim().is_empty() || line.trim_start().starts_with('#') {
            above.push_str(line);
            above.push('\n');
        } else if line.starts_with("- ") || entries.is_empty() {
            entries.push(Entry {
                above: std::mem::take(&mut above),
                body: format!("{line}\n"),
            });
        } else if let Some(entry) = entries.last_mut() {
            entry.body.push_str(&std::mem::take(&mut above));
            entry.body.push_str(line);
            entry.body.push('\n');
        }
    }
    Some(entries)
}

/// The columns in front of the entries of a block.
fn indent(lines: &[&str]) -> usize {
    let first = lines
        .iter()
        .find(|line| line.trim_start().starts_with("- "));
    first.map_or(0, |line| line.len() - line.trim_start().len())
}

/// `text` with the list at `key` holding exactly `entries`, indented as the list was, or else as `style` has it.
fn replace(key: &str, text: &str, entries: &[Entry], style: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let join = |lines: &[&str]| {
        lines
            .iter()
            .flat_map(|line| [*line, "\n"])
            .collect::<String>()
    };
    let head = if entries.is_empty() {
        format!("{key}: []\n")
    } else {
        format!("{key}:\n")
    };
    let model: Vec<&str> = style.lines().collect();
    let own = block(key, &lines)
        .map(|range| &lines[range])
        .filter(|lines| !lines.is_empty());
    let columns = own
        .or(block(key, &model).map(|range| &model[range]))
        .map_or(0, indent);
    let body: String = entries
        .iter()
        .flat_map(|entry| entry.above.lines().chain(entry.body.lines()))
        .map(|line| {
            if line.is_empty() {
                "\n".to_owned()
            } else {
                format!("{:columns$}{line}\n", "")
            }
        })
        .collect();
    match block(key, &lines) {
        Some(range) => join(&lines[..range.start - 1]) + &head + &body + &join(&lines[range.end..]),
        None => join(&lines) + &head + &body,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(base: &str, ours: &str, theirs: &str, expected: &str) {
        assert_eq!(merge(base, ours, theirs), Ok(expected.to_owned()));
    }

    #[test]
    fn entries_are_added_beside_the_users_own() {
        check(
            "resources:\n- a.yaml\n- b.yaml\n",
            "resources:\n# first\n- a.yaml\n- mine.yaml\n- b.yaml\nlabels: []\n",
            "resources:\n- a.yaml\n- b.yaml\n- c.yaml\n",
            "resources:\n# first\n- a.yaml\n- mine.yaml\n- b.yaml\n- c.yaml\nlabels: []\n",
        );
    }

    #[test]
    fn entries_are_removed_and_the_users_stay() {
        check(
            "resources:\n- a.yaml\n- b.yaml\n",
            "resources:\n- mine.yaml\n- a.yaml\n- b.yaml\n",
            "resources:\n- a.yaml\n",
            "resources:\n- mine.yaml\n- a.yaml\n",
        );
    }

    #[test]
    fn a_comment_above_an_entry_is_no_edit_of_it() {
        check(
            "resources:\n- a.yaml\n- b.yaml\n",
            "resources:\n# the first\n- a.yaml\n# the second\n- b.yaml\n",
            "resources:\n- b.yaml\n",
            "resources:\n# the second\n- b.yaml\n",
        );
    }

    #[test]
    fn an_entry_that_the_user_dropped_stays_dropped() {
        check(
            "resources:\n- a.yaml\n- b.yaml\n",
            "resources:\n- b.yaml\n",
            "resources:\n- a.yaml\n- b.yaml\n- c.yaml\n",
            "resources:\n- b.yaml\n- c.yaml\n",
        );
    }

    #[test]
    fn the_last_entry_goes_and_the_first_comes() {
        check(
            "resources:\n- a\n",
            "# hi\nresources:\n- a\n",
            "resources: []\n",
            "# hi\nresources: []\n",
        );
        check(
            "resources: []\n",
            "# hi\nresources: []\n",
            "resources:\n- a\n",
            "# hi\nresources:\n- a\n",
        );
    }

    #[test]
    fn entries_of_several_lines_move_as_one() {
        check(
            "patches:\n- path: a\n  target:\n    kind: Deployment\n",
            "patches:\n- path: a\n  target:\n    kind: Deployment\n- path: mine\n",
            "patches:\n- path: a\n  target:\n    kind: Deployment\n- path: b\n  target:\n    kind: Service\n",
            "patches:\n- path: a\n  target:\n    kind: Deployment\n- path: b\n  target:\n    kind: Service\n- path: mine\n",
        );
    }

    #[test]
    fn an_existing_file_is_adopted() {
        check(
            "",
            "resources:\n- mine\n",
            "resources:\n- a\n",
            "resources:\n- mine\n- a\n",
        );
    }

    #[test]
    fn the_users_indentation_is_kept() {
        check(
            "resources:\n  - a\n",
            "resources:\n- mine\n- a\n",
            "resources:\n  - a\n  - b\n",
            "resources:\n- mine\n- a\n- b\n",
        );
        check(
            "resources: []\n",
            "# mine\nresources: []\n",
            "resources:\n  # above\n  - a\n",
            "# mine\nresources:\n  # above\n  - a\n",
        );
    }

    #[test]
    fn a_scalar_is_merged_by_line() {
        check(
            "a: 1\nb: 2\n\n\nc: 3\n",
            "a: 9\nb: 2\n\n\nc: 3\n",
            "a: 1\nb: 2\n\n\nc: 4\n",
            "a: 9\nb: 2\n\n\nc: 4\n",
        );
        assert_eq!(
            merge("a: 1\n", "a: 2\n", "a: 3\n"),
            Err(ConflictKind::Overlap)
        );
    }
}
