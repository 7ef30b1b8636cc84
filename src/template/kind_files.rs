//! The files of one kind, by purpose, so that `rename` finds the new path of each.

use std::collections::BTreeMap;

use super::{
    catalogue::Template,
    context::{self, Subject},
    render,
};
use crate::{
    error::Result,
    name::{Domain, Group, Kind, rust::Module},
    project::Project,
    tree::RelPath,
};

/// The purpose of a file: its template, and the version of the kind or the name of the controller.
pub type Use = (&'static str, String);

/// The files of a kind.
pub fn of_kind(
    project: &Project,
    group: &Group,
    domain: &Domain,
    kind: &Kind,
) -> Result<BTreeMap<Use, RelPath>> {
    let module = Module::of_group(group, domain).ident;
    let context = context::context(&project.of_kind(group, kind));
    let files = render::paths(&context, |subject| {
        subject.is_some_and(|subject| subject.names.group_module == module)
    })?;
    let purpose = |(template, subject, path): (&Template, Option<&Subject>, RelPath)| {
        let Subject { names, value, .. } = subject?;
        let is_named = value["default"] == false;
        let of = if is_named {
            &names.file
        } else {
            &names.version
        };
        Some(((template.name, of.clone()), path))
    };
    Ok(files.into_iter().filter_map(purpose).collect())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::super::{owners, paths, tree};
    use crate::{project::laws::projects, tree::Owner};

    proptest! {
        #[test]
        fn owners_are_known_without_rendering(project in projects()) {
            let rendered = tree(&project).unwrap().into_iter();
            let rendered: BTreeMap<_, _> = rendered.map(|(path, file)| (path, file.owner)).collect();
            prop_assert_eq!(owners(&project).unwrap(), rendered);
        }

        /// A path that only one of two projects has comes from the entries in which they differ.
        #[test]
        fn paths_of_one_project_alone_follow_from_the_difference(a in projects(), b in projects(), at in any::<usize>()) {
            // Similar projects: one entry less, or other settings.
            let mut keys = a.resources().map(|(key, _)| key);
            let less = keys.nth(at % 8).map(|key| a.unlike(&a.of_kind(&key.group, &key.kind)));
            for other in [Some(&b), less.as_ref()].into_iter().flatten() {
                for (one, other) in [(&a, other), (other, &a)] {
                    let (mut alone, rest) = (paths(one).unwrap(), paths(other).unwrap());
                    alone.retain(|path| !rest.contains(path));
                    let of_unlike = paths(&one.unlike(other)).unwrap();
                    prop_assert!(alone.is_subset(&of_unlike), "{:?}", alone.difference(&of_unlike));
                }
            }
        }

        /// The User files of a kind depend on its own entries alone, so commands render them without the rest.
        #[test]
        fn files_of_a_kind_depend_on_it_alone(project in projects()) {
            let whole = tree(&project).unwrap();
            for (key, _) in project.resources() {
                let alone = tree(&project.of_kind(&key.group, &key.kind)).unwrap();
                for (path, file) in alone.iter().filter(|(_, file)| file.owner == Owner::User) {
                    prop_assert_eq!(whole.get(path), Some(file), "{}", path);
                }
            }
        }
    }
}
