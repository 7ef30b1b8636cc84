//! Where a path in a user's source leads: into the project, or into another crate that has a type of the same name.

use std::collections::BTreeMap;

use proc_macro2::Ident;
use syn::{Item, UseTree};

/// What paths within the project begin with, beside its library; the last three are modules of that.
const OWN: [&str; 6] = ["crate", "self", "super", "api", "controllers", "webhooks"];

/// The names that a file declares or imports, and whether one of them is of the project.
#[derive(Debug, Default)]
pub struct Origins {
    names: BTreeMap<String, bool>,
}

impl Origins {
    /// Those of a whole file of the project with this library.
    pub fn of(file: &syn::File, library: &str) -> Self {
        let mut origins = Self::default();
        origins.names.insert(library.to_owned(), true);
        // A module that is declared below what imports from it counts there, too.
        origins.modules(&file.items);
        origins.imports(&file.items);
        origins
    }

    /// Whether what `path` says before a name leads into the project. Without a path it is the name itself that counts.
    pub fn is_own(&self, path: &[String], name: &str) -> bool {
        let Some(first) = path.first() else {
            return self.names.get(name).copied().unwrap_or(true);
        };
        if OWN.contains(&first.as_str()) {
            return true;
        }
        // An unknown module is a crate, or comes by a glob, which the compiler will tell; an unknown type is of this file.
        let unknown = first.starts_with(|c: char| c.is_uppercase());
        self.names.get(first).copied().unwrap_or(unknown)
    }

    fn modules(&mut self, items: &[Item]) {
        for item in items {
            if let Item::Mod(module) = item {
                self.names.insert(module.ident.to_string(), true);
                if let Some((_, inner)) = &module.content {
                    self.modules(inner);
                }
            }
        }
    }

    fn imports(&mut self, items: &[Item]) {
        for item in items {
            match item {
                Item::Use(import) => self.import(&import.tree, None),
                Item::Mod(module) => {
                    let inner = module.content.as_ref();
                    self.imports(inner.map_or(&[], |(_, items)| items));
                }
                _ => {}
            }
        }
    }

    /// `own`: whether what stands before the tree is of the project; `None` at its root.
    fn import(&mut self, tree: &UseTree, own: Option<bool>) {
        let at = |origins: &Self, name: &str| own.unwrap_or_else(|| origins.is_root(name));
        match tree {
            UseTree::Path(path) => {
                let own = at(self, &path.ident.to_string());
                self.import(&path.tree, Some(own));
            }
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.import(tree, own);
                }
            }
            UseTree::Glob(_) => {}
            UseTree::Name(name) => {
                let name = name.ident.to_string();
                let own = at(self, &name);
                self.insert(name, own);
            }
            UseTree::Rename(rename) => {
                let own = at(self, &rename.ident.to_string());
                self.insert(rename.rename.to_string(), own);
            }
        }
    }

    fn is_root(&self, name: &str) -> bool {
        OWN.contains(&name) || self.names.get(name).copied().unwrap_or(false)
    }

    /// A name that means both, in two modules of the file, counts as the project's.
    fn insert(&mut self, name: String, own: bool) {
        *self.names.entry(name).or_default() |= own;
    }
}

/// The types that a file itself declares or imports, which no other may be called as.
pub fn own_names(file: &syn::File) -> impl Iterator<Item = &Ident> {
    file.items.iter().flat_map(|item| match item {
        Item::Struct(item) => vec![&item.ident],
        Item::Enum(item) => vec![&item.ident],
        Item::Union(item) => vec![&item.ident],
        Item::Type(item) => vec![&item.ident],
        Item::Trait(item) => vec![&item.ident],
        Item::Use(import) => imported(&import.tree),
        _ => Vec::new(),
    })
}

fn imported(tree: &UseTree) -> Vec<&Ident> {
    match tree {
        UseTree::Path(path) => imported(&path.tree),
        UseTree::Name(name) => vec![&name.ident],
        UseTree::Rename(rename) => vec![&rename.rename],
        UseTree::Glob(_) => Vec::new(),
        UseTree::Group(group) => group.items.iter().flat_map(imported).collect(),
    }
}
