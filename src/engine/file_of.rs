//! Generated files that the command line names.

use std::collections::BTreeMap;

use super::derived::is_derived;
use crate::{
    advice::Script,
    cli::Files,
    error::{Failure, Result},
    memory,
    name::is_near,
    project::{FILE, Project},
    prompt::Prompt,
    template,
    tree::{Owner, RelPath},
};

/// Parses paths, each once. Shells complete a leading `./` and a trailing `/`; both are dropped.
pub fn paths_of(texts: &[String]) -> Result<Vec<RelPath>> {
    let mut paths = Vec::new();
    for text in texts {
        let text = text.strip_prefix("./").unwrap_or(text);
        let path: RelPath = text.strip_suffix('/').unwrap_or(text).parse()?;
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    Ok(paths)
}

/// The paths of the command line, or on a terminal a choice among those that are `there`. `none` is the note if there are none;
/// `help` is the command for one path.
pub fn paths_or_choice(
    files: &Files,
    prompt: Prompt<'_>,
    mut there: Vec<RelPath>,
    none: &str,
    help: impl FnOnce(&str) -> Script,
) -> Result<Vec<RelPath>> {
    if !files.paths.is_empty() {
        return paths_of(&files.paths);
    }
    let names: Vec<String> = there.iter().map(ToString::to_string).collect();
    let Some(first) = names.first() else {
        return Err(Failure::usage("`PATH` is missing")
            .note(none)
            .advise(Script::forge("status")));
    };
    let at = prompt.choose("Which file?", &["PATH"], help(first), &names)?;
    Ok(vec![there.swap_remove(at)])
}

/// The refusal of `path`, an argument of `command` that is not among the generated files.
pub fn unknown(
    command: &'static str,
    path: &RelPath,
    generated: &BTreeMap<RelPath, Owner>,
) -> Failure {
    let text = path.as_str();
    let refuse = |note: &str, advice: Script| {
        Failure::refused(format!("`{path}` is not generated"))
            .note(note)
            .advise(advice)
    };
    if text == FILE || text.starts_with(memory::DIRECTORY) {
        let record = "it is the record of the project, which every command writes";
        return refuse(record, Script::forge("sync"));
    }
    if is_derived(text) {
        let derived = "`make manifests` writes it; without the header `# generated`, it is yours";
        return refuse(derived, Script::of("make manifests"));
    }
    let mut inside = generated.iter().filter(|(file, _)| file.is_below(path));
    if inside.clone().next().is_some() {
        let can_own = inside.find(|(_, owner)| command != "own" || **owner != Owner::User);
        let advice = match can_own {
            Some((first, _)) => Script::forge(command).arg(first.as_str()),
            None => Script::forge("status --all"),
        };
        return refuse(
            "it is a directory, and each file in it has an owner",
            advice,
        );
    }
    let (directory, name) = split(path);
    let same_name = generated.keys().filter(|other| split(other).1 == name);
    let near_name = |other: &&RelPath| {
        let (beside, near) = split(other);
        beside == directory && is_near(stem(name), stem(near))
    };
    let near = same_name.min_by_key(|other| other.parents().count());
    match near.or_else(|| generated.keys().find(near_name)) {
        Some(near) => refuse(
            "paths are relative to the project's directory",
            Script::forge(command).arg(near.as_str()),
        ),
        None => refuse(
            "nothing in `PROJECT` generates it, so it is yours",
            Script::forge("status --all"),
        ),
    }
}

/// The directory and the name of a file.
fn split(path: &RelPath) -> (&str, &str) {
    let path = path.as_str();
    path.rsplit_once('/').unwrap_or(("", path))
}

/// A name without its extensions.
fn stem(name: &str) -> &str {
    name.split_once('.').map_or(name, |(stem, _)| stem)
}

/// Refuses a path that cannot be taken over: nothing is generated there, or the file is a User file.
pub fn check(path: &RelPath, generated: &BTreeMap<RelPath, Owner>) -> Result<()> {
    match generated.get(path) {
        None => Err(unknown("own", path, generated)),
        Some(Owner::User) => Err(Failure::refused(format!("`{path}` is yours already"))
            .note("it was written once, and no command rewrites it; `status --all` lists the owners of all files")
            .advise(Script::forge("status --all"))),
        Some(_) => Ok(()),
    }
}

/// Checks entries that were added to `owned` by hand since `applied` like arguments of `own`. An older entry may name a file that
/// is no longer generated.
pub fn check_list(project: &Project, applied: &Project) -> Result<()> {
    let before = &applied.settings.owned;
    let added: Vec<_> = project.settings.owned.difference(before).collect();
    if added.is_empty() {
        return Ok(());
    }
    let mut without = project.clone();
    without.settings.owned.clone_from(before);
    let generated = template::owners(&without)?;
    let diff = Script::of("diff").arg(memory::APPLIED_PROJECT).arg(FILE);
    added.into_iter().try_for_each(|path| {
        check(path, &generated).map_err(|failure| Failure {
            advice: vec![diff.clone().into()],
            ..failure.note("`PROJECT` lists it under `owned`")
        })
    })
}
