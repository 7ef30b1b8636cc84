//! The refusals of a directory that is no project, or has lost what says that it is one.

use std::path::Path;

use crate::{
    error::{Failure, Result},
    memory,
};

/// Refuses what is no directory; `help` names one.
pub fn check_directory(root: &Path, help: impl Fn(&Path) -> String) -> Result<()> {
    if root.exists() && !root.is_dir() {
        return Err(
            Failure::refused(format!("`{}` is not a directory", root.display()))
                .note("a project is a directory")
                .advise(help(root)),
        );
    }
    Ok(())
}

/// There was a project, and its file is gone.
pub fn lost_project(root: &Path) -> Failure {
    let lost = Failure::refused(format!("`{}` has lost its PROJECT file", root.display()));
    let said = format!("`{}` says that there was one", memory::LOCK);
    let lost = match root.join(memory::APPLIED_PROJECT).is_file() {
        true => lost.note(format!("{said}; its last applied text is kept beside it")),
        false => lost.note(said),
    };
    lost.advise(put_back(root))
}

/// The line that makes a PROJECT that is gone what it last was.
pub fn put_back(root: &Path) -> String {
    match root.join(memory::APPLIED_PROJECT).is_file() {
        true => format!("cp {} PROJECT", memory::APPLIED_PROJECT),
        false => "git checkout -- PROJECT".to_owned(),
    }
}
