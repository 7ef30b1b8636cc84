//! The files of one kind, by what they are for: so those of a kind that was renamed are found again.

use std::collections::BTreeMap;

use super::{context, subject, subject::Subject};
use crate::{
    error::Result,
    name::{Domain, Group, Kind, rust::Module},
    project::Project,
    tree::RelPath,
};

/// What a file is for: its template, and the version or the controller.
pub type Use = (&'static str, String);

/// The files of that kind.
pub fn of_kind(
    project: &Project,
    group: &Group,
    domain: &Domain,
    kind: &Kind,
) -> Result<BTreeMap<Use, RelPath>> {
    let module = Module::of_group(group, domain);
    let context = context::context(&project.of_kind(group, kind));
    let mut files = BTreeMap::new();
    for (scope, subject) in subject::all(&context) {
        let (of_group, of_kind, what) = match subject {
            Subject::Api(api) => (&api.group_module, &api.kind, &api.version),
            Subject::Webhook(webhook) => (&webhook.group_module, &webhook.kind, &webhook.version),
            Subject::Spoke(spoke) => (&spoke.group_module, &spoke.kind, &spoke.version),
            Subject::Controller(it) if it.default => (&it.group_module, &it.kind, &it.version),
            Subject::Controller(it) => (&it.group_module, &it.kind, &it.name),
            Subject::Project => continue,
        };
        if *of_group != module.ident || of_kind != kind.as_str() {
            continue;
        }
        let of_kind = subject.paths(scope)?.into_iter();
        files.extend(of_kind.map(|(template, path)| ((template.name, what.clone()), path)));
    }
    Ok(files)
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

        /// What two projects do not both ask for is made of the entries in which they differ.
        #[test]
        fn paths_of_one_alone_depend_on_what_differs(a in projects(), b in projects(), at in any::<usize>()) {
            // Mostly alike: one entry less, or other settings.
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

        /// What the user owns of a kind is made of its own entries, so commands render it without the rest.
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
