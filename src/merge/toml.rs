//! Three-way merge of TOML: by line, and by key where lines conflict. Order, comments and format of the user's file are kept.

mod adopt;
mod dependency;

use toml_edit::{Array, DocumentMut, InlineTable, Item, RawString, Table, TableLike, Value};

pub use self::adopt::differing_keys;
use super::text;
use crate::change::ConflictKind;

/// Merges what changed from `base` to `theirs` into `ours`. With an empty base (a file that was there before the project), the keys
/// that the user already has stay as they are.
pub fn merge(base: &str, ours: &str, theirs: &str) -> Result<String, ConflictKind> {
    let parse = |text: &str| {
        text.parse::<DocumentMut>()
            .map_err(|error| ConflictKind::Unparsable(error.message().to_owned()))
    };
    let (old, mut merged, mut new) = (parse(base)?, parse(ours)?, parse(theirs)?);
    let adopting = base.trim().is_empty();
    if adopting {
        adopt::check(&merged, &new)?;
        adopt::leave_out(&merged, &mut new);
    } else if let Ok(merged) = text::merge(base, ours, theirs)
        && parse(&merged).is_ok()
    {
        return Ok(merged);
    }
    merge_table(
        old.as_table(),
        merged.as_table_mut(),
        new.as_table(),
        adopting,
        false,
    )?;
    let merged = merged.to_string();
    // A comment of the user about a key that goes would be lost.
    let is_lost = |comment: &&str| !base.contains(comment) && !merged.contains(comment);
    match ours.lines().filter_map(comment).any(|it| is_lost(&it)) {
        true => Err(ConflictKind::Overlap),
        false => Ok(merged),
    }
}

/// The comment in a line. A `#` in a string counts as one.
fn comment(line: &str) -> Option<&str> {
    line.find('#').map(|at| line[at..].trim())
}

/// Merges a table; `dependencies`: whether its keys are dependencies.
fn merge_table(
    base: &dyn TableLike,
    ours: &mut dyn TableLike,
    theirs: &dyn TableLike,
    adopting: bool,
    dependencies: bool,
) -> Result<(), ConflictKind> {
    let empty = Table::new();
    for (key, old) in base.iter().filter(|(key, _)| !theirs.contains_key(key)) {
        let Some(mine) = ours.get_mut(key) else {
            continue;
        };
        if same(mine, old) {
            ours.remove(key);
        } else if dependencies {
            // A dependency that the user changed stays whole: a part of it would name another source, or none.
        } else if let (Some(old), Some(mine)) = (old.as_table_like(), mine.as_table_like_mut()) {
            // The keys that the user added stay.
            merge_table(old, mine, &empty, adopting, dependency::are_below(key))?;
        }
    }
    for (key, new) in theirs.iter() {
        let old = base.get(key);
        match (old, ours.get_mut(key)) {
            (Some(old), _) if same(old, new) => {}
            (None, None) => insert(ours, theirs, key, new),
            // The user removed a key that the template now changes: it stays removed.
            (Some(_), None) => {}
            (_, Some(mine)) if same(mine, new) => {}
            (Some(old), Some(mine))
                if [&*mine, new].into_iter().all(is_one_line) && same(mine, old) =>
            {
                replace(ours, theirs, key, new);
            }
            (_, Some(_)) if dependencies && adopting => {}
            (old, Some(mine)) if dependencies => dependency::merge(old, mine, new)?,
            (old, Some(mine)) => {
                let below = dependency::are_below(key);
                merge_item(old, mine, new, adopting, below)?;
            }
        }
    }
    Ok(())
}

/// Whether an item is written as `key = value` or `key.key = value`, and is no list: lists are merged by entry.
fn is_one_line(item: &Item) -> bool {
    let is_dotted = item.as_table().is_some_and(Table::is_dotted);
    is_dotted || (item.is_value() && !item.is_array())
}

/// Merges an item that both sides changed.
fn merge_item(
    old: Option<&Item>,
    mine: &mut Item,
    new: &Item,
    adopting: bool,
    dependencies: bool,
) -> Result<(), ConflictKind> {
    let empty = Table::new();
    let old_table = old.map_or(Some(&empty as &dyn TableLike), Item::as_table_like);
    if mine.is_inline_table() && new.is_table() {
        // A table with a header cannot be inside braces.
        return Err(ConflictKind::Overlap);
    }
    if let (Some(old), Some(mine), Some(new)) =
        (old_table, mine.as_table_like_mut(), new.as_table_like())
    {
        merge_table(old, mine, new, adopting, dependencies)?;
    } else if let (Some(mine), Some(new)) = (mine.as_array_mut(), new.as_array()) {
        merge_array(old.and_then(Item::as_array), mine, new)?;
    } else if !adopting {
        return Err(ConflictKind::Overlap);
    }
    tidy(mine);
    Ok(())
}

/// Formats the white space of braces on one line.
fn tidy(item: &mut Item) {
    let is_line = |table: &&mut InlineTable| !table.to_string().contains('\n');
    if let Some(table) = item.as_inline_table_mut().filter(is_line) {
        let around = table.decor().clone();
        table.fmt();
        *table.decor_mut() = around;
    }
}

fn merge_array(old: Option<&Array>, mine: &mut Array, new: &Array) -> Result<(), ConflictKind> {
    let has = |array: &Array, wanted: &Value| array.iter().any(|value| same_value(value, wanted));
    let is_old = |wanted: &Value| old.is_some_and(|old| has(old, wanted));
    mine.retain(|value| !is_old(value) || has(new, value));
    for value in new {
        if !is_old(value) && !has(mine, value) {
            push(mine, value.clone())?;
        }
    }
    Ok(())
}

/// Adds `value` to a list, on a line of its own if the last entry is on one.
///
/// Errors: a comment follows the last entry, which would be beside the new one.
fn push(list: &mut Array, value: Value) -> Result<(), ConflictKind> {
    let (has_comma, is_empty) = (list.trailing_comma(), list.is_empty());
    let Some(last) = list.iter_mut().last().filter(|_| !is_empty) else {
        return match text_of(Some(list.trailing())).contains('#') {
            true => Err(ConflictKind::Overlap),
            false => {
                list.set_trailing("");
                list.push_formatted(value.decorated("", ""));
                Ok(())
            }
        };
    };
    let before = match text_of(last.decor().prefix()).rsplit_once('\n') {
        Some((_, indent)) => format!("\n{indent}"),
        None => " ".to_owned(),
    };
    // Without a comma at the end, the line end before the bracket belongs to the last entry.
    let mut suffix = String::new();
    if !has_comma {
        text_of(last.decor().suffix()).clone_into(&mut suffix);
        last.decor_mut().set_suffix("");
    }
    if suffix.contains('#') || text_of(Some(list.trailing())).contains('#') {
        return Err(ConflictKind::Overlap);
    }
    list.push_formatted(value.decorated(before, suffix));
    Ok(())
}

fn text_of(raw: Option<&RawString>) -> &str {
    raw.and_then(RawString::as_str).unwrap_or_default()
}

/// Adds the template's item at `key`, with the comment above it.
fn insert(ours: &mut dyn TableLike, theirs: &dyn TableLike, key: &str, new: &Item) {
    let mut new = new.clone();
    follow(&mut new);
    if let Some(table) = new.as_table_mut().filter(|_| !ours.is_empty()) {
        let above = text_of(table.decor().prefix()).to_owned();
        if !table.is_dotted() && !above.starts_with('\n') {
            table.decor_mut().set_prefix(format!("\n{above}"));
        }
    }
    let Some(key) = theirs.key(key) else {
        return;
    };
    // A value goes before the next value of the template that the user's file has.
    let mut next = theirs
        .iter()
        .map(|(it, _)| it)
        .skip_while(|it| *it != key.get())
        .skip(1);
    let is_line = |item: &Item| item.as_table().is_none_or(Table::is_dotted);
    let next = next.find(|it| is_line(&new) && ours.get(it).is_some_and(is_line));
    let behind = ours
        .iter()
        .map(|(it, _)| it.to_owned())
        .skip_while(|it| Some(&**it) != next);
    let behind: Vec<String> = behind.collect();
    let entry =
        |it: String, ours: &mut dyn TableLike| Some((ours.key(&it)?.clone(), ours.remove(&it)?));
    let behind: Vec<_> = behind
        .into_iter()
        .filter_map(|it| entry(it, ours))
        .collect();
    ours.entry_format(key).or_insert(new);
    for (key, item) in behind {
        ours.entry_format(&key).or_insert(item);
    }
}

/// Removes the positions that tables had in the template, so that each follows the table before it.
fn follow(item: &mut Item) {
    if let Some(table) = item.as_table_mut() {
        table.set_position(None);
        table.iter_mut().for_each(|(_, inner)| follow(inner));
    }
}

/// Replaces the item at `key` by `new`, and keeps the white space and the comments around it.
fn replace(ours: &mut dyn TableLike, theirs: &dyn TableLike, key: &str, new: &Item) {
    let (Some((mut my_key, mine)), Some(new_key)) = (ours.get_key_value_mut(key), theirs.key(key))
    else {
        return;
    };
    let above = my_key.leaf_decor().prefix().cloned();
    *my_key.leaf_decor_mut() = new_key.leaf_decor().clone();
    if let Some(above) = above {
        my_key.leaf_decor_mut().set_prefix(above);
    }
    let around = mine.as_value().map(|value| value.decor().clone());
    *mine = new.clone();
    if let (Some(value), Some(around)) = (mine.as_value_mut(), around) {
        *value.decor_mut() = around;
    }
}

/// Whether two items have the same values. White space, comments, the order of keys and the notation of tables do not count.
fn same(a: &Item, b: &Item) -> bool {
    if let (Some(a), Some(b)) = (a.as_table_like(), b.as_table_like()) {
        return same_table(a, b);
    }
    match (a, b) {
        (Item::Value(a), Item::Value(b)) => same_value(a, b),
        (Item::ArrayOfTables(a), Item::ArrayOfTables(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_table(a, b))
        }
        (Item::None, Item::None) => true,
        _ => false,
    }
}

fn same_value(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::String(a), Value::String(b)) => a.value() == b.value(),
        (Value::Integer(a), Value::Integer(b)) => a.value() == b.value(),
        (Value::Float(a), Value::Float(b)) => a.value().to_bits() == b.value().to_bits(),
        (Value::Boolean(a), Value::Boolean(b)) => a.value() == b.value(),
        (Value::Datetime(a), Value::Datetime(b)) => a.value() == b.value(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_value(a, b))
        }
        (Value::InlineTable(a), Value::InlineTable(b)) => same_table(a, b),
        _ => false,
    }
}

fn same_table(a: &dyn TableLike, b: &dyn TableLike) -> bool {
    let in_b = |(key, item)| b.get(key).is_some_and(|other| same(item, other));
    a.len() == b.len() && a.iter().all(in_b)
}

#[cfg(test)]
mod tests;
