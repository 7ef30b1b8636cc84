//! Where new keys go: beside those that they stand beside in the template.

use std::collections::BTreeMap;

use toml_edit::{Item, Key, Table, TableLike};

/// Adds what the template has at `key`, with the comment above it.
pub fn insert(ours: &mut dyn TableLike, theirs: &dyn TableLike, key: &str, new: &Item) {
    let mut new = new.clone();
    follow(&mut new);
    let key = theirs.key(key).cloned().unwrap_or_else(|| Key::new(key));
    ours.entry_format(&key).or_insert(new);
}

/// Forgets the places that tables had in their file: each follows what is before it.
fn follow(item: &mut Item) {
    if let Some(table) = item.as_table_mut() {
        table.set_position(None);
        table.iter_mut().for_each(|(_, inner)| follow(inner));
    }
}

/// Puts the keys that are new since `base` behind the ones that they stand behind in `theirs`.
pub fn place(base: &Table, ours: &mut Table, theirs: &Table) {
    for (key, item) in ours.iter_mut() {
        if let (Some(mine), Some(new)) = (
            item.as_table_mut(),
            theirs.get(&key).and_then(Item::as_table),
        ) {
            let empty = Table::new();
            place(
                base.get(&key).and_then(Item::as_table).unwrap_or(&empty),
                mine,
                new,
            );
        }
    }
    let names: Vec<&str> = theirs.iter().map(|(key, _)| key).collect();
    let is_new = |key: &str| theirs.contains_key(key) && !base.contains_key(key);
    let mut order: Vec<String> = ours.iter().map(|(key, _)| key.to_owned()).collect();
    let added: Vec<String> = names
        .iter()
        .filter(|key| is_new(key) && order.iter().any(|other| other == *key))
        .map(|key| (*key).to_owned())
        .collect();
    if added.is_empty() || added.len() == order.len() {
        return;
    }
    order.retain(|key| !added.contains(key));
    for key in added {
        let at = names
            .iter()
            .position(|name| *name == key)
            .unwrap_or(names.len());
        let place_of = |name: &&str| order.iter().position(|other| other == name);
        let before = names[..at].iter().rev().find_map(place_of);
        let after = names[at..].iter().find_map(place_of);
        let place = before
            .map(|place| place + 1)
            .or(after)
            .unwrap_or(order.len());
        order.insert(place, key);
    }
    let places: BTreeMap<String, usize> = order.into_iter().zip(0..).collect();
    let place = |key: &Key| places.get(key.get()).copied().unwrap_or(places.len());
    ours.sort_values_by(|a, _, b, _| place(a).cmp(&place(b)));
}
