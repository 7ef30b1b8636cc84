//! `restore`: writes generated files again that were deleted.

use std::collections::BTreeSet;

use super::{
    Edit, Workspace,
    file_of::{paths_of, unknown},
    reconcile,
};
use crate::{
    cli::{Files, Global},
    error::{Failure, Result},
    report::Report,
    shell, template,
    tree::{self, Found},
};

pub fn run(flags: &Global, files: &Files, report: &Report) -> Result<u8> {
    let (workspace, project) = Workspace::open(&flags.directory)?;
    let desired = template::owners(&project)?;
    let mut forced = BTreeSet::new();
    for path in paths_of(&files.paths)? {
        if !desired.contains_key(&path) {
            return Err(unknown("restore", &path, &desired));
        }
        if let Found::File(_) = tree::find(&workspace.root, &path)? {
            return Err(Failure::refused(format!("`{path}` was not deleted"))
                .note("a file that is there is not replaced: it may hold your edits")
                .help(format!(
                    "{} && operator-forge restore {}",
                    shell::put_aside(path.as_str()),
                    shell::word(path.as_str())
                )));
        }
        forced.insert(path);
    }
    let edit = Edit {
        forced,
        ..Edit::of("restore", project)
    };
    reconcile(&workspace, &edit, flags, report)
}
