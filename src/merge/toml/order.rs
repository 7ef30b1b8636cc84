//! Where new keys go: beside those that they stand beside in the template.

use std::collections::BTreeMap;

use toml_edit::{Decor, InlineTable, Item, Key, Table, TableLike, Value};

use super::decor;

/// Adds what the template has at `key`, with the comment above it.
pub fn insert(ours: &mut dyn TableLike, theirs: &dyn TableLike, key: &str, new: &Item) {
    let mut new = new.clone();
    follow(&mut new);
    let key = theirs.key(key).cloned().unwrap_or_else(|| Key::new(key));
    ours.entry_format(&key).or_insert(new);
}

/// A table with a header as it may stand in braces, in which no header may; `None` for what is none.
pub fn inlined(item: &Item) -> Option<Item> {
    let mut table = item.as_table()?.clone().into_inline_table();
    format(&mut table);
    Some(table.into())
}

fn format(table: &mut InlineTable) {
    let last = table.len().saturating_sub(1);
    for (at, (mut key, value)) in table.iter_mut().enumerate() {
        if let Value::InlineTable(inner) = value {
            format(inner);
        }
        *key.leaf_decor_mut() = Decor::new(" ", " ");
        *value.decor_mut() = Decor::new(" ", if at == last { " " } else { "" });
    }
}

/// Forgets the places that tables had in their file: each follows what is before it.
fn follow(item: &mut Item) {
    if let Some(table) = item.as_table_mut() {
        table.set_position(None);
        table.iter_mut().for_each(|(_, inner)| follow(inner));
    }
}

/// Puts the keys that `ours` got from `theirs` behind the ones that they stand behind there. Those of the user, in `mine`,
/// keep their order.
pub fn place(mine: &Table, ours: &mut Table, theirs: &Table) {
    place_inner(mine, ours, theirs);
    if let Some(places) = places(mine, ours, theirs) {
        ours.sort_values_by(|a, _, b, _| at(&places, a).cmp(&at(&places, b)));
    }
}

/// Puts a blank line above the header that `mine` began with, where tables of the template stand before it now.
pub fn separate(mine: &Table, ours: &mut Table) {
    let Some((first, _)) = mine.iter().next() else {
        return;
    };
    let is_first = ours.iter().next().is_some_and(|(key, _)| key == first);
    match ours.get_mut(first) {
        Some(Item::Table(table)) if !is_first => {
            let above = decor::text(table.decor().prefix());
            if table.is_implicit() || above.starts_with('\n') {
                return;
            }
            let above = format!("\n{above}");
            table.decor_mut().set_prefix(above);
        }
        _ => {}
    }
}

/// [`place`] for the tables in a table.
fn place_inner(before: &dyn TableLike, ours: &mut dyn TableLike, theirs: &dyn TableLike) {
    let (no_table, no_inline) = (Table::new(), InlineTable::new());
    for (key, mine) in ours.iter_mut() {
        let (old, new) = (before.get(&key), theirs.get(&key));
        match mine {
            Item::Table(mine) => {
                if let Some(new) = new.and_then(Item::as_table) {
                    place(old.and_then(Item::as_table).unwrap_or(&no_table), mine, new);
                }
            }
            Item::Value(Value::InlineTable(mine)) => {
                let braced = new.and_then(inlined);
                if let Some(new) = braced.as_ref().or(new).and_then(Item::as_inline_table) {
                    place_inline(
                        old.and_then(Item::as_inline_table).unwrap_or(&no_inline),
                        mine,
                        new,
                    );
                }
            }
            _ => {}
        }
    }
}

fn place_inline(mine: &InlineTable, ours: &mut InlineTable, theirs: &InlineTable) {
    place_inner(mine, ours, theirs);
    if let Some(places) = places(mine, ours, theirs) {
        ours.sort_values_by(|a, _, b, _| at(&places, a).cmp(&at(&places, b)));
    }
    let names = |table: &InlineTable| -> Vec<String> {
        let keys = table.iter().map(|(key, _)| key.to_owned());
        keys.collect()
    };
    if names(mine) == names(ours) {
        return;
    }
    // The white space before the last brace is that behind the first one, and none stands before a comma.
    let first = ours.iter().next().and_then(|(key, _)| ours.key(key));
    let brace = first.and_then(|key| key.leaf_decor().prefix().cloned());
    let brace = match ours.trailing_comma() {
        true => "".into(),
        false => brace.unwrap_or_else(|| " ".into()),
    };
    let last = ours.len().saturating_sub(1);
    for (at, (_, value)) in ours.iter_mut().enumerate() {
        let space = if at == last { brace.clone() } else { "".into() };
        value.decor_mut().set_suffix(space);
    }
}

fn at(places: &BTreeMap<String, usize>, key: &Key) -> usize {
    places.get(key.get()).copied().unwrap_or(places.len())
}

/// Where each key of `ours` belongs; `None` if all are where they are already.
fn places(
    mine: &dyn TableLike,
    ours: &dyn TableLike,
    theirs: &dyn TableLike,
) -> Option<BTreeMap<String, usize>> {
    let names: Vec<&str> = theirs.iter().map(|(key, _)| key).collect();
    let mut order: Vec<&str> = ours.iter().map(|(key, _)| key).collect();
    let added: Vec<&str> = names
        .iter()
        .copied()
        .filter(|key| !mine.contains_key(key) && order.contains(key))
        .collect();
    if added.is_empty() || added.len() == order.len() {
        return None;
    }
    order.retain(|key| !added.contains(key));
    for key in added {
        let at = names.iter().position(|name| *name == key)?;
        let place_of = |name: &&str| order.iter().position(|other| other == name);
        let before = names[..at].iter().rev().find_map(place_of);
        let after = names[at..].iter().find_map(place_of);
        let place = before.map(|place| place + 1).or(after);
        order.insert(place.unwrap_or(order.len()), key);
    }
    Some(order.into_iter().map(str::to_owned).zip(0..).collect())
}
