//! `undo`: takes back the changes of the last command, `PROJECT` and the memory included.

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
    let transaction = match flags.dry_run {
        true => None,
        false => Some(Transaction::begin(&disk, "undo")?),
    };
    let mut undo = apply::last(&disk)?;
    report.at("Writing", format!("{} files", undo.steps.len()));
    match transaction {
        Some(mut transaction) => apply::apply(&mut transaction, undo.steps)?,
        None => apply::check(&disk, &mut undo.steps)?,
    }
    let mut next = Vec::new();
    let project = undo.set.visible().find(|it| it.path.as_str() == FILE);
    if project.is_some_and(|change| change.after.is_none()) {
        next.push(NextStep::new(
            "what is left is the record to take this back by; where you do not want that, remove it:",
            Script::of("rm -r").arg(memory::DIRECTORY),
        ));
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
