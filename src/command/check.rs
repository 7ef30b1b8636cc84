//! `check`: fails if `sync` would find anything to do, and changes nothing. With `--crds` it compares CRDs instead.

use crate::{
    advice::{Advice, Script},
    change::{ChangeSet, Policy},
    cli::{Check, Global},
    engine::{Snapshot, Workspace, drift::drifts, entries},
    error::{Failure, Result},
    report::{Drift, Outcome, Report},
};

mod crds;

pub fn run(flags: &Global, check: &Check, report: &Report) -> Result<u8> {
    match &check.crds {
        None if !check.allow.is_empty() => Err(Failure::usage("`--allow` without `--crds`")
            .note("it accepts what a change of the CRDs breaks")
            .advise(Script::forge("check --help"))),
        Some(released) => crds::run(flags, released, &check.allow, report),
        None => files(flags, report),
    }
}

fn files(flags: &Global, report: &Report) -> Result<u8> {
    let (workspace, project) = Workspace::open(&flags.directory)?;
    report.at("Rendering", entries(&project));
    let mut snapshot = Snapshot::of(&workspace, &project)?;
    report.at("Comparing", format!("{} files", snapshot.found.len()));
    snapshot.settle_lost(false, Policy::Abort)?;
    let (set, drifts) = (snapshot.drift()?, drifts(&snapshot)?);
    let failure = failure(&set, &drifts);
    let remarks: Vec<String> = snapshot.lacking(&set).into_iter().collect();
    report.check(
        &Outcome {
            command: "check",
            set: &set,
            remarks: &remarks,
            next: &[],
        },
        &drifts,
        failure.as_ref(),
    );
    Ok(u8::from(failure.is_some()))
}

/// Why the check fails, if it does.
fn failure(set: &ChangeSet, drifts: &[Drift]) -> Option<Failure> {
    let mut failure = Failure::refused("the files are not what `PROJECT` says");
    let (files, record) = (set.shown().len(), set.all().count());
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
