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

/// The files below `path` (relative to `directory`) as the revision has them, with their paths; says why if it cannot.
pub fn files_at(
    directory: &Path,
    revision: &str,
    path: &str,
) -> Result<Vec<(String, Vec<u8>)>, String> {
    let commit = output(
        directory,
        &[
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            &format!("{revision}^{{commit}}"),
        ],
    )
    .map_err(|why| {
        if why.is_empty() {
            "git knows no such revision".to_owned()
        } else {
            why
        }
    })?;
    let commit = String::from_utf8_lossy(&commit).trim().to_owned();
    let list = output(directory, &["ls-tree", "-r", "-z", &commit, "--", path])?;
    let mut files = Vec::new();
    for row in list.split(|byte| *byte == 0) {
        // `<mode> blob <object>\t<path>`
        let row = String::from_utf8_lossy(row);
        let Some((about, path)) = row.split_once('\t') else {
            continue;
        };
        if let [_, "blob", object] = about.split(' ').collect::<Vec<_>>()[..] {
            files.push((
                path.to_owned(),
                output(directory, &["cat-file", "blob", object])?,
            ));
        }
    }
    Ok(files)
}

/// What `git` prints; what it says if it fails.
fn output(directory: &Path, arguments: &[&str]) -> Result<Vec<u8>, String> {
    match Command::new("git")
        .args(arguments)
        .current_dir(directory)
        .output()
    {
        Ok(output) if output.status.success() => Ok(output.stdout),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        Err(error) => Err(format!("cannot run git: {error}")),
    }
}
