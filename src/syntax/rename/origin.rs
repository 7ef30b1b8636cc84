//! Where a path in a user's source leads: into the project, or into another crate that has a type of the same name.

use std::collections::BTreeMap;

use proc_macro2::Ident;
use syn::{Item, UseTree};

/// The first words of paths within the project, beside its library; the last three are modules of that.
const OWN: [&str; 6] = ["crate", "self", "super", "api", "controllers", "webhooks"];

/// The names that a file declares or imports, and whether each is of the project.
pub struct Origins(BTreeMap<String, bool>);

impl Origins {
    /// The names in a whole file of the project with this library.
    pub fn of(file: &syn::File, library: &str) -> Self {
        let mut names = BTreeMap::from([(library.to_owned(), true)]);
        let items = items(&file.items);
        // A module that is declared below an import from it counts there, too.
        for item in &items {
            if let Item::Mod(module) = item {
                names.insert(module.ident.to_string(), true);
            }
        }
        for item in items {
            for (first, name) in imported(item) {
                let first = first.to_string();
                let is_own = OWN.contains(&&*first) || names.get(&first).copied().unwrap_or(false);
                // A name that means both, in two modules of the file, counts as the project's.
                *names.entry(name.to_string()).or_default() |= is_own;
            }
        }
        Self(names)
    }

    /// Whether the `path` before a name leads into the project. Without a path, the name itself counts.
    pub fn is_own(&self, path: &[String], name: &str) -> bool {
        let Some(first) = path.first() else {
            return self.0.get(name).copied().unwrap_or(true);
        };
        if OWN.contains(&first.as_str()) {
            return true;
        }
        // An unknown module is a crate, or comes from a glob, where the compiler will complain; an unknown type is of this file.
        let is_type = first.starts_with(char::is_uppercase);
        self.0.get(first).copied().unwrap_or(is_type)
    }
}

/// The types that a file itself declares or imports. No other type may get one of their names.
pub fn own_names(file: &syn::File) -> impl Iterator<Item = &Ident> {
    file.items.iter().flat_map(|item| match item {
        Item::Struct(item) => vec![&item.ident],
        Item::Enum(item) => vec![&item.ident],
        Item::Union(item) => vec![&item.ident],
        Item::Type(item) => vec![&item.ident],
        Item::Trait(item) => vec![&item.ident],
        item => imported(item).into_iter().map(|(_, name)| name).collect(),
    })
}

/// The items of a file, also those in its modules.
fn items(items: &[Item]) -> Vec<&Item> {
    let mut all = Vec::new();
    for item in items {
        all.push(item);
        if let Item::Mod(module) = item
            && let Some((_, inner)) = &module.content
        {
            all.extend(self::items(inner));
        }
    }
    all
}

/// The names that a `use` brings, each with the first word of its path.
fn imported(item: &Item) -> Vec<(&Ident, &Ident)> {
    fn below<'a>(tree: &'a UseTree, first: Option<&'a Ident>) -> Vec<(&'a Ident, &'a Ident)> {
        match tree {
            UseTree::Path(path) => below(&path.tree, first.or(Some(&path.ident))),
            UseTree::Name(name) => vec![(first.unwrap_or(&name.ident), &name.ident)],
            UseTree::Rename(rename) => vec![(first.unwrap_or(&rename.ident), &rename.rename)],
            UseTree::Glob(_) => Vec::new(),
            UseTree::Group(group) => {
                let trees = group.items.iter();
                trees.flat_map(|tree| below(tree, first)).collect()
            }
        }
    }
    match item {
        Item::Use(import) => below(&import.tree, None),
        _ => Vec::new(),
    }
}
