//! `undo`: takes back what the last command did to the files, PROJECT and the memory included.

use crate::{
    advice::{NextStep, Script},
    apply::{self, Transaction},
    cli::Global,
    error::Result,
    memory,
    project::FILE,
    report::{Outcome, Report},
};

pub fn run(flags: &Global, report: &Report) -> Result<u8> {
    let disk = apply::Real::new(&flags.directory);
    let turn = if flags.dry_run {
        None
    } else {
        Some(Transaction::begin(&disk, "undo")?)
    };
    let mut undo = apply::last(&disk)?;
    report.at("Writing", format!("{} files", undo.steps.len()));
    match turn {
        Some(mut turn) => apply::apply(&mut turn, undo.steps)?,
        None => apply::check(&disk, &mut undo.steps)?,
    }
    let mut next = Vec::new();
    let project = undo.set.visible().find(|it| it.path.as_str() == FILE);
    if project.is_some_and(|change| change.after.is_none()) {
        next.push(NextStep::new("what is left is the record to take this back by; where you do not want that, remove it:", format!("rm -r {}", memory::DIRECTORY)));
    } else {
        next.push(NextStep::new(
            "derive CRDs and RBAC again:",
            Script::of("make manifests"),
        ));
    }
    next.push(NextStep::new(
        "take this back in turn:",
        Script::forge("undo"),
    ));
    report.outcome(&Outcome {
        command: "undo",
        set: &undo.set,
        remarks: &[format!("takes back `{}`", undo.command)],
        next: &next,
    });
    Ok(0)
}
