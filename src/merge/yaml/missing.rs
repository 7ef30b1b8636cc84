//! What a merge must not lose, read from the result: the entries that the new text adds to top-level lists.

use std::collections::BTreeMap;

use serde_yaml::Value;

use crate::{change::ConflictKind, yaml};

/// The entries of top-level lists, and the other values.
#[derive(Default)]
struct Read {
    lists: BTreeMap<String, Vec<Value>>,
    values: BTreeMap<String, Value>,
}

impl Read {
    fn of(text: &str) -> Result<Self, String> {
        let documents = yaml::documents::<Value>(text).map_err(|error| error.to_string())?;
        let mut read = Self::default();
        for document in documents {
            let Value::Mapping(document) = document else {
                continue;
            };
            for (key, value) in document {
                match (key, value) {
                    (Value::String(key), Value::Sequence(mut list)) => {
                        read.lists.entry(key).or_default().append(&mut list);
                    }
                    (Value::String(key), value) => _ = read.values.insert(key, value),
                    _ => {}
                }
            }
        }
        Ok(read)
    }

    fn list(&self, key: &str) -> &[Value] {
        self.lists.get(key).map_or(&[], Vec::as_slice)
    }
}

/// Whether `merged` has the entries that `theirs` has beyond `base`, or `ours` has them in a form of its own.
///
/// Errors: one is missing, or it cannot be known.
pub fn check(base: &str, ours: &str, theirs: &str, merged: &str) -> Result<(), ConflictKind> {
    let Ok(new) = Read::of(theirs) else {
        return Ok(());
    };
    let adopting = base.trim().is_empty();
    let [old, mine] = [base, ours].map(|text| Read::of(text).unwrap_or_default());
    let adds =
        |(key, list): (&String, &Vec<Value>)| list.iter().any(|it| !old.list(key).contains(it));
    if !new.lists.iter().any(adds) {
        return Ok(());
    }
    let merged = Read::of(merged).map_err(ConflictKind::Unparsable)?;
    for (key, list) in &new.lists {
        let lists = [old.list(key), mine.list(key), list, merged.list(key)];
        let Some(entry) = list.iter().find(|entry| is_missing(entry, lists)) else {
            continue;
        };
        let what = match entry {
            Value::String(entry) => format!("`{entry}`"),
            _ => "an entry".to_owned(),
        };
        return Err(match adopting {
            true => foreign(format!(
                "lacks {what} in `{key}`, where it cannot be added to what is there"
            )),
            false => ConflictKind::Overlap,
        });
    }
    for key in ["apiVersion", "kind"].iter().filter(|_| adopting) {
        let [own, wanted] = [&merged, &new].map(|read| read.values.get(*key));
        if wanted.is_some() && own != wanted {
            return Err(foreign(format!("is of another `{key}` than the project's")));
        }
    }
    Ok(())
}

fn foreign(what: String) -> ConflictKind {
    ConflictKind::Foreign { what, help: None }
}

/// Whether an entry of `new` is new, and neither it nor the user's form of it is in `merged`.
fn is_missing(entry: &Value, [old, mine, new, merged]: [&[Value]; 4]) -> bool {
    if old.contains(entry) || merged.contains(entry) {
        return false;
    }
    let start = start(entry);
    let count = |list: &[Value]| list.iter().filter(|it| self::start(it) == start).count();
    let added = count(new).saturating_sub(count(old));
    let says_a_value = !matches!(start, (Some(_), None));
    // As many as the template changed may have been merged with edits of the user.
    added > 0 && !(says_a_value && count(mine) > 0) && count(merged) < count(mine) + added
}

/// What an entry begins with, as its first line says it: a key, and a value if it is no more than one.
fn start(entry: &Value) -> (Option<&Value>, Option<&Value>) {
    let first = entry.as_mapping().and_then(|entry| entry.iter().next());
    match first {
        Some((key, Value::Mapping(_) | Value::Sequence(_))) => (Some(key), None),
        Some((key, value)) => (Some(key), Some(value)),
        None => (None, Some(entry)),
    }
}

#[cfg(test)]
mod tests {
    #[track_caller]
    fn check(texts: [&str; 4], expected: bool) {
        let [base, ours, theirs, merged] = texts;
        let found = super::check(base, ours, theirs, merged);
        assert_eq!(found.is_ok(), expected, "{texts:?}: {found:?}");
    }

    #[test]
    fn what_is_new_has_to_be_there() {
        let (none, one) = ("l: []\n", "l: [a]\n");
        check([none, none, one, none], false);
        check([none, none, one, "l: [b]\n---\nl: ['a']\n"], true);
        check([none, none, one, "l: ["], false);
        // The user dropped it.
        check([one, none, "l: [a, b]\n", "l: [b]\n"], true);
        check([one, none, one, none], true);
        // The user has it in another form.
        let [mine, new] = ["l: [{a: 1, b: 1}]\n", "l: [{a: 1, b: 2}]\n"];
        check(["", mine, new, mine], true);
        check([none, "l: [{a: 2}]\n", new, "l: [{a: 2}]\n"], false);
    }

    #[test]
    fn entries_that_begin_alike_are_counted() {
        let [one, two] = ["l: [{s: {a: 1}}]\n", "l: [{s: {a: 2}}, {s: {b: 1}}]\n"];
        check([one, one, two, one], false);
        check(
            [
                one,
                "l: [{s: {a: 1, m: 1}}]\n",
                two,
                "l: [{s: {a: 2, m: 1}}, {s: {b: 1}}]\n",
            ],
            true,
        );
        check(["", one, two, one], false);
    }
}
