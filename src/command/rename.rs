//! `rename`: another name for a kind. Its files move, with the user's edits.

use std::{collections::BTreeMap, path::Path};

use guarded_yaml as yaml;

use crate::{
    advice::{Advice, NextStep, Script},
    cli,
    engine::{Request, Workspace, next},
    error::{Failure, Result},
    name::{Group, Kind, parse_flag, rust, rust::Module},
    plan::Rewritten,
    project::{ApiView, Project, Rename},
    prompt::Prompt,
    syntax::{self, Renamed},
    template::{self, kind_files},
    tree::{self, Digest, Found, RelPath, Tree},
};

pub fn run(workspace: &Workspace, flags: &cli::Rename, prompt: Prompt<'_>) -> Result<Request> {
    let before = &workspace.project;
    let (group, kind) = kind_of(before, flags, prompt)?;
    let missing = ("it is the new name of the kind", Advice::Help);
    let to = flags.to.as_deref();
    let to = prompt.value("--to", "New kind", to, missing, |text| {
        let to: Kind = parse_flag("--to", text)?;
        let camel = to.camel_case();
        match camel == to {
            true => Ok(to),
            false => Err(Failure::refused(format!(
                "the kind `{to}` starts with a lower-case letter"
            ))
            .note("kinds are CamelCase (Kubernetes API conventions)")
            .advise(Advice::set("--to", camel.as_str()))),
        }
    })?;
    let rename = Rename {
        group,
        kind,
        to,
        plural: flags.plural.as_deref().map(str::parse).transpose()?,
        force: flags.force,
    };
    let mut request = Request::of("rename", before.rename(&rename)?);
    let names = names(before, &request.project, &rename);
    let directories = move_files(workspace, &rename, &names, &mut request)?;
    request.next.extend(directories.into_iter().map(|script| {
        let what = "move your own files after them; `undo` does not move these back:";
        NextStep::new(what, script)
    }));
    request.next.push(NextStep::new(
        format!("find other uses of {} in your files:", rename.kind),
        Script::of("cargo check --all-targets"),
    ));
    request.next.push(next::manifests());
    request.next.extend(match before.crd_that_stays(&rename) {
        Some(crd) => Some(NextStep::by_hand(format!(
            "no cluster changes the kind of its CRD `{crd}`: save the objects, delete the CRD, install the new one, and restore \
             the objects"
        ))),
        None => api_of(before, &rename.group, &rename.kind).map(|api| next::delete_crd(before, &api)),
    });
    Ok(request)
}

/// The kind that is renamed: its flags, or the one that is chosen.
fn kind_of(before: &Project, rename: &cli::Rename, prompt: Prompt<'_>) -> Result<(Group, Kind)> {
    let group = rename.group.as_deref();
    if let Some(kind) = &rename.kind {
        return Ok((group.unwrap_or_default().parse()?, kind.parse()?));
    }
    let kinds = before.kinds();
    let keys = kinds.iter().map(|kind| kind.apis[0].key);
    let keys: Vec<_> = keys
        .filter(|key| group.is_none_or(|group| group == key.group.as_str()))
        .collect();
    let names: Vec<String> = keys
        .iter()
        .map(|key| format!("{}, Kind {}", key.api_group(false), key.kind))
        .collect();
    let missing: &[&str] = match group {
        Some(_) => &["--kind"],
        None => &["--group", "--kind"],
    };
    if keys.is_empty() {
        return Err(Failure::usage("`--kind` is missing")
            .note("the project defines no such kind")
            .advise(Advice::Help));
    }
    let at = prompt.choose("Which kind?", missing, Advice::Help, &names)?;
    Ok((keys[at].group.clone(), keys[at].kind.clone()))
}

/// The first version of a kind.
fn api_of<'a>(project: &'a Project, group: &Group, kind: &Kind) -> Option<ApiView<'a>> {
    let mut apis = project.apis().into_iter();
    apis.find(|api| (&api.key.group, &api.key.kind) == (group, kind))
}

/// All names that change.
fn names(before: &Project, after: &Project, rename: &Rename) -> Renamed {
    let (old, new) = (&rename.kind, &rename.to);
    let plural = |project, kind| {
        let api = api_of(project, &rename.group, kind);
        api.map_or_else(String::new, |api| api.resource.plural.to_string())
    };
    let controller = |project: &Project, kind: &Kind| {
        let controllers = project.controllers().into_iter();
        let mut defaults = controllers.filter(|it| it.default && it.key.group == rename.group);
        let found = defaults.find(|it| it.key.kind == *kind);
        found.map(|it| it.name).unwrap_or_default()
    };
    Renamed {
        kind: (old.to_string(), new.to_string()),
        type_name: (rust::type_name(old), rust::type_name(new)),
        module: (Module::of_kind(old).ident, Module::of_kind(new).ident),
        plural: (plural(before, old), plural(after, new)),
        controller: (controller(before, old), controller(after, new)),
        library: after.library(),
    }
}

/// Moves the files of the kind, all of which are User files, with the new names in their text; an unedited one is generated anew.
/// Returns the commands that move the user's own files beside them.
fn move_files(
    workspace: &Workspace,
    rename: &Rename,
    names: &Renamed,
    request: &mut Request,
) -> Result<Vec<Script>> {
    let files = |project: &Project, kind| {
        let files = kind_files::of_kind(project, &rename.group, &project.domain, kind)?;
        // The files of a kind depend on its own entries alone.
        Ok::<_, Failure>((
            files,
            template::tree(&project.of_kind(&rename.group, kind))?,
        ))
    };
    let (old, was) = files(&workspace.project, &rename.kind)?;
    let (new, desired) = files(&request.project, &rename.to)?;
    let memory = workspace.memory()?;
    let named = &mut request.named;
    let mut directories = BTreeMap::new();
    for (purpose, from) in &old {
        let Some(to) = new.get(purpose) else { continue };
        directories.extend(directory(from, to));
        let row = memory.rows.get(from).cloned();
        let bytes = match tree::find(&workspace.root, from)? {
            Found::File(bytes) => bytes,
            // Where the path stays, the plan refuses it.
            Found::Obstacle(_) if from == to => continue,
            Found::Obstacle(what) => {
                return Err(cannot_move(from, to, &what.to_string(), what.makes_room()));
            }
            Found::Absent => {
                // A file that the user deleted stays deleted.
                let gone = Rewritten {
                    row,
                    ..Rewritten::default()
                };
                named.rewritten.insert(from.clone(), Rewritten::default());
                named.rewritten.insert(to.clone(), gone);
                continue;
            }
        };
        if from != to && tree::find(&workspace.root, to)? != Found::Absent {
            let aside = Script::put_aside(to.as_str());
            return Err(cannot_move(from, to, "the new path exists already", aside));
        }
        let digest = Digest::of(from, &bytes);
        let is_generated = was
            .get(from)
            .is_some_and(|file| file.digest(from) == digest);
        let content = match desired.get(to).filter(|_| is_generated) {
            Some(file) => file.content.clone(),
            None => edited((from, to), &bytes, names, &mut request.remarks)?.into(),
        };
        let content = tree::with_line_ends_of(&bytes, content);
        if row.as_ref().is_none_or(|row| !row.any_of.contains(&digest)) {
            let remark = format!("`{from}` was edited, and becomes `{to}` with its edits");
            request.remarks.push(remark);
        }
        let mut rewritten = Rewritten::of(from, &bytes, content, row.as_ref());
        if from != to {
            let left = Rewritten {
                before: rewritten.before.take(),
                ..Rewritten::default()
            };
            named.rewritten.insert(from.clone(), left);
            named.moved.insert(to.clone(), from.clone());
        }
        named.rewritten.insert(to.clone(), rewritten);
    }
    Ok(left_behind(&workspace.root, &directories, &was))
}

fn cannot_move(from: &RelPath, to: &RelPath, why: &str, advice: Script) -> Failure {
    Failure::refused(format!("`{from}` cannot move to `{to}`: {why}"))
        .note("nothing was written")
        .advise(advice)
}

/// The directory of a kind beside or around one of its files, before and after.
fn directory(from: &RelPath, to: &RelPath) -> Option<(String, String)> {
    let around = |path: &RelPath| path.parents().next_back().map(str::to_owned);
    let beside = |path: &RelPath| path.as_str().strip_suffix(".rs").map(str::to_owned);
    match (around(from)?, around(to)?) {
        (old, new) if old != new => Some((old, new)),
        _ => Some((beside(from)?, beside(to)?)).filter(|(old, new)| old != new),
    }
}

/// Commands that move the user's own files in these directories, such as submodules.
fn left_behind(root: &Path, directories: &BTreeMap<String, String>, was: &Tree) -> Vec<Script> {
    let mut lines = Vec::new();
    for (from, to) in directories {
        let names = tree::names(&root.join(from)).into_iter();
        let paths = names.map(|name| format!("{from}/{name}"));
        let is_made = |path: &str| {
            let mut made = was.keys().map(RelPath::as_str);
            made.any(|made| made == path || made.starts_with(&format!("{path}/")))
        };
        let own: Vec<String> = paths.filter(|path| !is_made(path)).collect();
        if !own.is_empty() {
            let move_there = Script::of("git mv").args(own).arg(to);
            lines.push(Script::of("mkdir -p").arg(to).then(move_there));
        }
    }
    lines
}

/// The user's text with the new names.
fn edited(
    (path, to): (&RelPath, &RelPath),
    bytes: &[u8],
    names: &Renamed,
    remarks: &mut Vec<String>,
) -> Result<Vec<u8>> {
    let (old, new) = &names.kind;
    let refuse = |why: String| {
        Failure::refused(format!("cannot rename `{old}` in `{path}`"))
            .note(why)
            .advise(Script::edit([path.as_str()]))
    };
    let text = std::str::from_utf8(bytes).map_err(|_| refuse("it is not UTF-8 text".to_owned()))?;
    let text = match path.extension() {
        "rs" => syntax::rename(text, names).map_err(|error| refuse(next::why_not_edited(error)))?,
        _ => yaml::with_value(text, "kind", old, new).unwrap_or_else(|| {
            remarks.push(format!(
                "`{to}` keeps its text, because it has no line `kind: {old}`; check that it is right"
            ));
            text.to_owned()
        }),
    };
    Ok(text.into_bytes())
}
