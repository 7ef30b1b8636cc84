//! The embedded templates, and from a [`Project`] to the desired tree.
//!
//! Invariant: the tree is a pure function of the project; nothing is read from the disk.

pub mod catalogue;
pub mod context;
mod filter;
mod lockfile;
pub mod render;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use tera::Context as TeraContext;

use self::{
    catalogue::Scope,
    context::{ApiContext, Context, ControllerContext, KindContext, ProjectContext},
    render::Entry,
};
use crate::{
    error::{Failure, Result},
    project::{self, CreateApi, Project},
    tree::{RelPath, Tree},
};

/// The number of the template set in this binary.
pub const SET: u32 = project::TEMPLATES;

/// The kube release that generated projects are made for.
pub const KUBE: &str = "5.0.0";

/// Everything that the project should consist of, except `PROJECT` and the memory.
pub fn tree(project: &Project) -> Result<Tree> {
    let context = context::context(project);
    render::render(
        &catalogue::all(),
        |scope| entries(scope, &context),
        &context.project.package,
    )
}

/// The User files that a `create api` is about: its types with their sample, and its controller with its test.
pub fn files_of(project: &Project, create: &CreateApi) -> Result<BTreeSet<RelPath>> {
    let context = context::context(project);
    let is_api = |api: &&ApiContext| {
        create.resource
            && api.group == create.group.as_str()
            && api.kind == create.kind.as_str()
            && api.version == create.version.to_string()
    };
    let file = create.controller_module();
    let group = create.group_module(project);
    let is_controller = |controller: &&ControllerContext| {
        create.controller
            && controller.file == file.file()
            && controller.group_module == group.ident
    };
    let mut paths = BTreeSet::new();
    for template in catalogue::all() {
        let variables: Vec<_> = match template.scope {
            Scope::Api => context.apis().filter(is_api).map(api_variables).collect(),
            Scope::Controller => context
                .controllers()
                .filter(is_controller)
                .map(controller_variables)
                .collect(),
            Scope::Project | Scope::Kind => continue,
        };
        for variables in variables {
            paths.insert(RelPath::parse(&render::fill(template.target, &variables))?);
        }
    }
    Ok(paths)
}

type Variables = BTreeMap<&'static str, String>;

fn api_variables(api: &ApiContext) -> Variables {
    [
        ("group", &api.group_file),
        ("version", &api.version),
        ("kind", &api.file),
    ]
    .map(|(name, value)| (name, value.clone()))
    .into()
}

fn kind_variables(kind: &KindContext) -> Variables {
    [("group", &kind.group_file), ("kind", &kind.file)]
        .map(|(name, value)| (name, value.clone()))
        .into()
}

fn controller_variables(controller: &ControllerContext) -> Variables {
    [
        ("group", &controller.group_file),
        ("name", &controller.file),
    ]
    .map(|(name, value)| (name, value.clone()))
    .into()
}

/// What a template of one API, kind or controller sees. It does not see the others, so it cannot depend on them.
#[derive(Serialize)]
struct Single<'a> {
    project: &'a ProjectContext,
    header: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    api: Option<&'a ApiContext>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'a KindContext>,
    #[serde(skip_serializing_if = "Option::is_none")]
    controller: Option<&'a ControllerContext>,
}

fn entries(scope: Scope, context: &Context) -> Result<Vec<Entry>> {
    let single = |variables, api, kind, controller| {
        let (project, header) = (&context.project, context.header.as_str());
        let context = serialize(&Single {
            project,
            header,
            api,
            kind,
            controller,
        })?;
        Ok(Entry { variables, context })
    };
    match scope {
        Scope::Project => Ok(vec![Entry {
            variables: Variables::new(),
            context: serialize(context)?,
        }]),
        Scope::Kind => context
            .kinds
            .iter()
            .map(|kind| single(kind_variables(kind), None, Some(kind), None))
            .collect(),
        Scope::Api => context
            .apis()
            .map(|api| single(api_variables(api), Some(api), None, None))
            .collect(),
        Scope::Controller => context
            .controllers()
            .map(|controller| {
                single(
                    controller_variables(controller),
                    None,
                    None,
                    Some(controller),
                )
            })
            .collect(),
    }
}

fn serialize(value: &impl Serialize) -> Result<TeraContext> {
    TeraContext::from_serialize(value)
        .map_err(|error| Failure::refused(format!("cannot serialize a context: {error}")))
}
