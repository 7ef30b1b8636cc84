//! `edit api`: the plural, the scope and the short names of a kind, in `PROJECT` and in the user's own types.

use super::type_of::type_there;
use crate::{
    advice::{NextStep, Script},
    cli::{self, Global},
    engine::{Request, Workspace, reconcile},
    error::{Failure, Result},
    name::ShortName,
    plan::{NamedFiles, Rewritten},
    project::{ApiView, EditApi, FILE, Key, Project},
    prompt::Prompt,
    report::Report,
    syntax::{self, Names},
    template,
    tree::{self, Found, RelPath},
};

pub fn run(flags: &Global, api: &cli::EditApi, report: &Report) -> Result<u8> {
    let (workspace, before) = Workspace::open(&flags.directory)?;
    let prompt = Prompt::new(report, !flags.no_input);
    let apis = before.apis();
    let there = apis.iter().map(|api| api.key).collect();
    let of = type_there(&before, &api.of, prompt, &there)?;
    let (project, key) = before.edit_api(&EditApi {
        group: of.group,
        version: of.version,
        kind: of.kind,
        plural: api.plural.as_deref().map(str::parse).transpose()?,
        namespaced: api.namespaced,
        short_names: api.short_name.as_deref().map(short_names).transpose()?,
        force: api.force,
        finalizer: api.finalizer,
    })?;
    let named = types(&workspace, &project, &key)?;
    let next = next(&before, &project, &key);
    let request = Request {
        named,
        next,
        ..Request::of("edit api", project)
    };
    reconcile(&workspace, &request, flags, report)
}

/// An empty word is no name: `--short-name ''` leaves none.
fn short_names(given: &[String]) -> Result<Vec<ShortName>> {
    let words = given.iter().filter(|word| !word.is_empty());
    Ok(words.map(|word| word.parse()).collect::<Result<_, _>>()?)
}

/// The versions of a kind.
fn versions<'a>(project: &'a Project, key: &Key) -> Vec<ApiView<'a>> {
    let mut apis = project.apis();
    apis.retain(|api| (&api.key.group, &api.key.kind) == (&key.group, &key.kind));
    apis
}

/// The files with its types, as they will be.
fn types(workspace: &Workspace, project: &Project, key: &Key) -> Result<NamedFiles> {
    let mut named = NamedFiles::default();
    let memory = workspace.memory()?;
    for api in versions(project, key) {
        let names = Names {
            plural: api.resource.plural.to_string(),
            short_names: api
                .api
                .short_names
                .iter()
                .map(ToString::to_string)
                .collect(),
            namespaced: api.api.namespaced,
        };
        let path = template::types_of(project, api.key)?;
        let Found::File(bytes) = tree::find(&workspace.root, &path)? else {
            continue;
        };
        let text = std::str::from_utf8(&bytes)
            .map_err(|_| by_hand(&path, &names, "it is not UTF-8 text"))?;
        let after =
            syntax::set_names(text, key.kind.as_str(), &names).map_err(|fault| match fault {
                syntax::Error::NoAttribute => by_hand(
                    &path,
                    &names,
                    "it has no such attribute with that kind, and with plain strings",
                ),
                syntax::Error::Unparsable { line, why, .. } => {
                    by_hand(&path, &names, &format!("line {line}: {why}"))
                }
            })?;
        let after = after.into_bytes().into();
        let row = memory.rows.get(&path);
        named
            .rewritten
            .insert(path.clone(), Rewritten::of(&path, &bytes, after, row));
    }
    Ok(named)
}

/// What to write where no attribute could be edited.
fn by_hand(path: &RelPath, names: &Names, why: &str) -> Failure {
    let mut lines = vec![format!("plural = \"{}\"", names.plural)];
    lines.extend(
        names
            .short_names
            .iter()
            .map(|name| format!("shortname = \"{name}\"")),
    );
    lines.extend(names.namespaced.then(|| "namespaced".to_owned()));
    Failure::refused(format!("cannot edit `#[kube(…)]` in `{path}`"))
        .note(why.to_owned())
        .note(format!(
            "edit it by hand to hold `#[kube({})]`, and `PROJECT` like it",
            lines.join(", ")
        ))
        .advise(Script::edit([path.as_str(), FILE]).then(Script::forge("sync")))
}

fn next(before: &Project, after: &Project, key: &Key) -> Vec<NextStep> {
    let mut next = vec![NextStep::new(
        "derive CRDs and RBAC again, then test:",
        Script::of("make manifests && make test"),
    )];
    let (old, new) = (versions(before, key)[0], versions(after, key)[0]);
    if old.api.namespaced != new.api.namespaced {
        let controllers = after.controllers().into_iter();
        for controller in
            controllers.filter(|it| (&it.key.group, &it.key.kind) == (&key.group, &key.kind))
        {
            let (group, module) = (controller.group_module.file(), controller.module.file());
            next.push(NextStep::by_hand(format!("say how it finds objects now (`Api::namespaced` or `Api::all`), in src/controllers/{group}/{module}.rs")));
        }
    }
    if old.api.namespaced != new.api.namespaced || old.resource.plural != new.resource.plural {
        next.push(NextStep::new(
            format!(
                "the old CRD goes from each cluster that has it, with every {}, when you say so:",
                key.kind
            ),
            Script::anywhere("kubectl delete crd").arg(format!(
                "{}.{}",
                old.resource.plural,
                key.api_group(false)
            )),
        ));
    }
    next
}
