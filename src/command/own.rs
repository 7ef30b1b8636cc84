//! `own`: takes generated files over, so that no command rewrites them any more.

use super::{
    Edit, Workspace,
    file_of::{path_of, unknown},
    reconcile,
};
use crate::{
    cli::{Files, Global},
    error::{Failure, Result},
    report::Report,
    template,
    tree::Owner,
};

pub fn run(flags: &Global, files: &Files, report: &Report) -> Result<u8> {
    let (workspace, mut project) = Workspace::open(&flags.directory)?;
    let desired = template::tree(&project)?;
    for text in &files.paths {
        let path = path_of(text)?;
        let file = desired
            .get(&path)
            .ok_or_else(|| unknown("own", &path, &desired))?;
        let owned = project.own(&path)?;
        if file.owner == Owner::User {
            return Err(Failure::refused(format!("`{path}` is yours already"))
                .note("it was written once, and no command rewrites it")
                .help("operator-forge status --all, to see whose each file is"));
        }
        project = owned;
    }
    let edit = Edit {
        next: vec![(
            "edit what is yours now; what templates would write there later is not written"
                .to_owned(),
            None,
        )],
        ..Edit::of("own", project)
    };
    reconcile(&workspace, &edit, flags, report)
}
