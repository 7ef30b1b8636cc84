//! The little that the tool needs of git.

use std::{path::Path, process::Command};

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
