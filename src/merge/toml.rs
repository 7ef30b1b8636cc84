//! TOML by key: `Cargo.toml`, `deny.toml`. Order, comments and format of the user's file are kept.

mod adopt;
mod decor;
mod dependency;
mod kept;
mod list;
mod order;
mod same;

use toml_edit::{Array, DocumentMut, Item, Table, TableLike, Value};

pub use self::adopt::differing_keys;
use self::same::{same, same_value};
use crate::change::ConflictKind;

/// Merges what the template changed, key by key. Against an empty base (a file that was there before the project) a key
/// the user has already is the user's.
pub fn merge(base: &str, ours: &str, theirs: &str) -> Result<String, ConflictKind> {
    let parse = |text: &str| {
        text.parse::<DocumentMut>()
            .map_err(|error| ConflictKind::Unparsable(error.message().to_owned()))
    };
    let (base_document, mine, mut theirs) = (parse(base)?, parse(ours)?, parse(theirs)?);
    let mut merged = mine.clone();
    let adopting = base.trim().is_empty();
    if adopting {
        adopt::check(&merged, &theirs)?;
        adopt::leave_out(&merged, &mut theirs);
    }
    merge_table(
        base_document.as_table(),
        merged.as_table_mut(),
        theirs.as_table(),
        adopting,
        false,
    )?;
    order::place(mine.as_table(), merged.as_table_mut(), theirs.as_table());
    if adopting {
        order::separate(mine.as_table(), merged.as_table_mut());
    }
    decor::merge_end(&base_document, &mut merged, &theirs);
    Ok(kept::print(&base_document, &mine, merged))
}

/// `dependencies`: whether the keys of this table are.
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
            // Without a part of it there would be another source, or none.
        } else if let (Some(old), Some(mine)) = (old.as_table_like(), mine.as_table_like_mut()) {
            // What the user added stays, in a table that is theirs alone now.
            merge_table(old, mine, &empty, adopting, dependency::are_below(key))?;
        }
    }
    for (key, new) in theirs.iter() {
        decor::merge(key, base, ours, theirs);
        let old = base.get(key);
        if old.is_some_and(|old| same(old, new)) {
            merge_inner_decor(old, ours.get_mut(key), new);
            continue;
        }
        match (old, ours.get_mut(key)) {
            (None, None) => order::insert(ours, theirs, key, new),
            // The user removed what the template now changes: it stays removed.
            (Some(_), None) => {}
            (_, Some(mine)) if same(mine, new) => {}
            (Some(old), Some(mine)) if same(mine, old) && !holds_comments(mine) => {
                decor::replace(old, mine, new);
            }
            (old, Some(mine)) if dependencies => dependency::merge(old, mine, new, adopting)?,
            (old, Some(mine)) => {
                merge_item(old, mine, new, adopting, dependency::are_below(key))?;
            }
        }
    }
    Ok(())
}

/// Merges what both sides changed.
fn merge_item(
    old: Option<&Item>,
    mine: &mut Item,
    new: &Item,
    adopting: bool,
    dependencies: bool,
) -> Result<(), ConflictKind> {
    let empty = Table::new();
    let inline = order::inlined(new).filter(|_| mine.is_inline_table());
    let new = inline.as_ref().unwrap_or(new);
    let old_table = old.map_or(Some(&empty as &dyn TableLike), Item::as_table_like);
    if let (Some(old), Some(mine), Some(new)) =
        (old_table, mine.as_table_like_mut(), new.as_table_like())
    {
        return merge_table(old, mine, new, adopting, dependencies);
    }
    match (mine.as_array_mut(), new.as_array()) {
        (Some(mine), Some(new)) => merge_array(old.and_then(Item::as_array), mine, new),
        _ if adopting => {}
        _ => return Err(ConflictKind::Overlap),
    }
    Ok(())
}

/// Whether comments may stand in it, so that it is merged though it says what the template said.
fn holds_comments(item: &Item) -> bool {
    let in_list = |list: &Array| list.to_string().contains('#');
    item.is_table_like() || item.as_array().is_some_and(in_list)
}

/// Brings the comments inside a table that says the same as before to what the template has.
fn merge_inner_decor(old: Option<&Item>, mine: Option<&mut Item>, new: &Item) {
    let (Some(old), Some(mine), Some(new)) = (
        old.and_then(Item::as_table_like),
        mine.and_then(Item::as_table_like_mut),
        new.as_table_like(),
    ) else {
        return;
    };
    for (key, item) in new.iter() {
        decor::merge(key, old, mine, new);
        merge_inner_decor(old.get(key), mine.get_mut(key), item);
    }
}

fn merge_array(old: Option<&Array>, mine: &mut Array, new: &Array) {
    let has = |array: &Array, wanted: &Value| array.iter().any(|value| same_value(value, wanted));
    let is_old = |wanted: &Value| old.is_some_and(|old| has(old, wanted));
    mine.retain(|value| !is_old(value) || has(new, value));
    for value in new {
        if !is_old(value) && !has(mine, value) {
            list::push(mine, value.clone());
        }
    }
}

#[cfg(test)]
mod tests;
