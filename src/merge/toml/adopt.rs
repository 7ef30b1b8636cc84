//! A `Cargo.toml` that was there before the project.

use toml_edit::{DocumentMut, Item, TableLike};

use super::{dependency, same};
use crate::{
    change::ConflictKind,
    name::{ProjectName, rust},
};

/// What the generated code is written for: paths of the manifest, and why there is no way around it.
const NEEDED: [(&[&str], &str); 2] = [
    (
        &["lib", "name"],
        "generated code calls the library of the project so",
    ),
    (
        &["package", "edition"],
        "generated code is of that edition; `cargo fix --edition` moves yours",
    ),
];

/// Refuses a manifest that the project cannot be built with.
pub fn check(ours: &DocumentMut, theirs: &DocumentMut) -> Result<(), ConflictKind> {
    let at = |document: &DocumentMut, path: &[&str]| {
        let item = path
            .iter()
            .try_fold(document.as_item(), |item, key| item.get(key));
        item.and_then(Item::as_str).map(str::to_owned)
    };
    let name = ["package", "name"];
    if let (Some(mine), Some(new)) = (at(ours, &name), at(theirs, &name))
        && mine != new
    {
        return Err(ConflictKind::Foreign {
            what: format!("is of the package `{mine}`, and this project's is called `{new}`"),
            help: Some(same_package(&mine, &new)),
        });
    }
    for (path, why) in NEEDED {
        if let (Some(mine), Some(new)) = (at(ours, path), at(theirs, path))
            && mine != new
        {
            let key = path.join(".");
            return Err(ConflictKind::Foreign {
                what: format!("has `{key} = \"{mine}\"` and needs `\"{new}\"`: {why}"),
                help: Some(set(path, &new)),
            });
        }
    }
    Ok(())
}

/// What makes one package of the two: a project's name that gives it the name it has, or the project's name for it.
fn same_package(mine: &str, new: &str) -> String {
    let named = ProjectName::parse(mine).is_ok_and(|name| rust::package_name(&name) == mine);
    match named {
        true => format!("--project-name {mine}"),
        false => set(&["package", "name"], new),
    }
}

/// A command that sets a key of a table in `Cargo.toml`, where it stands in a line of its own.
fn set(path: &[&str], value: &str) -> String {
    let (table, key) = (path[0], path[1]);
    format!("sed -i.bak '/^\\[{table}]/,/^{key} *=/ s/^{key} *=.*/{key} = \"{value}\"/' Cargo.toml")
}

/// The keys that both manifests have, with other values: those of the user are kept.
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
        // A version of one's own is no disagreement, and arrays are joined.
        match (mine.as_table_like(), new.as_table_like()) {
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
                          [dependencies]\nserde.workspace = true\nkube.workspace = true\n";

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
        assert!(refused("[package]\nname = \"demo\"\nedition = \"2021\"\n").contains("\"2024\""));
    }

    #[test]
    fn a_package_is_named_by_the_flag_or_in_the_manifest() {
        assert_eq!(same_package("mine", "demo"), "--project-name mine");
        for (mine, new) in [
            ("my_op", "my-op"),
            ("MyOp", "my-op"),
            ("manager", "manager-operator"),
            ("3scale", "operator-3scale"),
        ] {
            let line = same_package(mine, new);
            assert!(
                line.ends_with(&format!("name = \"{new}\"/' Cargo.toml")),
                "{line}"
            );
        }
    }

    #[test]
    fn keys_of_the_user_are_told_where_they_differ() {
        let ours = "[package]\nname = \"demo\"\nversion = \"2.0.0\"\n\n[dependencies]\nserde = \"1\"\nrand = \"0.9\"\n";
        assert_eq!(differing_keys(ours, THEIRS), ["dependencies.serde"]);
        assert_eq!(differing_keys("", THEIRS), [""; 0]);
        let ours = "[dependencies]\nserde.workspace = true\nkube = { git = \"https://x/y\" }\n";
        assert_eq!(differing_keys(ours, THEIRS), ["dependencies.kube"]);
    }
}
