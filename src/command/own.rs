//! `own`: takes generated files over, so that no command rewrites them any more.

use crate::{
    advice::{NextStep, Script},
    cli::{Files, Global},
    engine::{
        Request, Workspace,
        file_of::{check, paths_or_choice},
        reconcile,
    },
    error::Result,
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
    let none = "every generated file is yours";
    let help = |_: &str| Script::forge("status --all");
    let prompt = Prompt::new(report, !flags.no_input);
    for path in paths_or_choice(files, prompt, there, none, help)? {
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
