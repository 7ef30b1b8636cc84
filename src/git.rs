//! The little that the tool needs of git.

use std::{io, path::Path, process::Command};

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
