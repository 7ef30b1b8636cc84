//! Comments and blank lines: the user's where the user changed them, the template's otherwise.

use toml_edit::{Decor, DocumentMut, Item, RawString, TableLike};

/// Merges what stands above `key`, and around its value or the header of its table.
pub fn merge(key: &str, base: &dyn TableLike, ours: &mut dyn TableLike, theirs: &dyn TableLike) {
    let (Some((base_key, old)), Some((new_key, new))) =
        (base.get_key_value(key), theirs.get_key_value(key))
    else {
        return;
    };
    let Some((mut my_key, mine)) = ours.get_key_value_mut(key) else {
        return;
    };
    take(
        base_key.leaf_decor(),
        my_key.leaf_decor_mut(),
        new_key.leaf_decor(),
    );
    if let (Some(old), Some(new), Some(mine)) = (of(old), of(new), of_mut(mine)) {
        take(old, mine, new);
    }
}

/// Merges what stands after everything else.
pub fn merge_end(base: &DocumentMut, ours: &mut DocumentMut, theirs: &DocumentMut) {
    if text(Some(base.trailing())) == text(Some(ours.trailing())) {
        ours.set_trailing(theirs.trailing().clone());
    }
}

/// Puts `new` in the place of `mine`, which says what `old` does; comments of the user stay.
pub fn replace(old: &Item, mine: &mut Item, new: &Item) {
    let kept = of(mine).cloned();
    *mine = new.clone();
    if let (Some(kept), Some(decor)) = (kept, of_mut(mine)) {
        let (wanted, before) = (decor.clone(), of(old));
        *decor = kept;
        if let Some(before) = before {
            take(before, decor, &wanted);
        }
    }
}

fn of(item: &Item) -> Option<&Decor> {
    match item {
        Item::Value(value) => Some(value.decor()),
        Item::Table(table) => Some(table.decor()),
        Item::None | Item::ArrayOfTables(_) => None,
    }
}

fn of_mut(item: &mut Item) -> Option<&mut Decor> {
    match item {
        Item::Value(value) => Some(value.decor_mut()),
        Item::Table(table) => Some(table.decor_mut()),
        Item::None | Item::ArrayOfTables(_) => None,
    }
}

fn take(old: &Decor, mine: &mut Decor, new: &Decor) {
    if text(old.prefix()) == text(mine.prefix()) {
        mine.set_prefix(new.prefix().cloned().unwrap_or_default());
    }
    if text(old.suffix()) == text(mine.suffix()) {
        mine.set_suffix(new.suffix().cloned().unwrap_or_default());
    }
}

/// What it says; nothing by default.
pub fn text(raw: Option<&RawString>) -> &str {
    raw.and_then(RawString::as_str).unwrap_or_default()
}
