//! The refusals of a directory that is no project, or has lost what says that it is one.

use std::path::{Component, Path, PathBuf};

use crate::{
    error::{Failure, Result},
    memory,
    project::{self, FILE},
    shell, tree,
};

/// Refuses what is no directory.
pub fn check_directory(root: &Path) -> Result<()> {
    if root.exists() && !root.is_dir() {
        return Err(
            Failure::refused(format!("`{}` is not a directory", root.display()))
                .note("a project is a directory")
                .help(format!(
                    "operator-forge -C {} init",
                    shell::word(&format!("{}-project", root.display()))
                )),
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
    lost.help(put_back(root))
}

/// The line that makes a PROJECT that is gone what it last was.
pub fn put_back(root: &Path) -> String {
    match root.join(memory::APPLIED_PROJECT).is_file() {
        true => format!("cp {} PROJECT", memory::APPLIED_PROJECT),
        false => "git checkout -- PROJECT".to_owned(),
    }
}

/// There is none, but perhaps above.
pub fn no_project(root: &Path) -> Failure {
    let full = tree::full(root);
    match full
        .ancestors()
        .skip(1)
        .find(|ancestor| ancestor.join(FILE).is_file())
    {
        Some(parent) => Failure::refused(format!("no `{FILE}` in `{}`", root.display()))
            .note("a directory above it has one")
            .help(match path_up(root, &full, parent) {
                above if above.as_os_str().is_empty() => "--directory .".to_owned(),
                above => format!("cd {}", shell::word(&above.to_string_lossy())),
            }),
        None => project::missing(root),
    }
}

/// The path to the ancestor `to` of `full`, which is what `root` leads to; empty for the current directory.
fn path_up(root: &Path, full: &Path, to: &Path) -> PathBuf {
    let levels = full.components().count() - to.components().count();
    let mut path = root.strip_prefix(".").unwrap_or(root).to_path_buf();
    for _ in 0..levels {
        match path.components().next_back() {
            Some(Component::Normal(_)) => _ = path.pop(),
            _ => path.push(".."),
        }
    }
    path
}
