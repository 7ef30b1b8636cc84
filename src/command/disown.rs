//! `disown`: gives files back that were taken over. They become what the templates say.

use std::collections::BTreeSet;

use crate::{
    advice::Advice,
    advice::Script,
    cli::{Files, Global},
    engine::{
        Request, Workspace,
        file_of::{paths_or_choice, unknown},
        reconcile, refuse_keep,
    },
    error::{Failure, Result},
    prompt::Prompt,
    report::Report,
    template,
    tree::{Owner, RelPath},
};

pub fn run(flags: &Global, files: &Files, report: &Report) -> Result<u8> {
    refuse_keep(flags, "disown")?;
    let (workspace, project) = Workspace::open(&flags.directory)?;
    let prompt = Prompt::new(report, !flags.no_input);
    let help = |path: &str| Script::forge("disown").arg(path).code("--dry-run --diff");
    let there = project.settings.owned.iter().cloned();
    let paths = paths_or_choice(files, prompt, there, "no file was taken over", help)?;
    let forced: BTreeSet<_> = paths.into_iter().collect();
    let desired = template::owners(&project)?;
    let owned = &project.settings.owned;
    let is_known = |path: &&RelPath| desired.contains_key(*path) || owned.contains(*path);
    if let Some(path) = forced.iter().find(|path| !is_known(path)) {
        let owned = owned.iter().map(|path| (path.clone(), Owner::User));
        return Err(unknown("disown", path, &owned.collect()));
    }
    let project = project.disown(&forced)?;
    let refusal = Failure::refused("nothing was written")
        .note("the files stay yours; with `--no-input` nothing is asked")
        .advise(Advice::switch("--no-input"));
    let request = Request {
        forced,
        question: Some(("Replace what is yours?", refusal)),
        ..Request::of("disown", project)
    };
    reconcile(&workspace, &request, flags, report)
}
