//! `restore`: writes generated files again that were deleted.

use std::collections::BTreeSet;

use crate::{
    advice::Script,
    cli::{Files, Global},
    engine::{
        Request, Workspace,
        file_of::{paths_or_choice, unknown},
        reconcile,
    },
    error::{Failure, Result},
    prompt::Prompt,
    report::Report,
    template,
    tree::{self, Found, RelPath},
};

pub fn run(flags: &Global, files: &Files, report: &Report) -> Result<u8> {
    let (workspace, project) = Workspace::open(&flags.directory)?;
    let desired = template::owners(&project)?;
    let is_there = |path: &RelPath| {
        Ok::<_, Failure>(matches!(tree::find(&workspace.root, path)?, Found::File(_)))
    };
    let is_deleted = |path: &RelPath| {
        let moved = path.as_module_directory();
        let mut places = [Some(path.clone()), moved].into_iter().flatten();
        places.all(|path| is_there(&path).is_ok_and(|is_there| !is_there))
    };
    let mut forced = BTreeSet::new();
    let there = desired.keys().filter(|path| is_deleted(path)).cloned();
    let none = "no generated file was deleted";
    let help = |path: &str| Script::forge("restore").arg(path);
    let prompt = Prompt::new(report, !flags.no_input);
    for path in paths_or_choice(files, prompt, there, none, help)? {
        if !desired.contains_key(&path) {
            let mut deleted = desired.clone();
            deleted.retain(|path, _| is_deleted(path));
            return Err(match tree::find(&workspace.root, &path)? {
                Found::Obstacle(_) if deleted.keys().all(|file| !file.is_below(&path)) => {
                    Failure::refused(format!("no generated file in `{path}` was deleted"))
                        .note("a file that is there is not replaced: it may hold your edits")
                        .advise(Script::forge("status --all"))
                }
                _ => unknown("restore", &path, &deleted),
            });
        }
        if let Some(module) = path.as_module_directory()
            && is_there(&module)?
        {
            return Err(Failure::refused(format!("`{path}` has become `{module}`"))
                .note("both are the same module, and Rust takes one of them")
                .advise(Script::of("mv -i").arg(module.as_str()).arg(path.as_str())));
        }
        if is_there(&path)? {
            return Err(Failure::refused(format!("`{path}` was not deleted"))
                .note("a file that is there is not replaced: it may hold your edits")
                .advise(
                    Script::put_aside(path.as_str())
                        .then(Script::forge("restore").arg(path.as_str())),
                ));
        }
        forced.insert(path);
    }
    let request = Request {
        forced,
        ..Request::of("restore", project)
    };
    reconcile(&workspace, &request, flags, report)
}
