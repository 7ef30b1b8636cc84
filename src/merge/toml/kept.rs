//! Comments of the user that would go with what they are about.
//!
//! Invariant: a comment that the user wrote is in the merged file, wherever the merge took its key, element or table.

use toml_edit::{Array, DocumentMut, InlineTable, Item, Key, RawString, Table, Value};

use super::decor::text;

/// What marks a line that only holds the place of a comment. No TOML has this character as it is.
const GONE: char = '\u{1}';

/// The text of `merged`, which was made of `mine`. What the user wrote about a key that is gone (what `base` does not have)
/// stands above the next key of its table, or at the table's end.
pub fn print(base: &DocumentMut, mine: &DocumentMut, mut merged: DocumentMut) -> String {
    keep(base.as_table(), mine.as_table(), merged.as_table_mut());
    let text = merged.to_string();
    let lines = text.split_inclusive('\n');
    lines.filter(|line| !line.contains(GONE)).collect()
}

fn keep(base: &Table, mine: &Table, merged: &mut Table) {
    let no_table = Table::new();
    let mut orphaned = String::new();
    for (key, item) in mine {
        if let (Some(inner), Some(merged)) = (
            headed(item),
            merged.get_mut(key).and_then(Item::as_table_mut),
        ) {
            let base = base.get(key).and_then(Item::as_table);
            keep(base.unwrap_or(&no_table), inner, merged);
            continue;
        }
        let lost = lost(key, base, mine, merged);
        if !stands_in_line(item) {
            hold_table(merged, first_position(item), &lost);
        } else if merged.contains_key(key) {
            put_above(merged, key, &orphaned, &lost);
            orphaned.clear();
        } else {
            orphaned += &lost;
        }
    }
    if !orphaned.is_empty() {
        let key = free_key(merged);
        merged.insert(
            &key,
            Value::from(true).decorated(" ", GONE.to_string()).into(),
        );
        put_above(merged, &key, &orphaned, "");
    }
}

/// A table with a header of its own.
fn headed(item: &Item) -> Option<&Table> {
    item.as_table().filter(|table| !table.is_dotted())
}

/// Whether it is written as a `key = value` of its table.
fn stands_in_line(item: &Item) -> bool {
    item.is_value() || item.as_table().is_some_and(Table::is_dotted)
}

/// The comments at `key` that only `mine` has, as lines, with a blank one above if they had one.
fn lost(key: &str, base: &Table, mine: &Table, merged: &Table) -> String {
    let kept = [base, merged].map(|table| comments(table, key));
    let is_kept = |line: &&str| kept.iter().any(|comments| comments.contains(line));
    let lost = comments(mine, key)
        .into_iter()
        .filter(|line| !is_kept(line));
    let lines: String = lost.flat_map(|line| [line, "\n"]).collect();
    if lines.is_empty() || merged.contains_key(key) || !is_set_off(key, mine) {
        return lines;
    }
    format!("\n{lines}")
}

fn is_set_off(key: &str, table: &Table) -> bool {
    let Some((key, item)) = table.get_key_value(key) else {
        return false;
    };
    let decor = headed(item).map_or(key.leaf_decor(), Table::decor);
    text(decor.prefix()).starts_with('\n')
}

/// Puts lines above a key: those of keys before it above its own comments, those of its own below.
fn put_above(table: &mut Table, key: &str, others: &str, own: &str) {
    let Some((mut key, item)) = table.get_key_value_mut(key) else {
        return;
    };
    // The comment of `a.b = 1` is that of the last key.
    if let Some(inner) = item.as_table_mut().filter(|table| table.is_dotted()) {
        let first = inner.iter().next().map(|(key, _)| key.to_owned());
        return put_above(inner, &first.unwrap_or_default(), others, own);
    }
    let decor = match item {
        Item::Table(table) => table.decor_mut(),
        _ => key.leaf_decor_mut(),
    };
    let prefix = text(decor.prefix()).to_owned();
    decor.set_prefix(format!("{others}{prefix}{own}"));
}

/// Puts lines where a table stood.
fn hold_table(parent: &mut Table, position: Option<isize>, lines: &str) {
    if lines.is_empty() {
        return;
    }
    let mut table = Table::new();
    table.set_position(position);
    table.decor_mut().set_prefix(lines);
    table.decor_mut().set_suffix(GONE.to_string());
    parent.insert(&free_key(parent), Item::Table(table));
}

fn first_position(item: &Item) -> Option<isize> {
    let of_table = |table: &Table| {
        let inner = table.iter().filter_map(|(_, item)| first_position(item));
        table.position().or(inner.min())
    };
    match item {
        Item::Table(table) => of_table(table),
        Item::ArrayOfTables(tables) => tables.iter().find_map(of_table),
        Item::None | Item::Value(_) => None,
    }
}

fn free_key(table: &Table) -> String {
    let mut key = String::from("gone");
    while table.contains_key(&key) {
        key.push('_');
    }
    key
}

/// The comments above, in and beside what stands at `key`.
fn comments<'a>(table: &'a Table, key: &str) -> Vec<&'a str> {
    let mut found = Vec::new();
    if let Some((key, item)) = table.get_key_value(key) {
        in_item(key, item, &mut found);
    }
    found.retain(|line| line.starts_with('#'));
    found
}

fn in_item<'a>(key: &'a Key, item: &'a Item, found: &mut Vec<&'a str>) {
    lines(key.leaf_decor().prefix(), found);
    match item {
        Item::None => {}
        Item::Value(value) => in_value(value, found),
        Item::Table(table) => in_table(table, found),
        Item::ArrayOfTables(tables) => tables.iter().for_each(|table| in_table(table, found)),
    }
}

fn in_table<'a>(table: &'a Table, found: &mut Vec<&'a str>) {
    lines(table.decor().prefix(), found);
    lines(table.decor().suffix(), found);
    let keys = table.iter().filter_map(|(key, _)| table.get_key_value(key));
    keys.for_each(|(key, item)| in_item(key, item, found));
}

fn in_value<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    lines(value.decor().prefix(), found);
    match value {
        Value::Array(array) => in_array(array, found),
        Value::InlineTable(table) => in_inline_table(table, found),
        _ => {}
    }
    lines(value.decor().suffix(), found);
}

fn in_array<'a>(array: &'a Array, found: &mut Vec<&'a str>) {
    array.iter().for_each(|value| in_value(value, found));
    lines(Some(array.trailing()), found);
}

fn in_inline_table<'a>(table: &'a InlineTable, found: &mut Vec<&'a str>) {
    let keys = table.iter().filter_map(|(key, _)| table.get_key_value(key));
    keys.for_each(|(key, item)| in_item(key, item, found));
    lines(Some(table.trailing()), found);
}

fn lines<'a>(raw: Option<&'a RawString>, found: &mut Vec<&'a str>) {
    found.extend(text(raw).lines().map(str::trim));
}

#[cfg(test)]
mod tests {
    use toml_edit::DocumentMut;

    #[track_caller]
    fn check(base: &str, ours: &str, theirs: &str, expected: &str) {
        let merged = super::super::merge(base, ours, theirs);
        assert_eq!(merged, Ok(expected.to_owned()));
    }

    #[test]
    fn a_comment_about_a_key_that_goes_stands_above_the_next_one() {
        check(
            "[a]\nx = 1\ny = 2\n",
            "[a]\n# why\nx = 1 # so\n# about y\ny = 2\n",
            "[a]\ny = 2\n",
            "[a]\n# why\n# so\n# about y\ny = 2\n",
        );
        check(
            "[a]\nx = 1\ny.z = 2\n",
            "[a]\nx = 1 # so\ny.z = 2\n",
            "[a]\ny.z = 2\n",
            "[a]\n# so\ny.z = 2\n",
        );
        check(
            "[a]\nx.w = 1\ny.z = 2\n",
            "[a]\n# why\nx.w = 1 # so\ny.z = 2\n",
            "[a]\ny.z = 2\n",
            "[a]\n# why\n# so\ny.z = 2\n",
        );
    }

    #[test]
    fn a_comment_about_the_last_key_stands_at_the_tables_end() {
        check(
            "[a]\nx = 1\ny = 2\n\n[b]\nz = 1\n",
            "[a]\nx = 1\n\n# why\ny = 2 # so\n\n# about b\n[b]\nz = 1\n",
            "[a]\nx = 1\n\n[b]\nz = 1\n",
            "[a]\nx = 1\n\n# why\n# so\n\n# about b\n[b]\nz = 1\n",
        );
        check("a = 1\n", "# why\na = 1\n", "", "# why\n");
        check("[a]\nb = 1\n", "[a]\nb = 1 # so\n", "[a]\n", "[a]\n# so\n");
    }

    #[test]
    fn a_comment_of_the_template_goes_with_its_key() {
        check(
            "# theirs\na = 1 # theirs\nb = 1\n",
            "# theirs\n# mine\na = 1 # theirs\nb = 1\n",
            "b = 1\n",
            "# mine\nb = 1\n",
        );
    }

    #[test]
    fn comments_of_a_table_that_goes_stay_in_its_place() {
        check(
            "[a]\nx = 1\n\n[b]\ny = 1\n\n[b.c]\nz = 1\n\n[d]\nw = 1\n",
            "[a]\nx = 1\n\n# about b\n[b] # head\ny = 1 # so\n\n[b.c]\n# why\nz = 1\n\n[d]\nw = 1\n",
            "[a]\nx = 1\n\n[d]\nw = 1\n",
            "[a]\nx = 1\n\n# about b\n# head\n# so\n# why\n\n[d]\nw = 1\n",
        );
        check(
            "a = 1\n\n[p.a]\nx = 1\n\n[d]\nw = 1\n",
            "a = 1\n\n[p.a]\nx = 1 # so\n\n[d]\nw = 1\n",
            "a = 1\n\n[d]\nw = 1\n",
            "a = 1\n# so\n\n[d]\nw = 1\n",
        );
    }

    #[test]
    fn a_comment_in_a_value_that_changes_stands_above_it() {
        check(
            "b = 1\na = [\n  \"x\",\n  \"y\",\n]\n",
            "b = 1\n# list\na = [\n  \"x\",\n  # about y\n  \"y\",\n]\n",
            "b = 1\na = [\n  \"x\",\n]\n",
            "b = 1\n# list\n# about y\na = [\n  \"x\",\n]\n",
        );
        check(
            "[dependencies]\na = { version = \"1\", features = [\"x\"] }\n",
            "[dependencies]\na = {\n  # why\n  version = \"1\",\n  features = [\"x\"], # so\n}\n",
            "[dependencies]\n",
            "[dependencies]\n# why\n# so\n",
        );
    }

    #[test]
    fn a_key_called_as_the_place_of_a_comment_stays() {
        check(
            "gone = 1\na = 1\n",
            "gone = 1\n# why\na = 1\n",
            "gone = 1\n",
            "gone = 1\n# why\n",
        );
        let control = format!("a = 1 # {}\n", super::GONE);
        assert!(control.parse::<DocumentMut>().is_err());
    }
}
