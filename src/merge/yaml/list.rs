//! Lists of entries that are known by their first lines.

use std::collections::BTreeSet;

use crate::{
    change::ConflictKind,
    merge::hunks::{self, Neighbours},
};

/// A list as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct List {
    /// The entries.
    pub entries: Vec<Entry>,
    /// Comments and blank lines after the last entry.
    pub below: String,
}

/// One entry of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The comments and blank lines above it.
    pub above: String,
    /// Its own lines.
    pub body: String,
}

impl Entry {
    /// What it is known by.
    fn first_line(&self) -> &str {
        self.body.lines().next().unwrap_or_default()
    }
}

impl List {
    fn find(&self, other: &Entry) -> Option<&Entry> {
        let mut entries = self.entries.iter();
        entries.find(|entry| entry.first_line() == other.first_line())
    }

    fn is_ambiguous(&self) -> bool {
        let names: BTreeSet<&str> = self.entries.iter().map(Entry::first_line).collect();
        names.len() < self.entries.len()
    }
}

/// Merges what changed from `old` to `new` into `mine`; `None` where entries cannot be told apart.
pub fn merge(
    old: &List,
    mine: &List,
    new: &List,
    adopting: bool,
) -> Result<Option<List>, ConflictKind> {
    if [old, mine, new].into_iter().any(List::is_ambiguous) {
        return Ok(None);
    }
    let mut merged = List::default();
    // What the user wrote above entries that go.
    let mut orphaned = String::new();
    for entry in &mine.entries {
        let body = match (old.find(entry), new.find(entry)) {
            (Some(old), None) if old.body == entry.body => {
                orphaned += &comments_beside(&old.above, &entry.above);
                continue;
            }
            (Some(old), Some(new)) => text(&old.body, &entry.body, &new.body)?,
            (None, Some(new)) if new.body != entry.body && !adopting => {
                return Err(ConflictKind::Overlap);
            }
            _ => entry.body.clone(),
        };
        let above = match (old.find(entry), new.find(entry)) {
            (Some(old), Some(new)) if old.above == entry.above => new.above.clone(),
            _ => entry.above.clone(),
        };
        let above = std::mem::take(&mut orphaned) + &above;
        merged.entries.push(Entry { above, body });
    }
    for (at, entry) in new.entries.iter().enumerate() {
        // What the user dropped stays dropped.
        if old.find(entry).is_some() || mine.find(entry).is_some() {
            continue;
        }
        let place_of = |wanted: &Entry| {
            let mut entries = merged.entries.iter();
            entries.position(|other| other.first_line() == wanted.first_line())
        };
        let before = new.entries[..at].iter().rev().find_map(place_of);
        let after = new.entries[at + 1..].iter().find_map(place_of);
        let place = before.map(|place| place + 1).or(after);
        let place = place.unwrap_or(merged.entries.len());
        merged.entries.insert(place, entry.clone());
    }
    merged.below = match adopting {
        true => mine.below.clone(),
        false => orphaned + &text(&old.below, &mine.below, &new.below)?,
    };
    Ok(Some(merged))
}

/// The comments of `mine` that are not in `old`.
fn comments_beside(old: &str, mine: &str) -> String {
    let is_comment = |line: &&str| line.trim_start().starts_with('#');
    let is_new = |line: &&str| is_comment(line) && !old.split_inclusive('\n').any(|it| it == *line);
    mine.split_inclusive('\n').filter(is_new).collect()
}

fn text(old: &str, mine: &str, new: &str) -> Result<String, ConflictKind> {
    hunks::merge(old, mine, new, Neighbours::Apart, |_, _| None)
}
