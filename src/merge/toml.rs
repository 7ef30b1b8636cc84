//! TOML by key: `Cargo.toml`, `deny.toml`. Order, comments and format of the user's file are kept.

mod adopt;

use toml_edit::{Array, DocumentMut, Item, Table, TableLike};

pub use self::adopt::differing_keys;
use crate::change::ConflictKind;

/// Merges what the template changed, key by key. Against an empty base (a file that was there before the project) a key
/// the user has already is the user's.
pub fn merge(base: &str, ours: &str, theirs: &str) -> Result<String, ConflictKind> {
    let parse = |text: &str| {
        text.parse::<DocumentMut>()
            .map_err(|error| ConflictKind::Unparsable(error.message().to_owned()))
    };
    let (base_document, mut merged, theirs) = (parse(base)?, parse(ours)?, parse(theirs)?);
    let adopting = base.trim().is_empty();
    if adopting {
        adopt::check(&merged, &theirs)?;
    }
    merge_table(
        base_document.as_table(),
        merged.as_table_mut(),
        theirs.as_table(),
        adopting,
    )?;
    Ok(merged.to_string())
}

fn merge_table(
    base: &dyn TableLike,
    ours: &mut dyn TableLike,
    theirs: &dyn TableLike,
    adopting: bool,
) -> Result<(), ConflictKind> {
    for (key, old) in base.iter() {
        let unedited = ours.get(key).is_some_and(|mine| same(mine, old));
        if theirs.get(key).is_none() && unedited {
            ours.remove(key);
        }
    }
    let empty = Table::new();
    for (key, new) in theirs.iter() {
        let old = base.get(key);
        if old.is_some_and(|old| same(old, new)) {
            continue;
        }
        match (old, ours.get_mut(key)) {
            (None, None) => {
                ours.insert(key, inserted(new));
            }
            // The user removed what the template now changes: it stays removed.
            (Some(_), None) => {}
            (_, Some(mine)) if same(mine, new) => {}
            (Some(old), Some(mine)) if same(mine, old) => replace(mine, new),
            (old, Some(mine)) => {
                let old_table = old.map_or(Some(&empty as &dyn TableLike), Item::as_table_like);
                if let (Some(old), Some(mine), Some(new)) =
                    (old_table, mine.as_table_like_mut(), new.as_table_like())
                {
                    merge_table(old, mine, new, adopting)?;
                } else if let (Some(mine), Some(new)) = (mine.as_array_mut(), new.as_array()) {
                    merge_array(old.and_then(Item::as_array), mine, new);
                } else if !adopting {
                    return Err(ConflictKind::Overlap);
                }
            }
        }
    }
    Ok(())
}

fn merge_array(old: Option<&Array>, mine: &mut Array, new: &Array) {
    let text = |value: &toml_edit::Value| value.to_string().trim().to_owned();
    let has = |array: &Array, wanted: &str| array.iter().any(|value| text(value) == wanted);
    let is_old = |wanted: &str| old.is_some_and(|old| has(old, wanted));
    mine.retain(|value| !is_old(&text(value)) || has(new, &text(value)));
    for value in new {
        if !is_old(&text(value)) && !has(mine, &text(value)) {
            let mut value = value.clone();
            if !mine.is_empty() && is_empty(value.decor().prefix()) {
                value.decor_mut().set_prefix(" ");
            }
            mine.push(value);
        }
    }
}

/// What was first in its own file has nothing in front of it, and is not first here.
fn inserted(new: &Item) -> Item {
    let mut item = new.clone();
    if let Some(table) = item.as_table_mut()
        && is_empty(table.decor().prefix())
    {
        table.decor_mut().set_prefix("\n");
    }
    item
}

fn is_empty(decor: Option<&toml_edit::RawString>) -> bool {
    decor.and_then(|text| text.as_str()) == Some("")
}

/// Puts `new` in the place of `mine`; the comment behind a value stays.
fn replace(mine: &mut Item, new: &Item) {
    let decor = mine.as_value().map(|value| value.decor().clone());
    *mine = new.clone();
    if let (Some(value), Some(decor)) = (mine.as_value_mut(), decor) {
        *value.decor_mut() = decor;
    }
}

/// Whether two items say the same, whatever the white space and comments around them.
fn same(a: &Item, b: &Item) -> bool {
    fn plain(item: &Item) -> String {
        let mut item = item.clone();
        if let Some(value) = item.as_value_mut() {
            value.decor_mut().clear();
        }
        item.to_string().split_whitespace().collect()
    }
    match (a.as_table_like(), b.as_table_like()) {
        // A table that holds only tables has no text of its own.
        (Some(a), Some(b)) => {
            let in_b = |(key, item)| b.get(key).is_some_and(|other| same(item, other));
            a.len() == b.len() && a.iter().all(in_b)
        }
        _ => plain(a) == plain(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(base: &str, ours: &str, theirs: &str, expected: &str) {
        assert_eq!(merge(base, ours, theirs), Ok(expected.to_owned()));
    }

    #[test]
    fn dependencies_and_comments_of_the_user_stay() {
        check(
            "[dependencies]\nkube = \"5\"\nserde = \"1\"\n",
            "[dependencies]\n# ours\nreqwest = \"0.13\"\nkube = \"5\" # pinned\nserde = \"1\"\n",
            "[dependencies]\nkube = \"6\"\nserde = \"1\"\njiff = \"0.2\"\n",
            "[dependencies]\n# ours\nreqwest = \"0.13\"\nkube = \"6\" # pinned\nserde = \"1\"\njiff = \"0.2\"\n",
        );
    }

    #[test]
    fn features_are_merged_by_entry() {
        check(
            "tokio = { version = \"1\", features = [\"rt\"] }\n",
            "tokio = { version = \"1\", features = [\"rt\", \"fs\"] }\n",
            "tokio = { version = \"1\", features = [\"rt\", \"net\"] }\n",
            "tokio = { version = \"1\", features = [\"rt\", \"fs\", \"net\"] }\n",
        );
    }

    #[test]
    fn removals_on_either_side_are_kept() {
        check(
            "a = 1\nb = 2\n",
            "a = 1\nc = 3\nb = 2\n",
            "b = 2\n",
            "c = 3\nb = 2\n",
        );
        check(
            "a = 1\nb = 2\n",
            "b = 2\nc = 3\n",
            "a = 9\nb = 2\n",
            "b = 2\nc = 3\n",
        );
    }

    #[test]
    fn what_was_first_in_its_file_gets_room_here() {
        check(
            "",
            "[workspace]\nmembers = [\"tools\"]\n",
            "[package]\nname = \"demo\"\n\n[workspace]\nmembers = [\"crates/manager\"]\n",
            "[workspace]\nmembers = [\"tools\", \"crates/manager\"]\n\n[package]\nname = \"demo\"\n",
        );
    }

    #[test]
    fn tables_of_tables_are_merged() {
        check(
            "[profile.release]\nlto = true\n",
            "[profile.release]\nlto = true\n\n[profile.dev]\ndebug = false\n",
            "[profile.release]\nlto = \"thin\"\n",
            "[profile.release]\nlto = \"thin\"\n\n[profile.dev]\ndebug = false\n",
        );
    }

    #[test]
    fn both_sides_changing_one_key_is_a_conflict() {
        assert_eq!(
            merge("a = 1\n", "a = 2\n", "a = 3\n"),
            Err(ConflictKind::Overlap)
        );
    }

    #[test]
    fn the_manifest_of_another_package_is_not_adopted() {
        let theirs = "[package]\nname = \"theirs\"\n";
        assert!(matches!(
            merge("", "[package]\nname = \"mine\"\n", theirs),
            Err(ConflictKind::Foreign { .. })
        ));
    }

    #[test]
    fn an_existing_manifest_is_adopted() {
        check(
            "",
            "[package]\nname = \"mine\"\n",
            "[package]\nname = \"mine\"\nedition = \"2024\"\n\n[dependencies]\nkube = \"5\"\n",
            "[package]\nname = \"mine\"\nedition = \"2024\"\n\n[dependencies]\nkube = \"5\"\n",
        );
    }
}
