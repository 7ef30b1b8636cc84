//! `delete api` and `delete webhook`: the inverses of `create`.

use std::collections::{BTreeMap, BTreeSet};

use super::create_webhook::spokes;
use crate::{
    advice::{Advice, NextStep, Script},
    arguments::type_of::type_there,
    cli,
    engine::{Request, Workspace, next},
    error::Result,
    name::{Group, Kind, Recipe},
    plan::NamedFiles,
    project::{DeleteApi, DeleteWebhook, Gvk, Key, Project},
    prompt::Prompt,
    template,
    tree::{self, Found, Owner},
};

/// Deletes an API, a controller, or both.
pub fn api(workspace: &Workspace, flags: &cli::DeleteApi, prompt: Prompt<'_>) -> Result<Request> {
    let before = &workspace.project;
    let apis = before.apis().into_iter().map(|api| api.key);
    let controllers = before.controllers().into_iter().map(|it| it.key);
    let there: BTreeSet<&Key> = apis.chain(controllers).collect();
    let gvk = type_there(before, &flags.of, prompt, there)?;
    let name = flags.controller_name.as_deref();
    let project = before.delete_api(&DeleteApi {
        gvk,
        resource: flags.resource,
        controller: flags.controller,
        controller_name: name.map(str::parse).transpose()?,
    })?;
    let step = uncontrolled(before, &project);
    let recipes = left_recipes(workspace, &project);
    let mut request = deletion("delete api", workspace, project, flags.keep_files)?;
    request.remarks.extend(recipes);
    request.next.extend(step);
    Ok(request)
}

/// Deletes webhooks of a kind.
pub fn webhook(
    workspace: &Workspace,
    flags: &cli::DeleteWebhook,
    prompt: Prompt<'_>,
) -> Result<Request> {
    let before = &workspace.project;
    let there = before.webhooks().into_iter().map(|it| it.key);
    let gvk = type_there(before, &flags.of, prompt, there)?;
    let mut delete = DeleteWebhook {
        gvk,
        defaulting: flags.defaulting,
        validation: flags.validation,
        conversion: flags.conversion,
        spokes: spokes(&flags.spoke)?,
    };
    if prompt.is_allowed() && !(delete.defaulting || delete.validation || delete.conversion) {
        choose(before, &mut delete, prompt)?;
    }
    let project = before.delete_webhook(&delete)?;
    let remark = unconverted(&project, &delete);
    let mut request = deletion("delete webhook", workspace, project, flags.keep_files)?;
    request.remarks.extend(remark);
    Ok(request)
}

/// The request of a deletion that leaves `project`; with `keep`, the user's files become files outside of the project.
fn deletion(
    command: &'static str,
    workspace: &Workspace,
    project: Project,
    keep: bool,
) -> Result<Request> {
    let before = &workspace.project;
    let mut request = Request {
        next: steps(before, &project),
        ..Request::of(command, project)
    };
    if keep {
        let left = template::paths(&request.project)?;
        let gone = template::owners(&before.unlike(&request.project))?.into_iter();
        let gone = gone.filter(|(path, owner)| *owner == Owner::User && !left.contains(path));
        request.named = NamedFiles {
            forgotten: gone.map(|(path, _)| path).collect(),
            ..NamedFiles::default()
        };
        for path in &request.named.forgotten {
            if matches!(tree::find(&workspace.root, path)?, Found::File(_)) {
                let remark = format!("`{path}` stays, and is no longer part of the project");
                request.remarks.push(remark);
            }
        }
    }
    Ok(request)
}

/// The next steps: for the manifests, and for CRDs that go, lose a version, or store another one.
fn steps(before: &Project, after: &Project) -> Vec<NextStep> {
    let mut steps = vec![next::manifests()];
    let left = after.kinds();
    let left: BTreeMap<_, _> = left
        .iter()
        .map(|it| (of_kind(it.apis[0].key), it))
        .collect();
    for was in before.kinds() {
        let kind = &was.apis[0].key.kind;
        match left.get(&of_kind(was.apis[0].key)) {
            None => steps.push(next::delete_crd(before, &was.apis[0])),
            Some(now) if now.apis.len() < was.apis.len() || now.storage != was.storage => {
                steps.push(NextStep::new(
                    format!(
                        "a cluster keeps each version that objects may be stored in; store every {kind} in {}:",
                        now.storage
                    ),
                    Script::of("make migrate-storage"),
                ));
            }
            Some(_) => {}
        }
    }
    steps
}

/// A step for a kind that is still defined, but has lost its last controller with a version.
fn uncontrolled(before: &Project, after: &Project) -> Option<NextStep> {
    let watches = |project: &Project, key| {
        let mut controllers = project.controllers().into_iter();
        controllers.any(|it| of_kind(it.key) == of_kind(key))
    };
    let kinds = after.kinds();
    let lost = kinds.iter().find(|kind| {
        let key = kind.apis[0].key;
        watches(before, key) && !watches(after, key)
    })?;
    let key = lost.apis.iter().find(|api| api.storage)?.key;
    Some(NextStep::new(
        format!(
            "no controller watches {} any more; add one for {}:",
            key.kind, key.version
        ),
        Script::forge("create api")
            .flags(&key.flags())
            // The controller's files are there if they were edited or kept.
            .code("--resource=false --on-conflict keep"),
    ))
}

/// Remarks about charts, roles and playbooks that no kind has any more.
fn left_recipes(workspace: &Workspace, after: &Project) -> Vec<String> {
    fn recipes(project: &Project) -> BTreeSet<Recipe<'_>> {
        let resources = project.resources();
        resources.filter_map(|(_, it)| it.recipe()).collect()
    }
    let left = recipes(after);
    let gone = recipes(&workspace.project).into_iter();
    let is_there = |recipe: &Recipe<'_>| workspace.root.join(recipe.path()).exists();
    let gone = gone.filter(|recipe| !left.contains(recipe) && is_there(recipe));
    let stays = |recipe: Recipe<'_>| {
        let (word, path) = (recipe.word(), recipe.path());
        format!("the {word} in `{path}` stays; it is yours to delete")
    };
    gone.map(stays).collect()
}

/// Asks which of the webhooks to delete.
fn choose(before: &Project, delete: &mut DeleteWebhook, prompt: Prompt<'_>) -> Result<()> {
    let views = before.webhooks();
    let Some(view) = views.iter().find(|it| it.key.gvk() == delete.gvk) else {
        return Ok(());
    };
    let admission = [
        ("defaulting", &view.webhooks.defaulting),
        ("validation", &view.webhooks.validation),
    ];
    let there = admission.iter().filter(|(_, slot)| slot.is_some());
    let mut items: Vec<String> = there.map(|(name, _)| (*name).to_owned()).collect();
    let spokes = view.webhooks.spokes.iter();
    items.extend(spokes.map(|spoke| format!("conversion of {spoke}")));
    let flags = ["--defaulting", "--validation", "--conversion"];
    let item = &items[prompt.choose("Which webhook?", &flags, Advice::Help, &items)?];
    delete.defaulting = item == "defaulting";
    delete.validation = item == "validation";
    if let Some(version) = item.strip_prefix("conversion of ") {
        delete.conversion = true;
        delete.spokes = vec![version.parse()?];
    }
    Ok(())
}

/// A remark about the versions of a kind that are no longer converted.
fn unconverted(after: &Project, delete: &DeleteWebhook) -> Option<String> {
    let kinds = after.kinds();
    let Gvk { group, kind, .. } = &delete.gvk;
    let is_meant = |key| delete.conversion && of_kind(key) == (group, kind);
    let left = kinds.iter().find(|kind| is_meant(kind.apis[0].key))?;
    Some(match left.spokes.is_empty() {
        true => format!(
            "no version of {kind} is converted any more: the API server changes only `apiVersion`, and drops fields that a version does not have"
        ),
        false => format!(
            "other versions of {kind} are still converted: a version without conversion can be neither read nor written until `delete api` removes it"
        ),
    })
}

fn of_kind(key: &Key) -> (&Group, &Kind) {
    (&key.group, &key.kind)
}
