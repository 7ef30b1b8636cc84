//! `own`, `disown` and `restore`: commands about generated files that they name.

use crate::{
    advice::{NextStep, Script},
    cli::Files,
    engine::{
        Request, Workspace,
        file_of::{check, paths_or_choice, unknown},
    },
    error::{Failure, Result},
    prompt::Prompt,
    template,
    tree::{self, Found, Owner, RelPath},
};

/// Takes generated files over, so that no command rewrites them any more.
pub fn own(workspace: &Workspace, files: &Files, prompt: Prompt<'_>) -> Result<Request> {
    let mut project = workspace.project.clone();
    let owners = template::owners(&project)?;
    let generated = owners.iter().filter(|(_, owner)| **owner != Owner::User);
    let there: Vec<RelPath> = generated.map(|(path, _)| path.clone()).collect();
    let none = "every generated file is yours";
    let help = |_: &str| Script::forge("status --all");
    for path in paths_or_choice(files, prompt, there, none, help)? {
        // `PROJECT` has a better answer for a file that it lists already.
        let owned = project.own(&path);
        if owned.is_ok() || !owners.contains_key(&path) {
            check(&path, &owners)?;
        }
        project = owned?;
    }
    Ok(Request {
        next: vec![NextStep::by_hand(
            "edit the files: they are yours now, and no command rewrites them",
        )],
        ..Request::of("own", project)
    })
}

/// Gives files back that `own` took over. They become what the templates generate.
pub fn disown(workspace: &Workspace, files: &Files, prompt: Prompt<'_>) -> Result<Request> {
    let project = &workspace.project;
    let owned = &project.settings.owned;
    let help = |path: &str| Script::forge("disown").arg(path).code("--dry-run --diff");
    let there = owned.iter().cloned().collect();
    let paths = paths_or_choice(files, prompt, there, "no file was taken over", help)?;
    let owners = template::owners(project)?;
    let is_known = |path: &&RelPath| owners.contains_key(*path) || owned.contains(*path);
    if let Some(path) = paths.iter().find(|path| !is_known(path)) {
        let owned = owned.iter().map(|path| (path.clone(), Owner::User));
        return Err(unknown("disown", path, &owned.collect()));
    }
    let forced = paths.into_iter().collect();
    let project = project.disown(&forced)?;
    Ok(Request {
        forced,
        question: Some("Replace your files?"),
        ..Request::of("disown", project)
    })
}

/// Writes generated files again that were deleted.
pub fn restore(workspace: &Workspace, files: &Files, prompt: Prompt<'_>) -> Result<Request> {
    let owners = template::owners(&workspace.project)?;
    let find = |path: &RelPath| tree::find(&workspace.root, path);
    let is_gone = |path: &RelPath| matches!(find(path), Ok(Found::Absent | Found::Obstacle(_)));
    let is_deleted =
        |path: &RelPath| is_gone(path) && path.as_module_directory().is_none_or(|it| is_gone(&it));
    let deleted: Vec<RelPath> = owners.keys().filter(|it| is_deleted(it)).cloned().collect();
    let none = "no generated file was deleted";
    let help = |path: &str| Script::forge("restore").arg(path);
    let there = "a file that is there is not replaced: it may hold your edits";
    let paths = paths_or_choice(files, prompt, deleted.clone(), none, help)?;
    for path in &paths {
        if !owners.contains_key(path) {
            let is_directory = matches!(find(path)?, Found::Obstacle(_));
            if is_directory && deleted.iter().all(|file| !file.is_below(path)) {
                return Err(
                    Failure::refused(format!("no generated file in `{path}` was deleted"))
                        .note(there)
                        .advise(Script::forge("status --all")),
                );
            }
            let deleted = deleted.iter().map(|path| (path.clone(), owners[path]));
            return Err(unknown("restore", path, &deleted.collect()));
        }
        if let Some(module) = path.as_module_directory()
            && matches!(find(&module)?, Found::File(_))
        {
            return Err(Failure::refused(format!("`{path}` has become `{module}`"))
                .note("both are the same module, and Rust allows only one of them")
                .advise(Script::of("mv -i").arg(module.as_str()).arg(path.as_str())));
        }
        if matches!(find(path)?, Found::File(_)) {
            let restore = Script::forge("restore").arg(path.as_str());
            return Err(Failure::refused(format!("`{path}` was not deleted"))
                .note(there)
                .advise(Script::put_aside(path.as_str()).then(restore)));
        }
    }
    Ok(Request {
        forced: paths.into_iter().collect(),
        ..Request::of("restore", workspace.project.clone())
    })
}
