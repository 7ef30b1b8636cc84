//! TOML by key: `Cargo.toml`, `deny.toml`. Order, comments and format of the user's file are kept.

mod adopt;
mod decor;
mod dependency;
mod kept;
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
    let (base_document, mine, theirs) = (parse(base)?, parse(ours)?, parse(theirs)?);
    let mut merged = mine.clone();
    let adopting = base.trim().is_empty();
    if adopting {
        adopt::check(&merged, &theirs)?;
    }
    merge_table(
        base_document.as_table(),
        merged.as_table_mut(),
        theirs.as_table(),
        adopting,
        false,
    )?;
    order::place(mine.as_table(), merged.as_table_mut(), theirs.as_table());
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
        if is_old(value) || has(mine, value) {
            continue;
        }
        match mine.iter().last().and_then(indent) {
            Some(indent) => mine.push_formatted(value.clone().decorated(indent, "")),
            None => mine.push(value.clone()),
        }
    }
}

/// The line end and the white space before a value that begins a line.
fn indent(value: &Value) -> Option<String> {
    let before = value.decor().prefix()?.as_str()?;
    let (_, indent) = before.rsplit_once('\n')?;
    Some(format!("\n{indent}"))
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
    fn new_keys_go_where_the_template_has_them_with_their_comments() {
        check(
            "[dependencies]\na = 1\nc = 3\n\n[lints]\nx = 1\n",
            "[dependencies]\na = 1\nmine = 9\nc = 3\n\n[mine]\ny = 2\n\n[lints]\nx = 1\n",
            "[dependencies]\na = 1\n# new\nb = 2\nc = 3\n\n# more\n[features]\nd = []\n\n[lints]\nx = 1\n",
            "[dependencies]\na = 1\n# new\nb = 2\nmine = 9\nc = 3\n\n# more\n[features]\nd = []\n\n[mine]\ny = 2\n\n[lints]\nx = 1\n",
        );
    }

    #[test]
    fn comments_are_merged_as_what_they_are_about() {
        check(
            "# old\n[a]\nx = 1\n# one\ny = 2\nz = 3\n",
            "# old\n[a]\nx = 7\n# mine\ny = 2\nz = 3\n# last\n",
            "# new\n[a]\nx = 1\n# two\ny = 2\n# three\nz = 3 # why\n",
            "# new\n[a]\nx = 7\n# mine\ny = 2\n# three\nz = 3 # why\n# last\n",
        );
    }

    #[test]
    fn a_dependency_that_the_user_wrote_out_gets_the_new_version() {
        check(
            "[dependencies]\nkube = \"5\"\n",
            "[dependencies]\nkube = { version = \"5\", features = [\"ws\"] }\n",
            "[dependencies]\nkube = \"6\"\n",
            "[dependencies]\nkube = { version = \"6\", features = [\"ws\"] }\n",
        );
    }

    #[test]
    fn an_inline_table_keeps_its_lines() {
        let mine = "a = {\n  x = 1, # why\n  y = [\n    2,\n  ], # so\n}\n";
        check(
            "a = { x = 1, y = [2] }\nb = 1\n",
            &format!("{mine}b = 1\n"),
            "a = { x = 1, y = [2] }\nb = 2\n",
            &format!("{mine}b = 2\n"),
        );
        check(
            "a = { x = 1, y = 2 }\n",
            "a = { x = 9, y = 2 }\n",
            "a = { x = 1 }\n",
            "a = { x = 9 }\n",
        );
        check(
            "a = { x = 1, y = 2 }\n",
            "a = {\n  x = 9,\n  y = 2, # so\n}\n",
            "a = { x = 1 }\n",
            "a = {\n  x = 9, # so\n}\n",
        );
    }

    #[test]
    fn white_space_inside_of_strings_counts() {
        check(
            "a = \"b c\"\n",
            "a = \"b c\"\nx = 1\n",
            "a = \"bc\"\n",
            "a = \"bc\"\nx = 1\n",
        );
    }

    #[test]
    fn lists_keep_their_lines() {
        check(
            "a = [\n  \"x\",\n]\n",
            "a = [\n  \"x\", # why\n  \"mine\",\n]\n",
            "a = [\n  \"x\",\n  \"y\",\n]\n",
            "a = [\n  \"x\", # why\n  \"mine\",\n  \"y\",\n]\n",
        );
    }

    #[test]
    fn of_a_table_that_goes_the_users_part_stays() {
        check(
            "a = 1\n[b]\nx = 1\ny = 2\n",
            "a = 1\n[b]\nx = 1\nmine = 3\ny = 2\n",
            "a = 1\n",
            "a = 1\n[b]\nmine = 3\n",
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
    fn a_comment_is_no_edit_and_stays() {
        check(
            "[a]\nx = 1\ny = 2\nz = [\n  1,\n]\n",
            "[a]\n# mine\nx = 1\ny = 2\nz = [\n  # mine\n  1,\n]\n",
            "[a]\nx = 9\ny = 2\nz = [\n  1,\n  2,\n]\n",
            "[a]\n# mine\nx = 9\ny = 2\nz = [\n  # mine\n  1,\n  2,\n]\n",
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
    fn keys_of_the_user_keep_their_order() {
        check(
            "",
            "[package]\nname = \"k\"\nversion = \"1\"\nedition = \"2024\"\ndescription = \"mine\"\nauthors = [\"me\"]\n",
            "[package]\nname = \"k\"\nversion = \"0\"\nedition = \"2024\"\nrust-version = \"1.89\"\npublish = false\n",
            "[package]\nname = \"k\"\nversion = \"1\"\nedition = \"2024\"\nrust-version = \"1.89\"\npublish = false\n\
             description = \"mine\"\nauthors = [\"me\"]\n",
        );
        check(
            "",
            "[z]\nx = 1\n[b]\nx = 1\n[a]\ny = { d = 1, c = 1 }\n",
            "[a]\ny = { c = 1, d = 1 }\n[b]\nw = 1\nx = 1\n",
            "[z]\nx = 1\n[b]\nw = 1\nx = 1\n[a]\ny = { d = 1, c = 1 }\n",
        );
        // Added on both sides.
        check(
            "a = 1\n",
            "c = 1\na = 1\nb = 1\n",
            "a = 1\nb = 1\nc = 1\nd = 1\n",
            "c = 1\nd = 1\na = 1\nb = 1\n",
        );
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
