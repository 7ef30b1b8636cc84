//! Kustomization files and other manifests: top-level lists are merged by entry, everything else by line.
//!
//! Invariant: what is merged has every entry that the new text adds, or the merge is a conflict.

mod adopt;
mod block;
mod brackets;
mod comments;
mod gone;
mod list;
mod missing;

use self::block::{keys, list, replace};
use super::hunks;
use crate::{change::ConflictKind, yaml};

/// Merges the entries of top-level lists first, then the rest line by line. Comments stay where they are.
pub fn merge(base: &str, ours: &str, theirs: &str) -> Result<String, ConflictKind> {
    const MARK: char = '\u{feff}';
    if let Some(ours) = ours.strip_prefix(MARK) {
        return merge(base, ours, theirs).map(|merged| format!("{MARK}{merged}"));
    }
    let merged = match base.trim().is_empty() {
        true => adopt::merge(ours, theirs)?,
        false => by_entry_and_line(base, ours, theirs)?,
    };
    missing::check(base, ours, theirs, &merged)?;
    Ok(merged)
}

fn by_entry_and_line(base: &str, ours: &str, theirs: &str) -> Result<String, ConflictKind> {
    let mut base = base.to_owned();
    let mut ours = ours.to_owned();
    // In a file of several documents a key is no name of one list.
    if ![&*base, &ours, theirs].into_iter().any(is_several) {
        for key in keys(theirs) {
            (base, ours) = merge_list(key, &base, &ours, theirs)?;
        }
        (base, ours) = gone::merge(base, ours, theirs)?;
    }
    if base == theirs {
        return Ok(ours);
    }
    // Where a comment stands in the first column, it is none of a text.
    let is_comment = |line: &str| line.starts_with('#') || line.trim().is_empty();
    hunks::merge_where(&base, &ours, theirs, is_comment)
}

/// Whether a text has several documents.
fn is_several(text: &str) -> bool {
    let says_something = |line: &&str| !line.trim().is_empty() && !line.starts_with(['#', '%']);
    let lines = text.lines().filter(says_something);
    lines
        .skip(1)
        .any(|line| line == "---" || line.starts_with("--- "))
}

/// Whether every document of `text` is YAML.
pub fn parses(text: &str) -> Result<(), String> {
    yaml::documents::<serde_yaml::Value>(text)
        .map(drop)
        .map_err(|error| error.to_string())
}

/// Brings the list at `key` to what `theirs` has, in `base` whole and in `ours` beside the user's own entries.
fn merge_list(
    key: &str,
    base: &str,
    ours: &str,
    theirs: &str,
) -> Result<(String, String), ConflictKind> {
    let unchanged = (base.to_owned(), ours.to_owned());
    let adopting = base.is_empty();
    let list_or_absent = |text: &str| list(key, text).is_some() || !keys(text).contains(&key);
    let Some(new) = list(key, theirs) else {
        return Ok(unchanged);
    };
    let old = list(key, base).unwrap_or_default();
    if new == old || !list_or_absent(base) {
        return Ok(unchanged);
    }
    if !list_or_absent(ours) {
        return Ok(match brackets::add(key, ours, &old, &new) {
            Some(merged) => (replace(key, base, &new, theirs), merged),
            None => unchanged,
        });
    }
    let mine = list(key, ours).unwrap_or_default();
    let Some(merged) = list::merge(&old, &mine, &new, adopting)? else {
        return Ok(unchanged);
    };
    Ok((
        replace(key, base, &new, theirs),
        replace(key, ours, &merged, theirs),
    ))
}

#[cfg(test)]
mod tests;
