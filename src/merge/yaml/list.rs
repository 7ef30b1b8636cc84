//! Lists of entries: one value on one line is known by that value, anything else by its first line.
//!
//! Invariants: quotes and a comment beside a value are the user's form of it, and no edit of the entry; what the user
//! wrote beside or above an entry that goes stays in the list; no comment keeps an entry from coming or going.

use std::collections::HashSet;

use super::comments::{self, comments_beside};
use crate::{
    change::ConflictKind,
    merge::hunks::{self, Neighbours},
    yaml,
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

/// What an entry is known by.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Name<'a> {
    Value(serde_yaml::Value),
    FirstLine(&'a str),
}

/// How much of an entry of several lines is its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Naming {
    /// Its first line, so that the rest may be edited.
    FirstLines,
    /// The first line if it says a value, else all that it says: before the project nobody edited an entry of it.
    TellingFirstLines,
    /// All that it says: where first lines are alike.
    Whole,
}

impl Entry {
    fn name(&self, naming: Naming) -> Name<'_> {
        if let Some(value) = self.value() {
            return Name::Value(value);
        }
        let first = self.body.lines().next().unwrap_or_default();
        let whole = match naming {
            Naming::FirstLines => false,
            Naming::TellingFirstLines => first.ends_with(':'),
            Naming::Whole => true,
        };
        let read = || yaml::read::<serde_yaml::Value>(&self.body).ok();
        match whole.then(read).flatten() {
            Some(value) => Name::Value(value),
            None => Name::FirstLine(first),
        }
    }

    /// The value that it is, if it is one on one line.
    pub fn value(&self) -> Option<serde_yaml::Value> {
        if self.body.lines().nth(1).is_some() {
            return None;
        }
        let (text, _) = split_comment(&self.body);
        let word = text.trim().strip_prefix("- ").map(str::trim);
        if let Some(word) = word.filter(|word| is_file_name(word)) {
            return Some(word.into());
        }
        let [value] = <[_; 1]>::try_from(yaml::read::<Vec<_>>(text).ok()?).ok()?;
        matches!(
            value,
            serde_yaml::Value::String(_)
                | serde_yaml::Value::Number(_)
                | serde_yaml::Value::Bool(_)
        )
        .then_some(value)
    }

    /// The value as it is written, where that may stand in brackets.
    pub fn word(&self) -> Option<&str> {
        self.value()?;
        let word = split_comment(&self.body).0.trim().strip_prefix('-')?.trim();
        (quoted_length(word) > 0 || !word.contains(['[', ']', '{', '}', ','])).then_some(word)
    }

    /// The comments between its lines and beside them, which go with it.
    fn inner_comments(&self) -> Vec<&str> {
        let lines = self.value().is_none().then(|| self.body.lines());
        let comments = lines
            .into_iter()
            .flatten()
            .map(|line| split_comment(line).1.trim());
        comments.filter(|comment| !comment.is_empty()).collect()
    }

    /// The comments above it, and, if it is a value, the one beside it.
    fn comments(&self) -> String {
        let beside = self.value().map(|_| split_comment(&self.body).1);
        self.above.clone() + beside.unwrap_or_default()
    }
}

/// Whether a plain word is text to every reader of YAML, as a file name is: lists of hundreds are read for each command.
fn is_file_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word.contains(['.', '_', '/'])
        && word
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"._/-".contains(&byte))
}

/// An entry of one line without the comment beside its value, and the comment.
fn split_comment(body: &str) -> (&str, &str) {
    let value = body.find(|c: char| c != '-' && c != ' ').unwrap_or(0);
    let at = value + quoted_length(&body[value..]);
    let comments = body[at..].match_indices('#').map(|(found, _)| at + found);
    let is_comment = |found: &usize| body[..*found].ends_with([' ', '\t']);
    let at = comments.into_iter().find(is_comment).unwrap_or(body.len());
    body.split_at(at)
}

/// The length of the quoted value that `text` begins with, or zero.
fn quoted_length(text: &str) -> usize {
    let Some(quote) = text.chars().next().filter(|c| ['"', '\''].contains(c)) else {
        return 0;
    };
    let mut is_open = false;
    let mut is_escaped = false;
    // Two single quotes in a row, which are one in the value, close it and open it again.
    let end = text.find(|c| {
        let is_quote = c == quote && !is_escaped;
        is_escaped = quote == '"' && c == '\\' && !is_escaped;
        is_open ^= is_quote;
        !is_open && !is_quote
    });
    end.unwrap_or(text.len())
}

/// The entries of a list by what each is known by.
struct Named<'a>(Vec<(Name<'a>, &'a Entry)>);

impl<'a> Named<'a> {
    fn of(list: &'a List, naming: Naming) -> Self {
        let entries = list.entries.iter();
        Self(entries.map(|it| (it.name(naming), it)).collect())
    }

    fn holds(&self, other: &Self) -> bool {
        other.0.iter().all(|(name, _)| self.find(name).is_some())
    }

    fn find(&self, wanted: &Name<'_>) -> Option<&'a Entry> {
        let mut entries = self.0.iter();
        entries
            .find(|(name, _)| name == wanted)
            .map(|(_, entry)| *entry)
    }

    /// Whether entries cannot be told apart. For the user's own (`several_forms`), two forms of one value are that value.
    fn is_ambiguous(&self, several_forms: bool) -> bool {
        let counts = |name: &&Name<'_>| !several_forms || matches!(name, Name::FirstLine(_));
        let names = || self.0.iter().map(|(name, _)| name).filter(counts);
        names().collect::<HashSet<_>>().len() < names().count()
    }
}

/// The names of `old`, `mine` and `new`; `None` where entries cannot be told apart.
fn named<'a>(lists: [&'a List; 3], naming: Naming) -> Option<[Named<'a>; 3]> {
    let named = lists.map(|list| Named::of(list, naming));
    let [old, mine, new] = &named;
    // Of entries that are known by all that they say, none may have changed.
    let told_apart = match naming {
        Naming::Whole => old.holds(new) || new.holds(old),
        _ => true,
    };
    let is_ambiguous =
        old.is_ambiguous(false) || mine.is_ambiguous(true) || new.is_ambiguous(false);
    (told_apart && !is_ambiguous).then_some(named)
}

/// Merges what changed from `old` to `new` into `mine`; `None` where entries cannot be told apart.
pub fn merge(
    old: &List,
    mine: &List,
    new: &List,
    adopting: bool,
) -> Result<Option<List>, ConflictKind> {
    if mine == old {
        return Ok(Some(new.clone()));
    }
    let [old, new] = comments::uncommented(old, mine, new);
    let first_lines = match adopting {
        true => Naming::TellingFirstLines,
        false => Naming::FirstLines,
    };
    let lists = [&old, mine, &new];
    let Some(sides) = named(lists, first_lines).or_else(|| named(lists, Naming::Whole)) else {
        return Ok(None);
    };
    let [before, own, wanted] = &sides;
    let mut merged: Vec<(&Name<'_>, Entry)> = Vec::new();
    // What the user wrote above and beside entries that go.
    let mut orphaned = String::new();
    for (name, entry) in &own.0 {
        let (old, new) = (before.find(name), wanted.find(name));
        if let (Some(old), None) = (old, new)
            && (old.body == entry.body || matches!(name, Name::Value(_)))
        {
            if old.inner_comments() != entry.inner_comments() {
                return Err(ConflictKind::Overlap);
            }
            orphaned += &comments_beside(&old.comments(), &entry.comments());
            continue;
        }
        let above = match (old, new) {
            (Some(old), Some(new)) if old.above == entry.above => new.above.clone(),
            _ => entry.above.clone(),
        };
        let above = std::mem::take(&mut orphaned) + &above;
        let body = body(name, entry, old, new, adopting)?;
        merged.push((name, Entry { above, body }));
    }
    for (at, (name, entry)) in wanted.0.iter().enumerate() {
        // What the user dropped stays dropped.
        if before.find(name).is_some() || own.find(name).is_some() {
            continue;
        }
        let place_of = |(wanted, _): &(Name<'_>, &Entry)| {
            let mut entries = merged.iter();
            entries.position(|(other, _)| *other == wanted)
        };
        let before = wanted.0[..at].iter().rev().find_map(place_of);
        let after = wanted.0[at + 1..].iter().find_map(place_of);
        let place = before.map(|place| place + 1).or(after);
        let place = place.unwrap_or(merged.len());
        merged.insert(place, (name, (*entry).clone()));
    }
    let below = match adopting {
        true => mine.below.clone() + &comments_beside(&mine.below, &new.below),
        false => orphaned + &comments::merge(&old.below, &mine.below, &new.below)?,
    };
    Ok(Some(List {
        entries: merged.into_iter().map(|(_, entry)| entry).collect(),
        below,
    }))
}

/// The lines of an entry that stays.
fn body(
    name: &Name<'_>,
    mine: &Entry,
    old: Option<&Entry>,
    new: Option<&Entry>,
    adopting: bool,
) -> Result<String, ConflictKind> {
    match (old, new) {
        (Some(old), Some(new)) if old.body == mine.body => Ok(new.body.clone()),
        // All that differs is the form.
        _ if matches!(name, Name::Value(_)) => Ok(mine.body.clone()),
        (Some(old), Some(new)) => text(&old.body, &mine.body, &new.body),
        (None, Some(new)) if new.body != mine.body && !adopting => Err(ConflictKind::Overlap),
        _ => Ok(mine.body.clone()),
    }
}

fn text(old: &str, mine: &str, new: &str) -> Result<String, ConflictKind> {
    hunks::merge(old, mine, new, Neighbours::Apart, |_, _| None)
}

#[cfg(test)]
mod tests {
    use crate::merge::yaml;

    #[track_caller]
    fn check(base: &str, ours: &str, theirs: &str, expected: &str) {
        assert_eq!(yaml::merge(base, ours, theirs).as_deref(), Ok(expected));
    }

    #[test]
    fn a_whole_list_is_added_and_removed_though_its_entries_begin_alike() {
        let (one, two) = ("- op:\n    x: 1\n", "- op:\n    x: 2\n");
        let list = format!("a:\n- x\n# - y\nb:\n{one}{two}");
        let mine = "- op:\n    x: 3\n";
        check(
            "a:\n- x\n# - y\n",
            "a:\n- x\n- y\n",
            &list,
            &format!("a:\n- x\n- y\nb:\n{one}{two}"),
        );
        check(
            "a:\n- x\n# - y\n",
            &format!("a:\n- x\n# - y\nb:\n{mine}"),
            &list,
            &format!("a:\n- x\n# - y\nb:\n{mine}{one}{two}"),
        );
        check(
            &list,
            &format!("{list}{mine}"),
            "a:\n- x\n# - y\nb: []\n",
            &format!("a:\n- x\n# - y\nb:\n{mine}"),
        );
    }
}
