//! Generated files that the command line names by their path.

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

/// Parses paths, each once. Shells complete a leading `./` and a `/` at the end; both are dropped.
pub fn paths_of(texts: &[String]) -> Result<Vec<RelPath>> {
    let mut paths = Vec::new();
    for text in texts {
        let text = text.strip_prefix("./").unwrap_or(text);
        let path = RelPath::parse(text.strip_suffix('/').unwrap_or(text))?;
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    Ok(paths)
}

/// The paths on the command line, or a choice among those that are `there`. `none` explains an empty choice; `help` is the
/// command for one of them.
pub fn paths_or_choice(
    files: &Files,
    prompt: Prompt<'_>,
    there: impl IntoIterator<Item = RelPath>,
    none: &str,
    help: impl FnOnce(&str) -> Script,
) -> Result<Vec<RelPath>> {
    if !files.paths.is_empty() {
        return paths_of(&files.paths);
    }
    let mut there: Vec<RelPath> = there.into_iter().collect();
    let names: Vec<String> = there.iter().map(ToString::to_string).collect();
    let Some(first) = names.first() else {
        return Err(Failure::usage("`PATH` is missing")
            .note(none)
            .advise(Script::forge("status")));
    };
    let at = prompt.choose("Which file?", &["PATH"], help(first), &names)?;
    Ok(vec![there.swap_remove(at)])
}

/// Explains why `path`, an argument of `command`, is not in `desired`.
pub fn unknown(
    command: &'static str,
    path: &RelPath,
    desired: &BTreeMap<RelPath, Owner>,
) -> Failure {
    let text = path.as_str();
    let failure = Failure::refused(format!("`{path}` is not generated"));
    if text == FILE || text.starts_with(memory::DIRECTORY) {
        return failure
            .note("it is the record of the project, which every command writes")
            .advise(Script::forge("sync"));
    }
    if is_derived(text) {
        return failure
            .note("the project's own code writes it, and leaves a file without its header alone")
            .advise(Script::of("make manifests"));
    }
    let directory = format!("{}/", text.trim_end_matches('/'));
    let mut inside = desired
        .iter()
        .filter(|(path, _)| path.as_str().starts_with(&directory))
        .peekable();
    if inside.peek().is_some() {
        let of_tool = inside.find(|(_, owner)| command != "own" || **owner != Owner::User);
        return failure
            .note("it is a directory, and each file in it has an owner")
            .advise(match of_tool {
                Some((first, _)) => Script::forge(command).arg(first.as_str()),
                None => Script::forge("status --all"),
            });
    }
    let split = |path: &str| {
        let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
        (directory.to_owned(), name.to_owned())
    };
    let stem = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    let (directory, name) = split(text);
    let of_that_name = |path: &&RelPath| split(path.as_str()).1 == name;
    let of_near_name = |path: &&RelPath| {
        let (other, near) = split(path.as_str());
        other == directory && is_near(&stem(&name), &stem(&near))
    };
    let near = desired.keys().filter(of_that_name);
    let near = near.min_by_key(|path| path.parents().count());
    match near.or_else(|| desired.keys().find(of_near_name)) {
        Some(near) => failure
            .note("paths are relative to the project's directory")
            .advise(Script::forge(command).arg(near.as_str())),
        None => failure
            .note("nothing in `PROJECT` asks for it, so it is yours alone")
            .advise(Script::forge("status --all")),
    }
}

/// Refuses a path that nobody can take over: nothing is generated there, or the file is a User file.
pub fn check(path: &RelPath, desired: &BTreeMap<RelPath, Owner>) -> Result<()> {
    match desired.get(path) {
        None => Err(unknown("own", path, desired)),
        Some(Owner::User) => {
            Err(Failure::refused(format!("`{path}` is yours already"))
                .note("it was written once, and no command rewrites it; `status --all` shows whose each file is")
                .advise(Script::forge("status --all")))
        }
        Some(_) => Ok(()),
    }
}

/// Holds new entries of `owned`, written by hand since `applied`, to the rules of `own`. An older entry may name a file that
/// is no longer generated.
pub fn check_list(project: &Project, applied: &Project) -> Result<()> {
    let before = &applied.settings.owned;
    let added: Vec<_> = project.settings.owned.difference(before).collect();
    if added.is_empty() {
        return Ok(());
    }
    let mut without = project.clone();
    without.settings.owned.clone_from(before);
    let desired = template::owners(&without)?;
    for path in added {
        check(path, &desired).map_err(|failure| Failure {
            advice: vec![
                Script::of("diff")
                    .arg(memory::APPLIED_PROJECT)
                    .arg(FILE)
                    .into(),
            ],
            ..failure.note("`PROJECT` lists it under `owned`")
        })?;
    }
    Ok(())
}
