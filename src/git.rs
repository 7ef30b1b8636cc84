//! The little that the tool needs of git.

use std::{io, path::Path, process::Command};

use crate::tree;

/// Whether `directory` is inside a repository already.
pub fn is_inside_repository(directory: &Path) -> bool {
    let full = std::path::absolute(directory).unwrap_or_else(|_| directory.to_path_buf());
    full.ancestors()
        .any(|ancestor| ancestor.join(".git").exists())
}

/// Makes a repository in `directory`; says why if it cannot.
pub fn init(directory: &Path) -> Result<(), String> {
    match Command::new("git")
        .args(["init", "--quiet"])
        .current_dir(directory)
        .output()
    {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// The files below `directory` with changes that are not committed, as git names them; none where there is no
/// repository or no git. Says why if git cannot tell.
pub fn uncommitted(directory: &Path) -> Result<Vec<String>, String> {
    if !is_inside_repository(directory) {
        return Ok(Vec::new());
    }
    match Command::new("git")
        .args(["status", "--porcelain", "--untracked-files=all", "--", "."])
        .current_dir(directory)
        .output()
    {
        Ok(output) if output.status.success() => Ok(String::from_utf8_lossy(&output.stdout)
            .lines()
            .filter_map(|line| line.get(3..))
            .map(str::to_owned)
            .collect()),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error.to_string()),
    }
}

/// The text of a file before the two branches that a merge, rebase or cherry-pick could not put together; `None` where
/// git has none for it: there was no file, it was settled, or nothing is being merged.
pub fn ancestor(directory: &Path, path: &str) -> Option<String> {
    let output = git(directory, &["show", &format!(":1:./{path}")])?;
    String::from_utf8(tree::unix_line_ends(&output).into_owned()).ok()
}

/// Whether git waits for conflicts to be settled.
pub fn is_merging(directory: &Path) -> bool {
    git(directory, &["ls-files", "--unmerged", "."]).is_some_and(|files| !files.is_empty())
}

/// What a read-only git command prints, if there is git, a repository, and nothing wrong.
fn git(directory: &Path, arguments: &[&str]) -> Option<Vec<u8>> {
    let output = Command::new("git")
        .args(["--no-optional-locks", "-C"])
        .arg(directory)
        .args(arguments)
        .output()
        .ok()?;
    output.status.success().then_some(output.stdout)
}
