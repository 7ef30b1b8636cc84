//! `create api --ansible-role` and its likes: an Ansible role or playbook that runs for the objects of a kind, of the project or of another one.

mod skeleton;
pub mod source;

use std::{collections::BTreeMap, path::Path};

use ansible_api::Entry;
use heck::ToUpperCamelCase as _;

use self::source::Source;
use super::{copy, import_api};
use crate::{
    advice::{Advice, NextStep, Script},
    arguments::{kind, type_of::type_of},
    cli::{Api, TypeFlags},
    engine::{Request, Workspace, next},
    error::{Failure, Result},
    name::{AnsiblePath, Kind, kubernetes},
    plan::NamedFiles,
    project::CreateApi,
    prompt::Prompt,
    template,
    tree::RelPath,
};

pub fn run(
    workspace: &Workspace,
    api: &Api,
    prompt: Prompt<'_>,
    mut remarks: Vec<String>,
) -> Result<Request> {
    refuse_flags(api)?;
    let before = &workspace.project;
    let flags = &api.ansible;
    let role = flags.ansible_role.as_deref();
    let role = role
        .map(|it| Source::role(&workspace.root, it))
        .transpose()?;
    let playbook = flags.ansible_playbook.as_deref();
    let playbook = playbook
        .map(|it| Source::playbook(&workspace.root, it))
        .transpose()?;
    let gvk = type_of(before, &named(api, [&role, &playbook]), prompt, true)?;
    let core = kubernetes::find(gvk.group.as_str(), gvk.version, &gvk.kind);
    let core = core.filter(|_| api.resource == Some(false));
    let namespaced = core.map_or(api.namespaced.unwrap_or(true), |core| core.namespaced);
    let role = match flags.generate_role {
        true => Some(skeleton::role(&gvk.kind, namespaced)?),
        false => role,
    };
    let playbook = match flags.generate_playbook {
        true => Some(skeleton::playbook(&gvk.kind, role.as_ref(), namespaced)?),
        false => playbook,
    };
    let sources: Vec<Source> = playbook.into_iter().chain(role).collect();
    let create = CreateApi {
        ansible: Some(sources[0].path.clone()),
        ..kind::of_flags(api, gvk)?
    };
    let key = create.key_in(before)?;
    let there = before.resource(&key);
    let is_update = there.is_some_and(|it| it.ansible == create.ansible);
    let mut copied = copy::Copied::default();
    for source in &sources {
        let original = source.original();
        let of_source = copy::of(&workspace.root, &original)?;
        // Another kind may have it, too.
        let mut resources = before.resources();
        let holder = match is_update {
            true => Some(&key),
            false => resources
                .find(|(_, it)| it.ansible.as_ref() == Some(&source.path) && of_source.changes())
                .map(|(holder, _)| holder),
        };
        if let Some(holder) = holder.filter(|_| !create.force) {
            return Err(of_source.refusal(&original, holder));
        }
        remarks.extend(of_source.left(&original));
        remarks.extend(source.loses());
        copied = copied.and(of_source);
    }
    let project = before.create_api(&create)?;
    remarks.extend(permissions(&workspace.root, &sources));
    let files = template::files_of(&project, &key, &create)?;
    let mut next = next::use_external(&project, &key, create.external.as_ref());
    next.extend(steps(&sources, &files, is_update));
    // A newer role leaves the controller and its test as they are.
    let forced = match create.force && !is_update {
        true => files,
        false => [].into(),
    };
    Ok(Request {
        named: NamedFiles {
            copied: copied.files(),
            ..NamedFiles::default()
        },
        forced,
        remarks,
        next,
        explain: Some(copy::explain),
        ..Request::of("create api", project)
    })
}

/// Refuses flags for what the role decides.
fn refuse_flags(api: &Api) -> Result<()> {
    let flags = &api.ansible;
    if flags.generate_role && flags.ansible_role.is_some() {
        return Err(twice("--ansible-role", "--generate-role", "role"));
    }
    if flags.generate_playbook && flags.ansible_playbook.is_some() {
        return Err(twice(
            "--ansible-playbook",
            "--generate-playbook",
            "playbook",
        ));
    }
    let with = flags.first().unwrap_or_default();
    let why = "the fields of `spec` are variables of any name, and the default controller of the kind runs Ansible";
    import_api::refuse_beside(with, &import_api::decided_by_recipe(api), why)
}

fn twice(there: &str, new: &str, what: &str) -> Failure {
    Failure::usage(format!("`{new}` is given with `{there}`"))
        .note(format!("one copies a {what}, the other makes a new one"))
        .advise(Advice::drop(new))
}

/// The flags of the type; the kind is called after the first source, if no flag names one.
fn named(api: &Api, sources: [&Option<Source>; 2]) -> TypeFlags {
    let mut of = api.of.clone();
    if let Some(source) = sources.into_iter().flatten().next() {
        let camel = source.name().to_upper_camel_case();
        let kind = camel.parse::<Kind>().ok();
        of.kind = of.kind.or(kind.map(|kind| kind.to_string()));
        of.version = of.version.or(Some("v1alpha1".to_owned()));
    }
    of
}

/// Remarks about permissions that do not follow from the tasks of the first source, as the project will have them.
fn permissions(root: &Path, sources: &[Source]) -> Vec<String> {
    let mut files = BTreeMap::new();
    for directory in ["playbooks", "roles"] {
        // What is not there has no permissions, and `make manifests` tells what cannot be read.
        let _ = ansible_api::read(&root.join(directory), directory, &mut files);
    }
    for source in sources {
        files.extend(source.placed());
    }
    let notes = ansible_api::of(&files, &entry(&sources[0].path)).notes;
    import_api::permissions(&notes)
}

/// What runs, as the search for permissions has it.
pub fn entry(path: &AnsiblePath) -> Entry {
    match path.is_playbook() {
        true => Entry::Playbook(path.to_string()),
        false => Entry::Role(path.name().to_owned()),
    }
}

fn steps<'a>(
    sources: &[Source],
    files: impl IntoIterator<Item = &'a RelPath>,
    is_update: bool,
) -> Vec<NextStep> {
    let new = sources.iter().filter_map(Source::to_write);
    let mut steps: Vec<NextStep> = new
        .map(|path| NextStep::new("write the tasks:", Script::edit([path])))
        .collect();
    let mut samples = files.into_iter().map(RelPath::as_str);
    let sample = samples.find(|path| path.starts_with("config/samples/"));
    let sample = sample.filter(|_| !is_update);
    steps.extend(
        sample.map(|path| NextStep::new("set variables in the sample:", Script::edit([path]))),
    );
    steps.push(next::manifests());
    steps
}
