//! `rename`: another name for a kind. Its files move, with what the user wrote into them.

use std::{collections::BTreeMap, path::Path};

use crate::{
    advice::{Advice, NextStep, Script},
    cli::{self, Global},
    engine::{Request, Workspace, reconcile},
    error::{Failure, Result},
    name::{Group, Kind, rust, rust::Module},
    plan::{NamedFiles, Rewritten},
    project::{Project, Rename},
    prompt::Prompt,
    refusal,
    report::Report,
    syntax::{self, Renamed},
    template::{self, kind_files},
    tree::{self, Digest, Found, Obstacle, Owner, RelPath, Tree},
    yaml,
};

pub fn run(flags: &Global, rename: &cli::Rename, report: &Report) -> Result<u8> {
    let (workspace, before) = Workspace::open(&flags.directory)?;
    let prompt = Prompt::new(report, !flags.no_input);
    let (group, kind) = kind_of(&before, rename, prompt)?;
    let missing = ("the kind as it is to be called", Advice::Help);
    let to = rename.to.as_deref();
    let to = prompt.value("--to", "New kind", to, missing, |text| {
        let flag = "--to";
        text.parse()
            .map_err(|invalid| refusal::of_flag(flag, invalid))
    })?;
    let request = Rename {
        group,
        kind,
        to,
        plural: rename.plural.as_deref().map(str::parse).transpose()?,
        force: rename.force,
    };
    let mut project = before.rename(&request)?;
    let old = files(&before, &request, &request.kind)?;
    let new = files(&project, &request, &request.to)?;
    project.settings.owned = (project.settings.owned.into_iter())
        .map(|path| match old.iter().find(|(_, from)| **from == path) {
            Some((what, _)) => new.get(what).cloned().unwrap_or(path),
            None => path,
        })
        .collect();
    let (names, api_group) = names(&before, &project, &request);
    let mut remarks = Vec::new();
    let (named, behind) = moved(
        &workspace,
        (&before, &project),
        (&request, old, &new),
        &names,
        &mut remarks,
    )?;
    let mut next = Vec::new();
    for line in behind {
        next.push(NextStep::new(
            "move your own files after them, which `undo` does not move back:",
            line,
        ));
    }
    next.push(NextStep::new(
        format!(
            "find what else says {}, for instance in other files of yours:",
            request.kind
        ),
        Script::of("cargo check --all-targets"),
    ));
    next.push(NextStep::new(
        "derive CRDs, RBAC and webhook configurations again, then test:",
        Script::of("make manifests && make test"),
    ));
    next.push(match before.crd_that_stays(&request) {
        Some(crd) => NextStep::by_hand(format!(
            "`{crd}` is the CRD of both, and no cluster that has it takes another kind: save the objects, delete it, then \
             install and restore"
        )),
        None => NextStep::new(
            format!(
                "{} is a new CRD: no {} becomes one; clusters keep the old CRD and its objects until you say so:",
                request.to, request.kind
            ),
            Script::anywhere("kubectl delete crd").arg(format!("{}.{api_group}", names.plural.0)),
        ),
    });
    let request = Request {
        named,
        remarks,
        next,
        ..Request::of("rename", project)
    };
    reconcile(&workspace, &request, flags, report)
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
        .map(|key| format!("{} of {}", key.kind, key.api_group(false)))
        .collect();
    let missing: &[&str] = match group {
        Some(_) => &["--kind"],
        None => &["--group", "--kind"],
    };
    let at = match keys.is_empty() {
        true => {
            let failure = Failure::usage("`--kind` is missing");
            return Err(failure
                .note("the project defines no such kind")
                .advise(Advice::Help));
        }
        false => prompt.choose("Which kind?", missing, Advice::Help, &names)?,
    };
    Ok((keys[at].group.clone(), keys[at].kind.clone()))
}

/// All names that change, and the kind's API group.
fn names(before: &Project, after: &Project, request: &Rename) -> (Renamed, String) {
    let (old, new) = (&request.kind, &request.to);
    let plural = |project: &Project, kind: &Kind| {
        let apis = project.apis().into_iter();
        let mut of_kind =
            apis.filter(|api| (&api.key.group, &api.key.kind) == (&request.group, kind));
        let api = of_kind.next();
        api.map(|api| (api.resource.plural.to_string(), api.key.api_group(false)))
            .unwrap_or_default()
    };
    let controller = |project: &Project, kind: &Kind| {
        let controllers = project.controllers().into_iter();
        let mut defaults = controllers.filter(|it| it.default && it.key.group == request.group);
        let found = defaults.find(|it| it.key.kind == *kind);
        found.map(|it| it.name).unwrap_or_default()
    };
    let ((was, group), (is, _)) = (plural(before, old), plural(after, new));
    let names = Renamed {
        kind: (old.to_string(), new.to_string()),
        type_name: (rust::type_name(old), rust::type_name(new)),
        module: (Module::of_kind(old).ident, Module::of_kind(new).ident),
        plural: (was, is),
        controller: (controller(before, old), controller(after, new)),
        library: after.library(),
    };
    (names, group)
}

/// The files of a kind, by what they are for.
type Files = BTreeMap<kind_files::Use, RelPath>;

fn files(project: &Project, request: &Rename, kind: &Kind) -> Result<Files> {
    kind_files::of_kind(project, &request.group, &project.domain, kind)
}

/// The user's files of the kind, at their new paths, and those of them whose text is changed. One that is as it was generated
/// is made anew. The commands move what the user put beside them.
fn moved(
    workspace: &Workspace,
    (before, after): (&Project, &Project),
    (request, old, new): (&Rename, Files, &Files),
    names: &Renamed,
    remarks: &mut Vec<String>,
) -> Result<(NamedFiles, Vec<Script>)> {
    // What is made of a kind depends on its own entries alone.
    let made = |project: &Project, kind| template::tree(&project.of_kind(&request.group, kind));
    let both = || (made(before, &request.kind), made(after, &request.to));
    let (memory, (was, desired)) = rayon::join(|| workspace.memory(), both);
    let (memory, was, desired) = (memory?, was?, desired?);
    let mut named = NamedFiles::default();
    let mut directories = BTreeMap::new();
    for (what, from) in &old {
        let Some(to) = new.get(what) else { continue };
        let is_of_user = was.get(from).is_some_and(|file| file.owner == Owner::User);
        if !is_of_user && !before.settings.owned.contains(from) {
            named.moved.insert(to.clone(), from.clone());
            continue;
        }
        directories.extend(directory(from, to));
        let row = memory.rows.get(from).cloned();
        let bytes = match tree::find(&workspace.root, from)? {
            Found::File(bytes) => bytes,
            // Where the path stays, the plan refuses it.
            Found::Obstacle(_) if from == to => continue,
            Found::Obstacle(what) => return Err(no_file(from, to, &what)),
            Found::Absent => {
                // What the user deleted stays deleted.
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
            return Err(in_the_way(from, to));
        }
        let digest = Digest::of(from, &bytes);
        let generated = was
            .get(from)
            .is_some_and(|file| Digest::of(from, &file.content) == digest);
        let content = match desired.get(to).filter(|_| generated) {
            Some(file) => file.content.clone(),
            None => edited((from, to), &bytes, names, remarks)?.into(),
        };
        let content = tree::with_line_ends_of(&bytes, content);
        if row.as_ref().is_none_or(|row| !row.any_of.contains(&digest)) {
            remarks.push(format!(
                "`{from}` was edited, and becomes `{to}` with its edits"
            ));
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
    let behind = left_behind(&workspace.root, &directories, &was);
    Ok((named, behind))
}

fn in_the_way(from: &RelPath, to: &RelPath) -> Failure {
    Failure::refused(format!(
        "`{from}` cannot move to `{to}`: there is something already"
    ))
    .note("nothing was written")
    .advise(Script::put_aside(to.as_str()))
}

fn no_file(from: &RelPath, to: &RelPath, what: &Obstacle) -> Failure {
    Failure::refused(format!("`{from}` cannot move to `{to}`: {what}"))
        .note("nothing was written")
        .advise(what.makes_room())
}

/// The directory that is the kind's own beside or around one of its files, before and after.
fn directory(from: &RelPath, to: &RelPath) -> Option<(String, String)> {
    let around = |path: &RelPath| path.parents().next_back().map(str::to_owned);
    let beside = |path: &RelPath| path.as_str().strip_suffix(".rs").map(str::to_owned);
    match (around(from)?, around(to)?) {
        (old, new) if old != new => Some((old, new)),
        _ => Some((beside(from)?, beside(to)?)).filter(|(old, new)| old != new),
    }
}

/// Commands that move what no template made in these directories: submodules of the user.
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

/// The user's text with the new names in it.
fn edited(
    (path, to): (&RelPath, &RelPath),
    bytes: &[u8],
    names: &Renamed,
    remarks: &mut Vec<String>,
) -> Result<Vec<u8>> {
    let refuse = |why: String| {
        Failure::refused(format!("cannot rename `{}` in `{path}`", names.kind.0))
            .note(why)
            .advise(Script::edit([path.as_str()]))
    };
    let text = std::str::from_utf8(bytes).map_err(|_| refuse("it is not UTF-8 text".to_owned()))?;
    let text = match path.extension() {
        "rs" => syntax::rename(text, names).map_err(|fault| match fault {
            syntax::Error::Unparsable { line, why, .. } => refuse(format!("line {line}: {why}")),
            syntax::Error::NoAttribute => refuse("it has no such attribute".to_owned()),
        })?,
        _ => yaml::with_value(text, "kind", &names.kind.0, &names.kind.1).unwrap_or_else(|| {
            remarks.push(format!(
                "`{to}` keeps its text, for no line says `kind: {}`; see that it is what you want",
                names.kind.0
            ));
            text.to_owned()
        }),
    };
    Ok(text.into_bytes())
}
