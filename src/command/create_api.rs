//! `create api`: a custom resource, a controller, or both.

use super::{create_ansible, create_chart, create_version, import_api};
use crate::{
    advice::NextStep,
    arguments::{fields, kind, type_of::type_of},
    cli::{Api, TypeFlags},
    engine::{Request, Workspace, next},
    error::Result,
    project::{CreateApi, Fields, Key, Project},
    prompt::Prompt,
    template,
};

pub fn run(workspace: &Workspace, api: &Api, prompt: Prompt<'_>) -> Result<Request> {
    api.scaffold.check()?;
    let remarks = api.foreign.remarks();
    if let Some(source) = &api.chart.helm_chart {
        return create_chart::run(workspace, api, source, remarks);
    }
    create_chart::refuse_options(workspace, api)?;
    if api.ansible.first().is_some() {
        return create_ansible::run(workspace, api, prompt, remarks);
    }
    if let Some(source) = &api.from_crd {
        return import_api::run(workspace, api, source, remarks);
    }
    import_api::refuse_external(api)?;
    let before = &workspace.project;
    let create = create(before, api, prompt)?;
    if let Some(from) = &api.from_version {
        return create_version::run(workspace, &create, from, remarks);
    }
    let project = before.create_api(&create)?;
    let key = create.key_in(&project)?;
    let files = template::files_of(&project, &key, &create)?;
    let mut steps = next::use_external(&project, &key, create.external.as_ref());
    let shared = match project.settings.shards {
        Some(_) => ", and add `.sharded(ShardKey::uid())` if the replicas share its objects",
        None => "",
    };
    for path in &files {
        steps.extend(match path.as_str().split_once('/') {
            Some(("src", rest)) if rest.starts_with("api/") => create
                .fields
                .is_empty()
                .then(|| NextStep::by_hand(format!("define the fields of {} in {path}", key.kind))),
            Some(("src", rest)) if rest.starts_with("controllers/") => Some(NextStep::by_hand(
                format!("write the reconcile function in {path}{shared}"),
            )),
            _ => None,
        });
    }
    steps.extend(conversion(before, &project, &key).filter(|_| create.resource));
    steps.push(next::manifests());
    Ok(Request {
        forced: if api.force { files } else { [].into() },
        remarks,
        next: steps,
        ..Request::of("create api", project)
    })
}

fn create(project: &Project, api: &Api, prompt: Prompt<'_>) -> Result<CreateApi> {
    let gvk = type_of(project, &api.of, prompt, true)?;
    // A command line that names the type asks nothing: it is often pasted.
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
    let name = api.controller_name.as_deref();
    let create = kind::of_flags(api, gvk)?;
    let given = api.resource.or(create.external.as_ref().map(|_| false));
    let resource = yes("--resource", "Define the type?", given, true)?;
    // The controller of a kind uses the hub, so a new version needs none of its own.
    let add = api.from_version.is_none();
    let mut fields = Fields {
        spec: fields::read("--field", &api.field)?,
        status: fields::read("--status-field", &api.status_field)?,
    };
    if !is_named && resource && fields.is_empty() && add {
        fields.spec = fields::ask(prompt)?;
    }
    let controller = yes("--controller", "Add a controller?", api.controller, add)?;
    Ok(CreateApi {
        resource,
        controller,
        controller_name: name.map(str::parse).transpose()?,
        finalizer: api.finalizer,
        image: api.image.parse()?,
        fields,
        ..create
    })
}

/// A new version needs a conversion, unless its types equal those of the other versions. Of a converted kind, it can be neither read
/// nor written without.
fn conversion(before: &Project, after: &Project, key: &Key) -> Option<NextStep> {
    if before.apis().iter().any(|api| api.key == key) {
        return None;
    }
    let kind = &key.kind;
    if let Some(hub) = before.hub_of(key) {
        let what = format!("convert it to {hub}, the hub of {kind}, and back:");
        return Some(next::convert(what, &key.in_version(hub), key.version));
    }
    let (old, new) = (before.storage_of(key)?, after.storage_of(key)?);
    let spoke = if new == key.version { old } else { key.version };
    let what = format!(
        "if their types differ, convert {spoke} to {new}, the storage version of {kind}, and back:"
    );
    Some(next::convert(what, &key.in_version(new), spoke))
}
