//! The User files of one kind, by what they are for: so those of a kind that was renamed are found again.

use std::collections::BTreeMap;

use super::{catalogue, context, subject, subject::Subject};
use crate::{
    error::Result,
    name::{Domain, Group, Kind, rust::Module},
    project::Project,
    tree::{Owner, RelPath},
};

/// What a file is for: its template, and the version or the controller.
type Use = (&'static str, String);

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
    let templates = catalogue::all().iter();
    for template in templates.filter(|template| template.owner == Owner::User) {
        for subject in subject::all(template.scope, &context) {
            let (of_group, of_kind, what) = match subject {
                Subject::Api(api) => (&api.group_module, &api.kind, &api.version),
                Subject::Webhook(webhook) => {
                    (&webhook.group_module, &webhook.kind, &webhook.version)
                }
                Subject::Spoke(spoke) => (&spoke.group_module, &spoke.kind, &spoke.version),
                Subject::Controller(it) if it.default => (&it.group_module, &it.kind, &it.version),
                Subject::Controller(it) => (&it.group_module, &it.kind, &it.name),
                Subject::Project | Subject::Kind(_) => continue,
            };
            if *of_group == module.ident
                && of_kind == kind.as_str()
                && let Some(path) = subject.path(template)?
            {
                files.insert((template.name, what.clone()), path);
            }
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tree;
    use crate::{project::laws::projects, tree::Owner};

    proptest! {
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
