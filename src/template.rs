//! The embedded templates: from a [`Project`] to the desired tree.
//!
//! Invariant: the tree is a pure function of the project, and nothing is read from the disk.

pub mod catalogue;
pub mod context;
mod filter;
pub mod kind_files;
mod lockfile;
pub mod render;
pub mod sets;
#[cfg(test)]
mod vendored;

use std::collections::{BTreeMap, BTreeSet};

pub use self::context::former::{Former, Part};
use self::{
    catalogue::{Scope, Template},
    context::Subject,
};
use serde_json::json;

pub use self::render::prepare;
use crate::{
    advice::Script,
    error::{Failure, Result},
    memory,
    name::Version,
    project::{self, ApiView, CreateApi, Key, Project, Target},
    syntax::Conversion,
    tree::{Content, File, Owner, RelPath, Tree},
};

/// The number of the template set in this binary.
pub const SET: u32 = project::TEMPLATES;

/// The kube version of generated projects.
pub const KUBE: &str = "5.0.0";

/// The desired tree: every file of the project except `PROJECT` and the memory.
///
/// # Errors
/// An entry's types are generated from a CRD that the project was not given.
pub fn tree(project: &Project) -> Result<Tree> {
    for (key, source) in project.sources() {
        if source.definition.is_none() {
            let path = memory::definition_path(&source.name, key.version)?;
            return Err(memory::no_definition(&path, key));
        }
    }
    let mut tree = render::render(&context::context(project))?;
    for path in &project.settings.owned {
        if let Some(file) = tree.get_mut(path) {
            file.owner = Owner::User;
            file.named |= path.extension() == "rs";
        }
    }
    Ok(tree)
}

/// The paths of the desired tree.
pub fn paths(project: &Project) -> Result<BTreeSet<RelPath>> {
    Ok(owners(project)?.into_keys().collect())
}

/// The paths of the desired tree and their owners.
pub fn owners(project: &Project) -> Result<BTreeMap<RelPath, Owner>> {
    let owner = |(template, _, path): (&Template, _, RelPath)| {
        let owner = match project.settings.owned.contains(&path) {
            true => Owner::User,
            false => template.owner,
        };
        (path, owner)
    };
    let context = context::context(project);
    let paths = render::paths(&context, |_| true)?.into_iter();
    Ok(paths.map(owner).collect())
}

/// The User files of a `create api`: the types at `key` with their sample, and the controller with its test.
pub fn files_of(project: &Project, key: &Key, create: &CreateApi) -> Result<BTreeSet<RelPath>> {
    let module = create.controller_module().ident;
    of_subjects(project, key, |Subject { scope, names, .. }| match *scope {
        scope if scope.is_api() => create.resource && names.key == *key,
        scope if scope.is_controller() => {
            create.controller && names.key == *key && names.module == module
        }
        _ => false,
    })
}

/// The User files of a `create webhook`, with their tests.
pub fn files_of_webhook(project: &Project, target: &Target) -> Result<BTreeSet<RelPath>> {
    of_subjects(
        project,
        &target.key,
        |Subject { scope, names, .. }| match scope {
            Scope::Default => target.defaulting && names.key == target.key,
            Scope::Validate => target.validation && names.key == target.key,
            Scope::Convert => target.spokes.contains(&names.key.version),
            _ => false,
        },
    )
}

/// The conversion between a version and its hub where one is a copy of the other with these fields; `None` if `spoke` has no
/// conversion.
pub fn conversion(
    project: &Project,
    spoke: &Key,
    fields: Conversion,
) -> Result<Option<(RelPath, File)>> {
    let context = context::context(&project.of_kind(&spoke.group, &spoke.kind));
    let mut subjects = context.subjects.iter();
    let subject = subjects.find(|it| it.scope == Scope::Convert && it.names.key == *spoke);
    let is_source = |it: &&Template| it.target.starts_with("src/");
    let template = catalogue::of(Scope::Convert).find(is_source);
    let (Some(mut subject), Some(template)) = (subject.cloned(), template) else {
        return Ok(None);
    };
    subject.value["fields"] = json!(fields);
    render::one(&context, template, &subject).map(Some)
}

/// The files of a kind with a chart, role or playbook whose text depends on what `former`, the operator before this one, did with its objects.
pub fn taken_over(
    project: &Project,
    key: &Key,
    former: &Former,
) -> Result<Vec<(RelPath, Content)>> {
    let context = context::context(&project.of_kind(&key.group, &key.kind));
    let mut changed = Vec::new();
    let is_release = |it: &&Subject| it.scope.has_recipe() && it.names.key == *key;
    for subject in context.subjects.iter().filter(is_release) {
        let of_former = context::former::taken_over(subject, former);
        for template in catalogue::of(subject.scope) {
            let (path, usual) = render::one(&context, template, subject)?;
            let (_, file) = render::one(&context, template, &of_former)?;
            if file.content != usual.content {
                changed.push((path, file.content));
            }
        }
    }
    Ok(changed)
}

/// The conversion between a version and its hub, as it is generated; `None` where no field is known.
pub fn generated_conversion(project: &Project, hub: &Key, spoke: Version) -> Option<Conversion> {
    let apis = project.apis();
    let of = |version| {
        let is = |it: &&ApiView<'_>| it.key.is_same_kind(hub) && it.key.version == version;
        apis.iter().find(is)
    };
    context::generated(of(spoke)?, of(hub.version)?, "hub")
}

/// The User files of an API that the project defines: its sample and its Rust types, in this order.
pub fn files_of_api(project: &Project, key: &Key) -> Result<BTreeSet<RelPath>> {
    of_subjects(project, key, |it| it.scope.is_api() && it.names.key == *key)
}

/// The file with the Rust types of an API that the project defines.
pub fn types_of(project: &Project, key: &Key) -> Result<RelPath> {
    let mut files = files_of_api(project, key)?.into_iter();
    let types = files.find(|path| path.extension() == "rs");
    types.ok_or_else(|| {
        let failure = Failure::refused(format!("`{key}` has no types"));
        failure.advise(Script::forge("sync"))
    })
}

/// The files with the Rust types of all APIs that the project defines.
pub fn all_types(project: &Project) -> Result<BTreeMap<RelPath, ApiView<'_>>> {
    let context = context::context(project);
    let views: BTreeMap<_, _> = project.apis().into_iter().map(|it| (it.key, it)).collect();
    let is_api = |subject: Option<&Subject>| subject.is_some_and(|it| it.scope.is_api());
    let files = render::paths(&context, is_api)?.into_iter();
    let types = files.filter(|(.., path)| path.extension() == "rs");
    let types = types.filter_map(|(_, subject, path)| {
        let view = views.get(&subject?.names.key)?;
        Some((path, *view))
    });
    Ok(types.collect())
}

/// The User files of a kind whose generated text changes, with the text before and after.
pub fn changed(
    before: &Project,
    after: &Project,
    kind: &Key,
) -> Result<BTreeMap<RelPath, (Content, Content)>> {
    let mut changed = BTreeMap::new();
    let mut new = tree(&after.of_kind(&kind.group, &kind.kind))?;
    for (path, old) in tree(&before.of_kind(&kind.group, &kind.kind))? {
        if let Some(new) = new.remove(&path)
            && old.owner == Owner::User
            && old.content != new.content
        {
            changed.insert(path, (old.content, new.content));
        }
    }
    Ok(changed)
}

/// The paths of the wanted subjects of a kind. A path depends only on its own entry, so a project with a single kind has the right
/// paths of that kind.
fn of_subjects(
    project: &Project,
    kind: &Key,
    wanted: impl Fn(&Subject) -> bool,
) -> Result<BTreeSet<RelPath>> {
    let context = context::context(&project.of_kind(&kind.group, &kind.kind));
    let paths = render::paths(&context, |subject| subject.is_some_and(&wanted))?;
    Ok(paths.into_iter().map(|(.., path)| path).collect())
}

#[cfg(test)]
mod tests {
    use crate::project::testing::{create, empty};

    /// Paths are in lower case, so no two differ only by case; and no name is a Windows device.
    #[test]
    fn names_in_paths_work_on_every_system() {
        let created = [
            "cache v1 Nul",
            "cache v1 COM1",
            "cache v1 HTTPRoute",
            "cache v1 Con name=aux",
            "con-tainer v1 Prn",
            "-- v1 Lpt9",
        ];
        let mut project = empty("example.com", false);
        for command in created {
            project = project.create_api(&create(command)).unwrap();
        }
        let tree = super::tree(&project).unwrap();
        let api = |path: &&str| path.starts_with("src/api/") || path.contains("controllers/");
        let paths: Vec<&str> = tree.keys().map(|path| path.as_str()).collect();
        let of_names: Vec<&str> = paths.iter().copied().filter(|path| api(path)).collect();
        assert!(
            of_names.contains(&"src/api/cache/v1/nul_.rs"),
            "{of_names:?}"
        );
        assert!(
            of_names.contains(&"src/controllers/cache/aux_.rs"),
            "{of_names:?}"
        );
        for path in of_names {
            assert_eq!(path, path.to_ascii_lowercase());
        }
        let mut folded: Vec<String> = paths.iter().map(|path| path.to_ascii_lowercase()).collect();
        folded.sort();
        folded.dedup();
        assert_eq!(folded.len(), paths.len());
    }
}
