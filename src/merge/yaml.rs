//! Kustomization files and other manifests: top-level lists are merged by entry, everything else by line.

mod block;
mod list;

use self::block::{keys, list, replace};
use super::hunks::{self, Neighbours};
use crate::{change::ConflictKind, yaml};

/// Merges the entries of top-level lists first, then the rest line by line. Comments stay where they are.
pub fn merge(base: &str, ours: &str, theirs: &str) -> Result<String, ConflictKind> {
    let mut base = base.to_owned();
    let mut ours = ours.to_owned();
    // In a file of several documents a key is no name of one list.
    if ![&base, &ours, theirs]
        .iter()
        .any(|text| text.lines().skip(1).any(|line| line == "---"))
    {
        for key in keys(theirs) {
            (base, ours) = merge_list(key, &base, &ours, theirs)?;
        }
    }
    if base.trim().is_empty() || base == theirs {
        return Ok(ours);
    }
    hunks::merge(&base, &ours, theirs, Neighbours::Apart, |_, _| None)
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
    let list_or_absent = |text: &str| list(key, text).is_some() || !keys(text).contains(&key);
    let Some(new) = list(key, theirs) else {
        return Ok(unchanged);
    };
    let old = list(key, base).unwrap_or_default();
    if new == old || !list_or_absent(base) || !list_or_absent(ours) {
        return Ok(unchanged);
    }
    let adopting = base.trim().is_empty();
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
