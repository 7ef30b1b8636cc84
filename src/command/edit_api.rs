//! `edit api`: the plural, the scope and the short names of a kind, in `PROJECT` and in the user's own types.

mod added_fields;

use self::added_fields::AddedFields;
use crate::{
    advice::{NextStep, Script},
    arguments::{fields, type_of::type_there},
    cli,
    engine::{Request, Workspace, conversions, next},
    error::{Failure, Result},
    name::{AnsiblePath, ChartPath, Recipe, ShortName},
    plan::{NamedFiles, Rewritten},
    project::{ApiView, EditApi, FILE, Fields, Key, Project},
    prompt::Prompt,
    syntax::{self, Names},
    template,
    tree::{self, Found, RelPath},
};

pub fn run(workspace: &Workspace, api: &cli::EditApi, prompt: Prompt<'_>) -> Result<Request> {
    let before = &workspace.project;
    let there = before.apis().into_iter().map(|api| api.key);
    let gvk = type_there(before, &api.of, prompt, there)?;
    let key = before.own_key(&gvk);
    let is_of_crd = before.sources().any(|(other, _)| *other == key);
    let adds = !(api.add_field.is_empty() && api.add_status_field.is_empty());
    if is_of_crd && adds {
        return Err(generated_from_crd(&template::types_of(before, &key)?));
    }
    let recipe = before.resource(&key).and_then(|entry| entry.recipe());
    if let Some(recipe) = recipe.filter(|_| adds) {
        return Err(match (recipe, api.add_field.is_empty()) {
            (Recipe::Chart(_), true) => status_of_release(&key),
            (Recipe::Chart(chart), false) => values_of_chart(&key, chart),
            (Recipe::Ansible(path), is_status) => {
                variables_of_ansible(&key, path, &template::types_of(before, &key)?, is_status)
            }
        });
    }
    let (project, key) = before.edit_api(&EditApi {
        gvk,
        plural: api.plural.as_deref().map(str::parse).transpose()?,
        namespaced: api.namespaced,
        short_names: api.short_name.as_deref().map(short_names).transpose()?,
        fields: Fields {
            spec: fields::read("--add-field", &api.add_field)?,
            status: fields::read("--add-status-field", &api.add_status_field)?,
        },
        force: api.force,
        finalizer: api.finalizer,
    })?;
    let named = files(workspace, &project, &key)?;
    let is_generated = |path: &RelPath| named.rewritten.contains_key(path);
    let mut next = conversions::unfinished(before, &project, &key, is_generated)?;
    next.extend(steps(before, &project, &key));
    Ok(Request {
        named,
        next,
        ..Request::of("edit api", project)
    })
}

/// The names of `--short-name`; `--short-name ''` has none.
fn short_names(given: &[String]) -> Result<Vec<ShortName>> {
    let words = given.iter().filter(|word| !word.is_empty());
    let names: Result<_, _> = words.map(|word| word.parse()).collect();
    Ok(names?)
}

/// The versions of a kind.
fn versions<'a>(project: &'a Project, key: &Key) -> Vec<ApiView<'a>> {
    let mut apis = project.apis();
    apis.retain(|api| (&api.key.group, &api.key.kind) == (&key.group, &key.kind));
    apis
}

/// The files with the types of a kind, with the new names in their attributes and with new fields; and other files that follow
/// from the fields, if nobody edited them.
fn files(workspace: &Workspace, project: &Project, key: &Key) -> Result<NamedFiles> {
    let mut named = NamedFiles::default();
    let memory = workspace.memory()?;
    let added = AddedFields::of(&workspace.project, project, key)?;
    for view in versions(project, key) {
        let short_names = view.api.short_names.iter();
        let names = Names {
            plural: view.resource.plural.to_string(),
            short_names: short_names.map(ToString::to_string).collect(),
            namespaced: view.api.namespaced,
        };
        let path = template::types_of(project, view.key)?;
        let Found::File(bytes) = tree::find(&workspace.root, &path)? else {
            continue;
        };
        let text = std::str::from_utf8(&bytes)
            .map_err(|_| by_hand(&path, &names, "it is not UTF-8 text".to_owned()))?;
        let after = syntax::set_names(text, key.kind.as_str(), &names)
            .map_err(|error| by_hand(&path, &names, next::why_not_edited(error)))?;
        let after = match added.generated(&path, &bytes) {
            Some(after) => after,
            None if view.key == key => added.to(&path, after)?.into_bytes().into(),
            None => after.into_bytes().into(),
        };
        let row = memory.rows.get(&path);
        let rewritten = Rewritten::of(&path, &bytes, after, row);
        named.rewritten.insert(path, rewritten);
    }
    for path in added.paths() {
        if !named.rewritten.contains_key(path)
            && let Found::File(bytes) = tree::find(&workspace.root, path)?
            && let Some(after) = added.generated(path, &bytes)
        {
            let rewritten = Rewritten::of(path, &bytes, after, memory.rows.get(path));
            named.rewritten.insert(path.clone(), rewritten);
        }
    }
    Ok(named)
}

/// The refusal of fields where the types follow from a CRD.
fn generated_from_crd(path: &RelPath) -> Failure {
    Failure::refused(format!("the types in `{path}` are generated from a CRD"))
        .note("`--add-field` adds to types that are generated from fields")
        .note("write the field into the struct: `make manifests` writes the CRD from the types")
        .advise(Script::edit([path.as_str()]).then(Script::of("make manifests")))
}

/// The refusal of fields where the values of a chart are the fields.
fn values_of_chart(key: &Key, chart: &ChartPath) -> Failure {
    let values = format!("{chart}/values.yaml");
    Failure::refused(format!("the fields of `{key}` are the values of a chart"))
        .note(format!(
            "`{values}` has their names and defaults, and the chart is yours"
        ))
        .note("write the value there: `make manifests` writes the CRD from the chart")
        .advise(Script::edit([values]).then(Script::of("make manifests")))
}

/// The refusal of status fields where objects are releases.
fn status_of_release(key: &Key) -> Failure {
    Failure::refused(format!("the status of `{key}` is that of a release"))
        .note("its type is `ReleaseStatus` of operator-helm, for every chart, and takes no more fields")
        .note("the objects of a release say more: `status.objects` names them")
        .advise(Script::forge("status"))
}

/// The refusal of fields where they are the variables of a role or playbook.
fn variables_of_ansible(
    key: &Key,
    ansible: &AnsiblePath,
    types: &RelPath,
    is_status: bool,
) -> Failure {
    let word = ansible.word();
    let failure = match is_status {
        true => Failure::refused(format!("the status of `{key}` is that of a run of Ansible"))
            .note("it takes any field that a task writes with `k8s_status`"),
        false => Failure::refused(format!(
            "the fields of `{key}` are the variables of a {word}"
        ))
        .note(format!("the {word} `{ansible}` takes any of them")),
    };
    failure
        .note(format!(
            "`{types}` has the types, which are yours: `make manifests` writes the CRD from them"
        ))
        .advise(Script::edit([types.as_str()]).then(Script::of("make manifests")))
}

/// The refusal where no attribute could be edited, with the text to write there.
fn by_hand(path: &RelPath, names: &Names, why: String) -> Failure {
    let mut parts = vec![format!("plural = \"{}\"", names.plural)];
    let short_names = names.short_names.iter();
    parts.extend(short_names.map(|name| format!("shortname = \"{name}\"")));
    parts.extend(names.namespaced.then(|| "namespaced".to_owned()));
    Failure::refused(format!("cannot edit `#[kube(…)]` in `{path}`"))
        .note(why)
        .note(format!(
            "change it to `#[kube({})]` by hand, and `PROJECT` like it",
            parts.join(", ")
        ))
        .advise(Script::edit([path.as_str(), FILE]).then(Script::forge("sync")))
}

fn steps(before: &Project, after: &Project, key: &Key) -> Vec<NextStep> {
    let mut steps = vec![next::manifests()];
    let (old, new) = (versions(before, key)[0], versions(after, key)[0]);
    let is_other_scope = old.api.namespaced != new.api.namespaced;
    let api = match new.api.namespaced {
        true => "Api::namespaced",
        false => "Api::all",
    };
    for controller in after.controllers().iter().filter(|_| is_other_scope) {
        if (&controller.key.group, &controller.key.kind) == (&key.group, &key.kind) {
            let path = controller.path();
            steps.push(NextStep::by_hand(format!(
                "find objects with `{api}` in {path}"
            )));
        }
    }
    if is_other_scope || old.resource.plural != new.resource.plural {
        steps.push(next::delete_crd(before, &old));
    }
    steps
}
