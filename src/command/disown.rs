//! `disown`: gives files back that were taken over. They become what the templates say.

use std::collections::BTreeSet;

use super::{Edit, Workspace, file_of::path_of, reconcile, refuse_keep};
use crate::{
    cli::{Files, Global},
    error::{Failure, Result},
    prompt::Prompt,
    report::Report,
};

pub fn run(flags: &Global, files: &Files, report: &Report) -> Result<u8> {
    let again = format!("operator-forge disown {}", files.paths.join(" "));
    refuse_keep(flags, "disown", &again)?;
    let (workspace, mut project) = Workspace::open(&flags.directory)?;
    let mut forced = BTreeSet::new();
    for text in &files.paths {
        let path = path_of(text)?;
        project = project.disown(&path)?;
        forced.insert(path);
    }
    let edit = Edit {
        forced,
        ..Edit::of("disown", project)
    };
    let prompt = Prompt::new(!flags.no_input && !report.is_json());
    if flags.dry_run || !prompt.is_allowed() {
        return reconcile(&workspace, &edit, flags, report);
    }
    let mut shown = flags.clone();
    (shown.dry_run, shown.diff) = (true, true);
    reconcile(&workspace, &edit, &shown, &Report::new(&shown))?;
    if !prompt.yes("--no-input", "Replace what is yours?", None, false)? {
        return Err(Failure::refused("nothing was written")
            .note("the files stay yours; with `--no-input` nothing is asked")
            .help(format!("{again} --no-input")));
    }
    (shown.dry_run, shown.diff, shown.quiet) = (false, false, true);
    reconcile(&workspace, &edit, &shown, &Report::new(&shown))
}
