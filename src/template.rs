//! The embedded templates: from a [`Project`] to the desired tree.
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

use self::{
    catalogue::{Scope, Template},
    context::SpokeContext,
    subject::Subject,
};
use crate::{
    advice::Script,
    error::{Failure, Result},
    project::{self, ApiView, CreateApi, CreateWebhook, Key, Project, Target},
    syntax::Conversion,
    tree::{File, Owner, RelPath, Tree},
};

/// The number of the template set in this binary.
pub const SET: u32 = project::TEMPLATES;

/// The kube release that generated projects use.
pub const KUBE: &str = "5.0.0";

/// The desired tree: every file of the project except `PROJECT` and the memory.
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

/// Parses the templates, for a thread that has nothing else to do.
pub fn prepare() {
    render::prepare();
}

/// The paths of the desired tree.
pub fn paths(project: &Project) -> Result<BTreeSet<RelPath>> {
    files(project, |_, _| true)
}

/// The paths of the desired tree and their owners.
pub fn owners(project: &Project) -> Result<BTreeMap<RelPath, Owner>> {
    let owner =
        |(template, path): (&Template, RelPath)| match project.settings.owned.contains(&path) {
            true => (path, Owner::User),
            false => (path, template.owner),
        };
    let made = made(project, |_, _| true)?.into_iter();
    Ok(made.map(owner).collect())
}

/// The User files of a `create api`: its types with their sample, and its controller with its test.
pub fn files_of(project: &Project, create: &CreateApi) -> Result<BTreeSet<RelPath>> {
    let Some(key) = create.key_in(project) else {
        return Ok(BTreeSet::new());
    };
    let group = create.group_module(project).ident;
    let module = create.controller_module().ident;
    let of_kind = project.of_kind(&key.group, &key.kind);
    files(&of_kind, |_, subject| match subject {
        Subject::Api(api) => create.resource && api.names.key.version == create.version,
        Subject::Controller(it) => {
            create.controller && (&it.names.group_module, &it.names.module) == (&group, &module)
        }
        _ => false,
    })
}

/// The User files of a `create webhook`, with their tests.
pub fn files_of_webhook(
    project: &Project,
    create: &CreateWebhook,
    target: &Target,
) -> Result<BTreeSet<RelPath>> {
    let of_kind = project.of_kind(&target.key.group, &target.key.kind);
    files(&of_kind, |scope, subject| match subject {
        Subject::Webhook(webhook) => {
            let is_wanted = match scope {
                Scope::Default => create.defaulting,
                _ => create.validation,
            };
            is_wanted && webhook.names.key == target.key
        }
        Subject::Spoke(spoke) => target.spokes.contains(&spoke.names.key.version),
        _ => false,
    })
}

/// The conversion between a version and its hub, one of which is a copy of the other with these fields; `None` if `spoke` is not
/// converted.
pub fn conversion(
    project: &Project,
    spoke: &Key,
    fields: Conversion,
) -> Result<Option<(RelPath, File)>> {
    let context = context::context(&project.of_kind(&spoke.group, &spoke.kind));
    let Some(spoke) = context.spokes().find(|it| it.names.key == *spoke) else {
        return Ok(None);
    };
    let spoke = SpokeContext {
        fields,
        ..spoke.clone()
    };
    let is_source = |it: &&Template| it.target.starts_with("src/");
    let Some(template) = catalogue::of(Scope::Convert).find(is_source) else {
        return Ok(None);
    };
    let every = subject::seen_by_every(&context);
    let entry = Subject::Spoke(&spoke).entry(&context, &every)?;
    render::one(template, &entry, &context.project.package).map(Some)
}

/// The User files of an API that the project defines: its sample and its Rust types, in this order.
pub fn files_of_api(project: &Project, key: &Key) -> Result<BTreeSet<RelPath>> {
    let of_kind = project.of_kind(&key.group, &key.kind);
    files(
        &of_kind,
        |_, subject| matches!(subject, Subject::Api(api) if api.names.key == *key),
    )
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
    let views = project.apis().into_iter().map(|view| (view.key, view));
    let views: BTreeMap<_, _> = views.collect();
    let mut types = BTreeMap::new();
    for api in context.apis() {
        let paths = Subject::Api(api).paths(Scope::Api)?.into_iter();
        let of_types = paths.filter(|(template, _)| template.target.ends_with(".rs"));
        let view = views.get(&api.names.key);
        types.extend(of_types.filter_map(|(_, path)| Some((path, *view?))));
    }
    Ok(types)
}

/// The paths of the subjects that are wanted.
fn files(
    project: &Project,
    wanted: impl Fn(Scope, Subject<'_>) -> bool,
) -> Result<BTreeSet<RelPath>> {
    let made = made(project, wanted)?.into_iter();
    Ok(made.map(|(_, path)| path).collect())
}

/// The paths of the subjects that are wanted, each with its template. A path depends on its own entry alone, so the entries of one
/// kind are enough to find its paths.
fn made(
    project: &Project,
    wanted: impl Fn(Scope, Subject<'_>) -> bool,
) -> Result<Vec<(&'static Template, RelPath)>> {
    let context = context::context(project);
    let mut made = Vec::new();
    for (scope, subject) in subject::all(&context) {
        if wanted(scope, subject) {
            made.extend(subject.paths(scope)?);
        }
    }
    Ok(made)
}
