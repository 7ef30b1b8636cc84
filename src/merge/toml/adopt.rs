//! Merges into a `Cargo.toml` that was there before the project.

use toml_edit::{DocumentMut, Item, TableLike, Value};

use super::{dependency, same};
use crate::{change::ConflictKind, name::rust};

/// The keys that generated code depends on: path in the manifest, cargo's default, and the reason.
const NEEDED: [(&[&str], &str, &str); 3] = [
    (
        &["lib", "name"],
        "",
        "generated code calls the library of the project so",
    ),
    (
        &["lib", "path"],
        "src/lib.rs",
        "the library is generated there",
    ),
    (
        &["package", "edition"],
        "",
        "generated code is of that edition; `cargo fix --edition` moves yours",
    ),
];

/// Tables that edition 2024 renamed, with their old and new names.
const FORMER: [(&str, &str); 3] = [
    ("project", "package"),
    ("dev_dependencies", "dev-dependencies"),
    ("build_dependencies", "build-dependencies"),
];

/// Refuses a manifest with which the project cannot be built.
pub fn check(ours: &DocumentMut, theirs: &DocumentMut) -> Result<(), ConflictKind> {
    let at = |document: &DocumentMut, path: &[&str]| {
        let item = item_at(document, path);
        item.and_then(Item::as_str).map(str::to_owned)
    };
    for (old, new) in FORMER {
        if ours.contains_key(old) {
            return foreign(format!(
                "has `[{old}]`, which is `[{new}]` in the edition of generated code"
            ));
        }
    }
    let name = ["package", "name"];
    if let (Some(mine), Some(new)) = (at(ours, &name), at(theirs, &name))
        && mine != new
    {
        let what = format!("is of the package `{mine}`, and this project's is called `{new}`");
        let named = mine.parse();
        let named = named.is_ok_and(|name| rust::package_name(&name) == mine);
        return match named {
            true => Err(ConflictKind::Foreign {
                what,
                name: Some(mine),
            }),
            false => foreign(what),
        };
    }
    for (path, by_default, why) in NEEDED {
        // A package may inherit a key from its workspace.
        let inherited = [&["workspace"], path].concat();
        let inherits = item_at(ours, path).is_some_and(|item| item.get("workspace").is_some());
        let path = if inherits { &inherited } else { path };
        let Some(mine) = at(ours, path) else { continue };
        let needed = at(theirs, &path[path.len() - 2..]).unwrap_or(by_default.to_owned());
        if mine != needed && !needed.is_empty() {
            let key = path.join(".");
            return foreign(format!(
                "has `{key} = \"{mine}\"` and needs `\"{needed}\"`: {why}"
            ));
        }
    }
    if let Some(new) = at(theirs, &name) {
        binary(ours, &new)?;
    }
    for table in ["dependencies", "dev-dependencies"] {
        let (Some(mine), Some(new)) = (ours.get(table), theirs.get(table)) else {
            continue;
        };
        for (name, new) in new.as_table_like().into_iter().flat_map(TableLike::iter) {
            let path = |item: &Item| item.get("path").and_then(Item::as_str).map(str::to_owned);
            let (Some(new), Some(mine)) = (path(new), mine.get(name)) else {
                continue;
            };
            if path(mine).as_ref() != Some(&new) {
                return foreign(format!(
                    "has a dependency `{name}`, and the project's own in `{new}` is called so"
                ));
            }
        }
    }
    Ok(())
}

/// The refusal of a manifest.
fn foreign(what: String) -> Result<(), ConflictKind> {
    Err(ConflictKind::Foreign { what, name: None })
}

fn item_at<'a>(document: &'a DocumentMut, path: &[&str]) -> Option<&'a Item> {
    path.iter()
        .try_fold(document.as_item(), |item, key| item.get(key))
}

/// Checks that the binary with the package's name is `src/main.rs`: the image runs it.
fn binary(ours: &DocumentMut, package: &str) -> Result<(), ConflictKind> {
    const MAIN: &str = "src/main.rs";
    let text = |bin: &dyn TableLike, key| bin.get(key).and_then(Item::as_str).map(str::to_owned);
    let mut is_there = false;
    for bin in bins(ours) {
        let name = text(bin, "name").unwrap_or_default();
        let is_main = name == package;
        is_there |= is_main;
        match text(bin, "path") {
            Some(path) if path == MAIN && !is_main => {
                return foreign(format!(
                    "builds `{MAIN}` as `{name}`, and the image runs a binary `{package}`"
                ));
            }
            Some(path) if path != MAIN && is_main => {
                return foreign(format!(
                    "builds `{name}` from `{path}`, and the image runs it for `{MAIN}`"
                ));
            }
            _ => {}
        }
    }
    let finds = ours.get("package").and_then(|it| it.get("autobins"));
    if finds.and_then(Item::as_bool) == Some(false) && !is_there {
        return foreign(
            "has `package.autobins = false`, and needs the binaries in `src`".to_owned(),
        );
    }
    Ok(())
}

fn bins(ours: &DocumentMut) -> Vec<&dyn TableLike> {
    match ours.get("bin") {
        Some(Item::ArrayOfTables(bins)) => bins.iter().map(|bin| bin as &dyn TableLike).collect(),
        Some(Item::Value(Value::Array(bins))) => bins
            .iter()
            .filter_map(Value::as_inline_table)
            .map(|bin| bin as &dyn TableLike)
            .collect(),
        _ => Vec::new(),
    }
}

/// Removes `lints` from `theirs` if the user's package has lints of its own: cargo refuses lints of both a package and its
/// workspace.
pub fn leave_out(ours: &DocumentMut, theirs: &mut DocumentMut) {
    if ours.get("lints").is_some_and(has_own_lints) {
        theirs.remove("lints");
    }
}

fn has_own_lints(lints: &Item) -> bool {
    lints.get("workspace").is_none()
}

/// The keys that both manifests have with different values. The user's values are kept.
pub fn differing_keys(ours: &str, theirs: &str) -> Vec<String> {
    let mut keys = Vec::new();
    if let (Ok(ours), Ok(theirs)) = (ours.parse::<DocumentMut>(), theirs.parse::<DocumentMut>()) {
        differing("", ours.as_table(), theirs.as_table(), &mut keys);
    }
    keys
}

fn differing(above: &str, ours: &dyn TableLike, theirs: &dyn TableLike, keys: &mut Vec<String>) {
    for (key, new) in theirs.iter() {
        let Some(mine) = ours.get(key) else { continue };
        let name = format!("{above}{key}");
        let parent = above.trim_end_matches('.').rsplit('.').next();
        let is_dependency = parent.is_some_and(dependency::are_below);
        // A version of the user's own is no conflict, and arrays are joined.
        match (mine.as_table_like(), new.as_table_like()) {
            _ if name == "lints" && has_own_lints(mine) => keys.push(name),
            _ if name == "package.version" || (mine.is_array() && new.is_array()) => {}
            (Some(mine), Some(new)) if !is_dependency => {
                differing(&format!("{name}."), mine, new, keys)
            }
            _ if same(mine, new) => {}
            _ => keys.push(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THEIRS: &str = "[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[lib]\nname = \"operator\"\n\n\
                          [dependencies]\noperator-runtime = { path = \"vendor/operator-runtime\" }\nserde.workspace = true\nkube.workspace = true\n";

    #[track_caller]
    fn refused(ours: &str) -> String {
        let document = |text: &str| text.parse::<DocumentMut>().unwrap();
        match check(&document(ours), &document(THEIRS)) {
            Err(ConflictKind::Foreign { what, .. }) => what,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_generated_code_needs_is_checked() {
        assert!(refused("[package]\nname = \"mine\"\n").contains("`mine`"));
        assert!(refused("[lib]\nname = \"mine\"\n").contains("lib.name"));
        assert!(refused("[lib]\npath = \"src/op.rs\"\n").contains("`lib.path = "));
        let inherited =
            "[package]\nedition.workspace = true\n[workspace.package]\nedition = \"2021\"\n";
        assert!(refused(inherited).contains("`workspace.package.edition = "));
        assert!(refused("[project]\nname = \"demo\"\n").contains("`[package]`"));
        assert!(refused("[dev_dependencies]\na = \"1\"\n").contains("`[dev-dependencies]`"));
        let bin = |name: &str| format!("[[bin]]\nname = \"{name}\"\npath = \"src/main.rs\"\n");
        assert!(refused(&bin("srv")).contains("`srv`"));
        let other = "[[bin]]\nname = \"demo\"\npath = \"src/cli.rs\"\n";
        assert!(refused(other).contains("`src/cli.rs`"));
        assert!(refused("bin = [{ name = \"srv\", path = \"src/main.rs\" }]\n").contains("`srv`"));
        assert!(refused("[package]\nautobins = false\n").contains("autobins"));
        assert!(
            refused("[dependencies]\noperator-runtime = \"1\"\n")
                .contains("`vendor/operator-runtime`")
        );
        let document = |text: &str| text.parse::<DocumentMut>().unwrap();
        for ours in [
            "[workspace.package]\nedition = \"2021\"\n",
            "[lib]\npath = \"src/lib.rs\"\n",
            &format!("[package]\nautobins = false\n{}", bin("demo")),
            "[[bin]]\nname = \"other\"\npath = \"src/bin/a.rs\"\n",
            "[dependencies]\noperator-runtime = { path = \"vendor/operator-runtime\" }\n",
        ] {
            assert_eq!(check(&document(ours), &document(THEIRS)), Ok(()), "{ours}");
        }
        assert!(refused("[package]\nname = \"demo\"\nedition = \"2021\"\n").contains("\"2024\""));
    }

    #[test]
    fn only_a_valid_name_of_a_package_is_proposed() {
        let name = |ours: &str| {
            let document = |text: &str| text.parse::<DocumentMut>().unwrap();
            match check(&document(ours), &document(THEIRS)) {
                Err(ConflictKind::Foreign { name, .. }) => name,
                other => panic!("{other:?}"),
            }
        };
        let mine = name("[package]\nname = \"mine\"\n");
        assert_eq!(mine.as_deref(), Some("mine"));
        let hostile = "'; touch mine; '|/e";
        for ours in [
            "[package]\nname = \"my_op\"\n".to_owned(),
            format!("[package]\nname = \"{hostile}\"\n"),
            format!("[lib]\nname = \"{hostile}\"\n"),
            format!("[[bin]]\nname = \"{hostile}\"\npath = \"src/main.rs\"\n"),
            format!("[[bin]]\nname = \"demo\"\npath = \"{hostile}\"\n"),
        ] {
            assert_eq!(name(&ours), None, "{ours}");
        }
    }

    #[test]
    fn keys_that_differ_are_listed() {
        let ours = "[package]\nname = \"demo\"\nversion = \"2.0.0\"\n\n[dependencies]\nserde = \"1\"\nrand = \"0.9\"\n";
        assert_eq!(differing_keys(ours, THEIRS), ["dependencies.serde"]);
        assert_eq!(differing_keys("", THEIRS), [""; 0]);
        let ours = "[dependencies]\nserde.workspace = true\nkube = { git = \"https://x/y\" }\n";
        assert_eq!(differing_keys(ours, THEIRS), ["dependencies.kube"]);
    }
}
