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
    report::{Outcome, Report},
    tree::{Found, RelPath, unix_line_ends},
};

mod crds;

pub fn run(flags: &Global, check: &Check, report: &Report) -> Result<u8> {
    match &check.crds {
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
            remarks: &[],
            next: &[],
        },
        failure.as_ref(),
    );
    Ok(u8::from(failure.is_some()))
}

/// Where a type's attribute is not what `PROJECT` says: what is wrong, and what makes it right.
fn drifts(project: &Project, survey: &Survey) -> Result<Vec<(String, String)>> {
    let mut drifts = Vec::new();
    for api in project.apis() {
        let path = RelPath::parse(&Expected::path(&api))?;
        let Some(Found::File(bytes)) = survey.found.get(&path) else {
            continue;
        };
        let source = unix_line_ends(bytes);
        let expected = Expected::of(&api);
        match attributes::compare(&String::from_utf8_lossy(&source), &expected) {
            Ok(found) => drifts.extend(found.into_iter().map(|drift| {
                let at = format!("{path}:{}", drift.line);
                let has = |text: &str| match text {
                    "" => format!("no {}", drift.field),
                    text => format!("{} `{text}`", drift.field),
                };
                let field = drift.field;
                let note = format!(
                    "`{at}` has {}, `PROJECT` has {}",
                    has(&drift.file),
                    has(&drift.project)
                );
                let edit = match drift.paste.as_str() {
                    "" if field == "scope" => "remove `namespaced`".to_owned(),
                    "" => "remove `shortname`".to_owned(),
                    paste => format!("write `{paste}`"),
                };
                let help = match field {
                    "group" | "version" | "kind" => format!("in `{at}`, {edit}"),
                    _ => format!("in `{at}`, {edit}; or make `PROJECT` agree with the file"),
                };
                (note, help)
            })),
            Err((line, column, why)) => drifts.push((
                format!("`{path}:{line}:{column}` does not parse, so it was not compared with `PROJECT`: {why}"),
                "cargo check".to_owned(),
            )),
        }
    }
    Ok(drifts)
}

/// Why the check fails, if it does.
fn failure(set: &ChangeSet, drifts: &[(String, String)]) -> Option<Failure> {
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
    for (note, help) in drifts {
        failure = failure.note(note).help(help);
    }
    let settled = record + set.conflicts.len() + set.notes.len() + drifts.len() == 0;
    (!settled).then_some(failure)
}
