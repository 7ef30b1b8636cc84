//! `own`: takes generated files over, so that no command rewrites them any more.

use std::collections::BTreeMap;

use super::{
    Request, Workspace,
    file_of::{paths_or_choice, unknown},
    reconcile,
};
use crate::{
    advice::{NextStep, Script},
    cli::{Files, Global},
    error::{Failure, Result},
    memory,
    project::{FILE, Project},
    prompt::Prompt,
    report::Report,
    template,
    tree::{Owner, RelPath},
};

pub fn run(flags: &Global, files: &Files, report: &Report) -> Result<u8> {
    let (workspace, mut project) = Workspace::open(&flags.directory)?;
    let desired = template::owners(&project)?;
    let is_theirs =
        |path: &&RelPath| desired[*path] != Owner::User && !project.settings.owned.contains(*path);
    let there: Vec<_> = desired.keys().filter(is_theirs).cloned().collect();
    let lines = (
        "every generated file is yours",
        "operator-forge status --all",
    );
    let prompt = Prompt::new(report, !flags.no_input);
    for path in paths_or_choice(files, prompt, there, lines)? {
        // What `PROJECT` lists already deserves that answer.
        let owned = project.own(&path);
        if owned.is_ok() || !desired.contains_key(&path) {
            check(&path, &desired)?;
        }
        project = owned?;
    }
    let request = Request {
        next: vec![NextStep::by_hand(
            "edit what is yours now; what templates would write there later is not written",
        )],
        ..Request::of("own", project)
    };
    reconcile(&workspace, &request, flags, report)
}

/// Refuses a path that nobody can take over: nothing is generated there, or it is the user's from the start.
fn check(path: &RelPath, desired: &BTreeMap<RelPath, Owner>) -> Result<()> {
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

/// Holds what was written under `owned` by hand since `applied` to the rules of the command. An entry that was there
/// may be of a file that no command generates any more.
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
