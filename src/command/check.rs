//! `check`: changes nothing, and fails unless `sync` would find nothing to do. With `--crds` it compares CRDs instead.

use super::{
    Survey, Workspace,
    attributes::{self, Expected},
};
use crate::{
    change::ChangeSet,
    cli::{Check, Global},
    error::{Failure, Result},
    project::Project,
    report::{Drift, Outcome, Report},
    template,
    tree::{Found, unix_line_ends},
};

mod crds;

pub fn run(flags: &Global, check: &Check, report: &Report) -> Result<u8> {
    match &check.crds {
        None if !check.allow.is_empty() => Err(Failure::usage("`--allow` without `--crds`")
            .note("it accepts what a change of the CRDs breaks")
            .help("operator-forge check --crds RELEASED --allow RULE")),
        Some(released) => crds::run(flags, released, &check.allow, report),
        None => files(flags, report),
    }
}

fn files(flags: &Global, report: &Report) -> Result<u8> {
    let (workspace, project) = Workspace::open(&flags.directory)?;
    let survey = Survey::of(&workspace, &project)?;
    let set = survey.drift(&project)?;
    let drifts = drifts(&project, &survey)?;
    let failure = failure(&set, &drifts);
    report.check(
        &Outcome {
            command: "check",
            set: &set,
            moved: &[],
            remarks: &[],
            next: &[],
        },
        &drifts,
        failure.as_ref(),
    );
    Ok(u8::from(failure.is_some()))
}

/// Where a type's attribute is not what `PROJECT` says.
fn drifts(project: &Project, survey: &Survey) -> Result<Vec<Drift>> {
    let mut drifts = Vec::new();
    for (path, api) in template::all_types(project)? {
        if let Some(Found::File(bytes)) = survey.found.get(&path) {
            let source = unix_line_ends(bytes);
            let source = String::from_utf8_lossy(&source);
            drifts.extend(attributes::compare(&path, &source, &Expected::of(&api)));
        }
    }
    Ok(drifts)
}

/// Why the check fails, if it does.
fn failure(set: &ChangeSet, drifts: &[Drift]) -> Option<Failure> {
    let mut failure = Failure::refused("the files are not what `PROJECT` says");
    let (files, record) = (set.visible().count(), set.changes.len());
    match files {
        0 if record == 0 => {}
        0 => {
            failure =
                failure.note("`.operator-forge/` is not as the last command would have left it")
        }
        1 => failure = failure.note("1 file would change"),
        n => failure = failure.note(format!("{n} files would change")),
    }
    if set.notes.len() + set.conflicts.len() > 0 {
        failure = failure.note("the warnings above need a decision");
    }
    if record + set.conflicts.len() > 0 {
        failure = failure.help("operator-forge sync");
    }
    for note in &set.notes {
        failure.help.extend(note.what.help(&note.path));
    }
    for drift in drifts {
        failure = failure.note(drift.note()).help(drift.help());
    }
    let settled = record + set.conflicts.len() + set.notes.len() + drifts.len() == 0;
    (!settled).then_some(failure)
}
