//! The embedded templates, and from a [`Project`] to the desired tree.
//!
//! Invariant: the tree is a pure function of the project; nothing is read from the disk.

pub mod catalogue;
pub mod context;
mod filter;
pub mod kind_files;
mod lockfile;
pub mod render;
pub mod sets;
mod subject;
#[cfg(test)]
mod vendored;

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use self::{
    catalogue::{Scope, Template},
    context::{Context, SpokeContext},
    subject::Subject,
};
use crate::{
    error::{Failure, Result},
    name::{Version, rust::Module},
    project::{self, ApiView, CreateApi, CreateWebhook, Key, Project, Target},
    syntax::Conversion,
    tree::{File, Owner, RelPath, Tree},
};

/// The number of the template set in this binary.
pub const SET: u32 = project::TEMPLATES;

/// The kube release that generated projects are made for.
pub const KUBE: &str = "5.0.0";

/// Everything that the project should consist of, except `PROJECT` and the memory.
pub fn tree(project: &Project) -> Result<Tree> {
    let context = context::context(project);
    let every = subject::seen_by_every(&context);
    let mut tree = render::render(
        subject::all(&context),
        |subject| subject.entry(&context, &every),
        &context.project.package,
    )?;
    for path in &project.settings.owned {
        if let Some(file) = tree.get_mut(path) {
            file.owner = Owner::User;
            file.named |= path.extension() == "rs";
        }
    }
    Ok(tree)
}

/// Gets ready for [`tree`], for a thread that has nothing else to do.
pub fn prepare() {
    render::prepare();
}

/// The paths of all of it.
pub fn paths(project: &Project) -> Result<BTreeSet<RelPath>> {
    files(project, |_, _| true)
}

/// The same paths, and whose each is.
pub fn owners(project: &Project) -> Result<BTreeMap<RelPath, Owner>> {
    let owner =
        |(template, path): (&Template, RelPath)| match project.settings.owned.contains(&path) {
            true => (path, Owner::User),
            false => (path, template.owner),
        };
    let made = made(project, |_, _| true)?.into_iter();
    Ok(made.map(owner).collect())
}

/// The User files that a `create api` is about: its types with their sample, and its controller with its test.
pub fn files_of(project: &Project, create: &CreateApi) -> Result<BTreeSet<RelPath>> {
    let group = create.group_module(project);
    let module = create.controller_module();
    let of_kind = match create.key_in(project) {
        Some(key) => project.of_kind(&key.group, &key.kind),
        None => return Ok(BTreeSet::new()),
    };
    files(&of_kind, |_, subject| match subject {
        Subject::Api(api) => {
            create.resource
                && api.group == create.group.as_str()
                && api.kind == create.kind.as_str()
                && api.version == create.version.to_string()
        }
        Subject::Controller(controller) => {
            create.controller
                && controller.file == module.file()
                && controller.group_module == group.ident
        }
        _ => false,
    })
}

/// The User files that a `create webhook` is about, with their tests.
pub fn files_of_webhook(
    project: &Project,
    create: &CreateWebhook,
    target: &Target,
) -> Result<BTreeSet<RelPath>> {
    let group = Module::of_group(&target.key.group, &target.key.domain);
    let is = |module: &str, kind: &str, version: &str, wanted: Version| {
        module == group.ident && kind == target.key.kind.as_str() && version == wanted.to_string()
    };
    let of_kind = project.of_kind(&target.key.group, &target.key.kind);
    files(&of_kind, |scope, subject| match subject {
        Subject::Webhook(webhook) => {
            let asked = match scope {
                Scope::Default => create.defaulting,
                _ => create.validation,
            };
            let version = target.key.version;
            asked
                && is(
                    &webhook.group_module,
                    &webhook.kind,
                    &webhook.version,
                    version,
                )
        }
        Subject::Spoke(spoke) => target
            .spokes
            .iter()
            .any(|version| is(&spoke.group_module, &spoke.kind, &spoke.version, *version)),
        _ => false,
    })
}

/// The conversion of a version that is a copy of its hub, or the hub of it, with these fields; `None` if it is not converted.
pub fn conversion(
    project: &Project,
    spoke: &Key,
    fields: Conversion,
) -> Result<Option<(RelPath, File)>> {
    let context = context::context(&project.of_kind(&spoke.group, &spoke.kind));
    let version = spoke.version.to_string();
    let Some(spoke) = context.spokes().find(|spoke| spoke.version == version) else {
        return Ok(None);
    };
    let spoke = SpokeContext {
        fields,
        ..spoke.clone()
    };
    let is_source = |it: &&Template| it.scope == Scope::Convert && it.target.starts_with("src/");
    let Some(template) = catalogue::all().iter().find(is_source) else {
        return Ok(None);
    };
    let every = subject::seen_by_every(&context);
    let entry = Subject::Spoke(&spoke).entry(&context, &every)?;
    render::one(template, &entry, &context.project.package).map(Some)
}

/// The User files of an API that the project defines: its sample and its Rust types, in this order.
pub fn files_of_api(project: &Project, key: &Key) -> Result<BTreeSet<RelPath>> {
    let version = key.version.to_string();
    files(&project.of_kind(&key.group, &key.kind), |_, subject| {
        matches!(subject, Subject::Api(api)
            if (&*api.group, &*api.version, &*api.kind) == (key.group.as_str(), &*version, key.kind.as_str()))
    })
}

/// The one of them with the Rust types.
pub fn types_of(project: &Project, key: &Key) -> Result<RelPath> {
    let mut files = files_of_api(project, key)?.into_iter();
    let types = files.find(|path| path.extension() == "rs");
    types.ok_or_else(|| {
        Failure::refused(format!("`{key}` has no types")).advise("operator-forge sync")
    })
}

/// The files with the Rust types of all APIs that the project defines.
pub fn all_types(project: &Project) -> Result<BTreeMap<RelPath, ApiView<'_>>> {
    let context = context::context(project);
    let key = |api: &ApiView<'_>| {
        let Key {
            group,
            version,
            kind,
            ..
        } = api.key;
        (group.to_string(), version.to_string(), kind.to_string())
    };
    let apis = project.apis().into_iter().map(|api| (key(&api), api));
    let apis: BTreeMap<_, ApiView<'_>> = apis.collect();
    let mut types = BTreeMap::new();
    for api in context.apis() {
        let key = (api.group.clone(), api.version.clone(), api.kind.clone());
        let Some(view) = apis.get(&key) else {
            continue;
        };
        let paths = Subject::Api(api).paths(Scope::Api)?.into_iter();
        let of_types = paths.filter(|(template, _)| template.target.ends_with(".rs"));
        types.extend(of_types.map(|(_, path)| (path, *view)));
    }
    Ok(types)
}

/// What is made for the subjects that are wanted.
fn files(
    project: &Project,
    wanted: impl Fn(Scope, Subject<'_>) -> bool + Sync,
) -> Result<BTreeSet<RelPath>> {
    let made = made(project, wanted)?.into_iter();
    Ok(made.map(|(_, path)| path).collect())
}

/// The same, with the templates that make it. A path depends on its own entry alone, so nobody has to see a whole project
/// for some of them.
fn made(
    project: &Project,
    wanted: impl Fn(Scope, Subject<'_>) -> bool + Sync,
) -> Result<Vec<(&'static Template, RelPath)>> {
    let context: Context = context::context(project);
    let subjects = subject::all(&context).into_par_iter();
    let subjects = subjects.filter(|(scope, subject)| wanted(*scope, *subject));
    let made: Vec<Result<_>> = subjects
        .map(|(scope, subject)| subject.paths(scope))
        .collect();
    let made: Result<Vec<_>> = made.into_iter().collect();
    Ok(made?.into_iter().flatten().collect())
}
