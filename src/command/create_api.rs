//! `create api`: a custom resource, a controller, or both.

use std::collections::BTreeSet;

use super::{
    create_version, external,
    type_of::{flags_of, type_of},
};
use crate::{
    advice::{NextStep, Script},
    cli::{Api, Global, TypeFlags},
    engine::{Request, Workspace, reconcile, refuse_keep},
    error::Result,
    project::{CreateApi, Key, Project},
    prompt::Prompt,
    report::Report,
    template,
    tree::RelPath,
};

pub fn run(flags: &Global, api: &Api, report: &Report) -> Result<u8> {
    let remarks = api.foreign.answer()?;
    if api.force {
        refuse_keep(flags, "--force")?;
    }
    let (workspace, before) = Workspace::open(&flags.directory)?;
    let request = request(&before, api, Prompt::new(report, !flags.no_input))?;
    if let Some(from) = &api.from_version {
        return create_version::run(
            flags,
            (&workspace, &before),
            (&request, from),
            remarks,
            report,
        );
    }
    let project = before.create_api(&request)?;
    let files = template::files_of(&project, &request)?;
    let mut next = match request.key_in(&project) {
        Some(key) => external::next(&project, &key, request.external.as_ref()),
        None => Vec::new(),
    };
    next.extend(todo(&files, &request, conversion(&before, &request)));
    let forced = if api.force { files } else { BTreeSet::new() };
    let request = Request {
        forced,
        remarks,
        next,
        ..Request::of("create api", project)
    };
    reconcile(&workspace, &request, flags, report)
}

fn request(project: &Project, api: &Api, prompt: Prompt<'_>) -> Result<CreateApi> {
    let of = type_of(project, &api.of, prompt, true)?;
    // Whoever named the type has said what is wanted: a line that is pasted asks nothing.
    let TypeFlags {
        group,
        version,
        kind,
    } = &api.of;
    let is_named = [group, version, kind].into_iter().all(Option::is_some);
    let yes = |flag, question, given: Option<bool>, default| match is_named {
        true => Ok(given.unwrap_or(default)),
        false => prompt.yes(flag, question, given, default),
    };
    let plural = api.plural.as_deref().map(str::parse).transpose()?;
    let controller_name = api.controller_name.as_deref().map(str::parse).transpose()?;
    let short_names = api
        .short_name
        .iter()
        .map(|text| text.parse())
        .collect::<Result<Vec<_>, _>>()?;
    let external = external::external(&api.external)?;
    // Whoever names a type of another project has said that it is not defined here.
    let resource = api.resource.or(external.is_some().then_some(false));
    let resource = yes("--resource", "Define the type?", resource, true)?;
    // The controller of a kind stays with the version that it watches.
    let add = api.from_version.is_none();
    let controller = yes("--controller", "Add a controller?", api.controller, add)?;
    Ok(CreateApi {
        group: of.group,
        version: of.version,
        kind: of.kind,
        plural,
        namespaced: api.namespaced,
        resource,
        external,
        controller,
        controller_name,
        finalizer: api.finalizer,
        short_names,
        force: api.force,
    })
}

/// What a new version of a kind that is converted needs: until then it can be neither read nor written.
fn conversion(before: &Project, request: &CreateApi) -> Option<NextStep> {
    let key = request.key_in(before).filter(|_| request.resource)?;
    if before.apis().iter().any(|api| *api.key == key) {
        return None;
    }
    let hub = before.hub_of(&key)?;
    let (kind, version) = (&request.kind, request.version);
    let hub_key = Key {
        version: hub,
        ..key
    };
    Some(NextStep::new(
        format!("convert it to {hub}, the hub of {kind}, and back:"),
        Script::forge("create webhook")
            .flags(&flags_of(&hub_key))
            .code("--conversion --spoke")
            .arg(version.to_string()),
    ))
}

fn todo(
    files: &BTreeSet<RelPath>,
    request: &CreateApi,
    conversion: Option<NextStep>,
) -> Vec<NextStep> {
    let mut next = Vec::new();
    let first = |start: &str| files.iter().find(|path| path.as_str().starts_with(start));
    if let Some(path) = first("src/api/") {
        next.push(NextStep::by_hand(format!(
            "say what {} is, in {path}",
            request.kind.as_str()
        )));
    }
    if let Some(path) = first("src/controllers/") {
        next.push(NextStep::by_hand(format!(
            "say what to do about it, in {path}"
        )));
    }
    next.extend(conversion);
    next.push(NextStep::new(
        "derive CRDs and RBAC, then test:",
        Script::of("make manifests && make test"),
    ));
    next
}
