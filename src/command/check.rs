//! `check`: fails if `sync` would change a file or leave a warning. With `--crds`, it compares CRDs instead.

use crate::{
    advice::{Advice, Script},
    change::{ChangeSet, Policy},
    cli::{Check, Global},
    engine::{Request, Snapshot, Workspace, drift::drifts, entries},
    error::{Failure, Result},
    report::{Drift, Outcome, Report},
};

mod crds;

pub fn run(flags: &Global, check: &Check, report: &Report) -> Result<u8> {
    match &check.crds {
        None if !check.allow.is_empty() => Err(Failure::usage("`--allow` without `--crds`")
            .note("it accepts an incompatible change of CRDs")
            .advise(Script::forge("check --help"))),
        Some(released) => crds::run(flags, released, &check.allow, report),
        None => files(flags, report),
    }
}

fn files(flags: &Global, report: &Report) -> Result<u8> {
    let workspace = Workspace::open(&flags.directory)?;
    let request = Request::of("check", workspace.project.clone());
    report.at("Rendering", entries(&request.project));
    let mut snapshot = Snapshot::of(&workspace, &request, Policy::Abort)?;
    let files = snapshot.inputs.found.len();
    report.at("Comparing", format!("{files} files"));
    snapshot.resolve_lost()?;
    let set = snapshot.plan()?;
    let drifts = drifts(&snapshot)?;
    let failure = failure(&set, &drifts);
    let remarks: Vec<String> = snapshot.lacking(&set).into_iter().collect();
    report.check(
        &Outcome {
            command: request.command,
            set: &set,
            remarks: &remarks,
            left: &[],
            next: &[],
        },
        &drifts,
        failure.as_ref(),
    );
    Ok(u8::from(failure.is_some()))
}

/// The failure of the check, if it fails.
fn failure(set: &ChangeSet, drifts: &[Drift]) -> Option<Failure> {
    let mut failure = Failure::refused("the files are not what `PROJECT` says");
    let (files, record) = (set.shown().len(), set.all().count());
    match files {
        0 if record == 0 => {}
        0 => failure = failure.note("`.operator-forge/` differs from what the last command wrote"),
        1 => failure = failure.note("1 file would change"),
        n => failure = failure.note(format!("{n} files would change")),
    }
    if set.notes.len() + set.conflicts.len() > 0 {
        failure = failure.note("the warnings above need a decision");
    }
    let room = set.makes_room();
    if room.is_empty() && record + set.conflicts.len() > 0 {
        failure = failure.advise(Script::forge("sync"));
    }
    failure.advice.extend(room.into_iter().map(Advice::from));
    for note in &set.notes {
        failure.advice.extend(note.help());
    }
    for drift in drifts {
        failure = failure.note(drift.note());
        let help = Advice::from(drift.help());
        if !failure.advice.contains(&help) {
            failure = failure.advise(help);
        }
    }
    let settled = record + set.conflicts.len() + set.notes.len() + drifts.len() == 0;
    (!settled).then_some(failure)
}
