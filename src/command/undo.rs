//! `undo`: reverts the changes of the last command, including `PROJECT` and the lock.

use crate::{
    advice::{NextStep, Script},
    apply::{self, Transaction},
    cli::Global,
    engine::next,
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
    let is_gone = undo
        .set
        .visible()
        .any(|it| it.path.as_str() == FILE && it.after.is_none());
    let next = [
        match is_gone {
            true => NextStep::new(
                "remove the record of the project, which only `undo` needs now:",
                Script::of("rm -r").arg(memory::DIRECTORY),
            ),
            false => next::manifests(),
        },
        NextStep::new("redo it:", Script::forge("undo")),
    ];
    report.outcome(&Outcome {
        command: "undo",
        set: &undo.set,
        remarks: &[format!("reverts `{}`", undo.command)],
        left: &[],
        next: &next,
    });
    Ok(0)
}
