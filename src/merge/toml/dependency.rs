//! Three-way merge of a dependency in a manifest. Its source is one value, which several keys may describe.

use toml_edit::{InlineTable, Item, TableLike, Value};

use super::{merge_table, same, tidy};
use crate::change::ConflictKind;

/// The keys that describe the source of a dependency. The others describe its use.
const SOURCE: [&str; 11] = [
    "base",
    "branch",
    "git",
    "package",
    "path",
    "registry",
    "registry-index",
    "rev",
    "tag",
    "version",
    "workspace",
];

/// Whether the keys of the table at `key` are dependencies.
pub fn are_below(key: &str) -> bool {
    ["dependencies", "dev-dependencies", "build-dependencies"].contains(&key)
}

/// Merges a dependency that both sides changed.
///
/// Errors: both sides changed its source.
pub fn merge(old: Option<&Item>, mine: &mut Item, new: &Item) -> Result<(), ConflictKind> {
    let old = old.map(written_out);
    let new = written_out(new);
    let mut table = written_out(mine);
    let none = InlineTable::new();
    let base = old
        .as_ref()
        .map_or(Some(&none as &dyn TableLike), Item::as_table_like);
    let (Some(base), Some(theirs), Some(ours)) =
        (base, new.as_table_like(), table.as_table_like_mut())
    else {
        return Err(ConflictKind::Overlap);
    };
    let is_same = |a: &dyn TableLike, b: &dyn TableLike| {
        SOURCE.iter().all(|key| match (a.get(key), b.get(key)) {
            (None, None) => true,
            (Some(a), Some(b)) => same(a, b),
            _ => false,
        })
    };
    let is_of_one = old.is_some() && (is_same(base, ours) || is_same(base, theirs));
    if !is_of_one && !is_same(ours, theirs) {
        return Err(ConflictKind::Overlap);
    }
    // One side did not change the source, so a merge by key cannot mix two sources.
    merge_table(base, ours, theirs, false, false)?;
    if !same(&table, &written_out(mine)) {
        tidy(&mut table);
        *mine = table;
    }
    Ok(())
}

/// Writes `"1"` as `{ version = "1" }`, and leaves any other item as it is.
fn written_out(item: &Item) -> Item {
    let Some(Value::String(version)) = item.as_value() else {
        return item.clone();
    };
    let mut table = InlineTable::new();
    *table.decor_mut() = version.decor().clone();
    table.insert("version", version.value().as_str().into());
    Item::Value(Value::InlineTable(table))
}

#[cfg(test)]
mod tests {
    use super::super::merge;
    use crate::change::ConflictKind;

    /// The line of one dependency in each text, in `[dependencies]`.
    #[track_caller]
    fn check(base: &str, ours: &str, theirs: &str, expected: Option<&str>) {
        let file = |line: &str| format!("[dependencies]\n{line}\nlast = \"1\"\n");
        let base = if base.is_empty() {
            String::new()
        } else {
            file(base)
        };
        let expected = expected.map(file).ok_or(ConflictKind::Overlap);
        assert_eq!(merge(&base, &file(ours), &file(theirs)), expected);
    }

    #[test]
    fn a_dependency_that_was_there_is_kept_whole() {
        let entries = [
            "kube = { git = \"https://x/y\" }",
            "kube = { version = \"0.98\", features = [\"ws\"] }",
            "kube = { package = \"kube-fork\", version = \"1\" }",
            "kube = {path=\"../kube\"} # mine",
            "kube = \"1\"",
        ];
        for entry in entries {
            check("", entry, "kube.workspace = true", Some(entry));
            let theirs = "kube = { workspace = true, features = [\"client\"] }";
            check("", entry, theirs, Some(entry));
        }
        let table = "[dependencies.tokio]\nversion = \"1\"\nfeatures = [\"full\"]\n";
        for parent in ["", "workspace.", "target.\"cfg(unix)\"."] {
            let ours = table.replace("dependencies", &format!("{parent}dependencies"));
            let theirs = format!("[{parent}dependencies]\ntokio.workspace = true\n");
            assert_eq!(merge("", &ours, &theirs), Ok(ours));
        }
    }

    #[test]
    fn a_new_source_and_a_new_feature_are_merged() {
        check(
            "kube.workspace = true",
            "kube = { git = \"https://x/y\" }",
            "kube = { workspace = true, features = [\"ws\"] }",
            Some("kube = { git = \"https://x/y\", features = [\"ws\"] }"),
        );
        check(
            "kube = { version = \"5\", features = [\"ws\"] }",
            "kube = { git = \"https://x/y\", branch = \"main\", features = [\"ws\"] }",
            "kube = { version = \"5\", features = [\"ws\", \"client\"] }",
            Some(
                "kube = { git = \"https://x/y\", branch = \"main\", features = [\"ws\", \"client\"] }",
            ),
        );
        check(
            "kube = \"5\"",
            "kube = { version = \"5\", features = [\"ws\"] }",
            "kube = { git = \"https://x/y\" }",
            Some("kube = { features = [\"ws\"], git = \"https://x/y\" }"),
        );
        check(
            "kube = \"5\"",
            "kube = \"5.1\" # pinned",
            "kube = { version = \"5\", features = [\"ws\"] }",
            Some("kube = { version = \"5.1\", features = [\"ws\"] } # pinned"),
        );
        check(
            "kube = { version = \"5\", features = [\"ws\"] }",
            "kube = \"5.1\"",
            "kube = { version = \"5\", features = [\"ws\", \"client\"] }",
            Some("kube = \"5.1\""),
        );
    }

    #[test]
    fn an_unedited_dependency_is_written_as_the_template_has_it() {
        let forms = [
            "kube.workspace = true",
            "kube = \"5\"",
            "kube = { version = \"5\", features = [\"ws\"] }",
        ];
        for old in forms {
            for new in forms {
                check(old, old, new, Some(new));
            }
        }
    }

    #[test]
    fn an_unedited_dependency_is_rewritten_beside_one_of_the_user() {
        let base = "[dependencies]\na.workspace = true\n# Two.\nb.workspace = true\n";
        let ours = base.replace("]\n", "]\n# ours\nmine = \"2\"\n");
        let theirs =
            "[dependencies]\na = \"1\"\n# Both.\nb = { version = \"1\", features = [\"x\"] }\n";
        let merged = merge(base, &ours, theirs).unwrap();
        assert_eq!(merged, theirs.replace("]\na", "]\n# ours\nmine = \"2\"\na"));
    }

    #[test]
    fn another_source_on_both_sides_is_a_conflict() {
        let git = "kube = { git = \"https://x/y\" }";
        check("kube.workspace = true", git, "kube = \"5\"", None);
        check("kube = \"5\"", git, "kube = \"6\"", None);
        let registry = "kube = { version = \"5\", registry = \"mine\" }";
        check("kube = \"5\"", registry, "kube = \"6\"", None);
        check("other = \"1\"", git, "kube.workspace = true", None);
    }

    #[test]
    fn a_dropped_dependency_stays_whole_if_the_user_changed_it() {
        let mine = "kube = { workspace = true, features = [\"ws\"] }";
        let merged = merge(
            "[dependencies]\nkube.workspace = true\n",
            &format!("[dependencies]\n{mine}\n"),
            "[dependencies]\n",
        );
        assert_eq!(merged, Ok(format!("[dependencies]\n{mine}\n")));
    }
}
