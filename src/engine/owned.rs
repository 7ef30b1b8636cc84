//! The files that a project may list under `owned`.

use std::collections::BTreeMap;

use super::file_of::unknown;
use crate::{
    advice::Script,
    error::{Failure, Result},
    memory,
    project::{FILE, Project},
    template,
    tree::{Owner, RelPath},
};

/// Refuses a path that nobody can take over: nothing is generated there, or the file is a User file.
pub fn check(path: &RelPath, desired: &BTreeMap<RelPath, Owner>) -> Result<()> {
    match desired.get(path) {
        None => Err(unknown("own", path, desired)),
        Some(Owner::User) => {
            Err(Failure::refused(format!("`{path}` is yours already"))
                .note("it was written once, and no command rewrites it; `status --all` shows whose each file is")
                .advise(Script::forge("status --all")))
        }
        Some(_) => Ok(()),
    }
}

/// Holds new entries of `owned`, written by hand since `applied`, to the rules of `own`. An older entry may name a file that
/// is no longer generated.
pub fn check_list(project: &Project, applied: &Project) -> Result<()> {
    let before = &applied.settings.owned;
    let added: Vec<_> = project.settings.owned.difference(before).collect();
    if added.is_empty() {
        return Ok(());
    }
    let mut without = project.clone();
    without.settings.owned.clone_from(before);
    let desired = template::owners(&without)?;
    for path in added {
        check(path, &desired).map_err(|failure| Failure {
            advice: vec![
                Script::of("diff")
                    .arg(memory::APPLIED_PROJECT)
                    .arg(FILE)
                    .into(),
            ],
            ..failure.note("`PROJECT` lists it under `owned`")
        })?;
    }
    Ok(())
}
