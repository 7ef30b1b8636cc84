//! The generated file that a path on the command line names.

use std::collections::BTreeMap;

use super::derived::is_derived;
use crate::{
    cli::Files,
    error::{Failure, Result},
    memory,
    name::is_near,
    project::FILE,
    prompt::Prompt,
    shell,
    tree::{Owner, RelPath},
};

/// The paths as the tree has them, each once. A leading `./` is what shells complete, and a `/` at the end.
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

/// The paths on the command line, or the one that is chosen of those that are `there`. `help` shows what comes next.
pub fn paths_or_choice(
    files: &Files,
    prompt: Prompt<'_>,
    there: impl IntoIterator<Item = RelPath>,
    (none, help): (&str, &str),
) -> Result<Vec<RelPath>> {
    if !files.paths.is_empty() {
        return paths_of(&files.paths);
    }
    let mut there: Vec<RelPath> = there.into_iter().collect();
    let names: Vec<String> = there.iter().map(ToString::to_string).collect();
    let Some(first) = names.first() else {
        return Err(Failure::usage("`PATH` is missing")
            .note(none)
            .advise("operator-forge status"));
    };
    let help = help.replace("PATH", &shell::word(first));
    let at = prompt.choose("Which file?", &["PATH"], help, &names)?;
    Ok(vec![there.swap_remove(at)])
}

/// Why nothing in `desired` is at `path`, which was given to `command`.
pub fn unknown(command: &str, path: &RelPath, desired: &BTreeMap<RelPath, Owner>) -> Failure {
    let text = path.as_str();
    let failure = Failure::refused(format!("`{path}` is not generated"));
    if text == FILE || text.starts_with(memory::DIRECTORY) {
        return failure
            .note("it is the record of the project, which every command writes")
            .advise("operator-forge sync");
    }
    if is_derived(text) {
        return failure
            .note("the project's own code writes it, and leaves a file without its header alone")
            .advise("make manifests");
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
                Some((first, _)) => format!("operator-forge {command} {first}"),
                None => "operator-forge status --all".to_owned(),
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
            .advise(format!("operator-forge {command} {near}")),
        None => failure
            .note("nothing in `PROJECT` asks for it, so it is yours alone")
            .advise("operator-forge status --all"),
    }
}
