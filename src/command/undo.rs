//! `undo`: takes back what the last command did to the files, PROJECT and the memory included.

use crate::{
    apply::{self, Turn},
    cli::Global,
    error::Result,
    report::{Outcome, Report},
};

pub fn run(flags: &Global, report: &Report) -> Result<u8> {
    let disk = apply::Real::new(&flags.directory);
    let turn = if flags.dry_run {
        None
    } else {
        Some(Turn::begin(&disk, "undo")?)
    };
    let mut undo = apply::last(&disk)?;
    match turn {
        Some(mut turn) => apply::apply(&mut turn, undo.steps)?,
        None => apply::check(&disk, &mut undo.steps)?,
    }
    report.outcome(&Outcome {
        command: "undo",
        set: &undo.set,
        remarks: &[format!("takes back `{}`", undo.command)],
        next: &[
            (
                "derive CRDs and RBAC again:".to_owned(),
                Some("make manifests".to_owned()),
            ),
            (
                "take this back in turn:".to_owned(),
                Some("operator-forge undo".to_owned()),
            ),
        ],
    });
    Ok(0)
}
