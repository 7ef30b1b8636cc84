//! The little that the tool needs of git.

use std::{collections::BTreeMap, path::Path, process::Command};

use crate::tree::{self, RelPath};

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

/// The texts of a file that a merge, rebase or cherry-pick could not put together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unmerged {
    /// Before the two branches; `None` where it was not there.
    pub ancestor: Option<String>,
    /// On the branch that was there; `None` where it was deleted.
    pub ours: Option<String>,
    /// On the branch that came; `None` where it was deleted.
    pub theirs: Option<String>,
}

/// The files below `directory` that git could not merge, as far as they are `wanted`; none where there is no git, no
/// repository, or nothing to merge.
pub fn unmerged(
    directory: &Path,
    wanted: impl Fn(&RelPath) -> bool,
) -> BTreeMap<RelPath, Unmerged> {
    let mut files: BTreeMap<RelPath, Unmerged> = BTreeMap::new();
    if !is_inside_repository(directory) {
        return files;
    }
    let list = git(directory, &["ls-files", "--unmerged", "-z"]).unwrap_or_default();
    for line in String::from_utf8_lossy(&list).split('\0') {
        // `mode object stage<TAB>path`
        let Some((facts, path)) = line.split_once('\t') else {
            continue;
        };
        let Some(path) = RelPath::parse(path).ok().filter(&wanted) else {
            continue;
        };
        let mut facts = facts.split(' ').skip(1);
        let text = facts.next().and_then(|object| text(directory, object));
        let file = files.entry(path).or_default();
        match facts.next() {
            Some("1") => file.ancestor = text,
            Some("2") => file.ours = text,
            _ => file.theirs = text,
        }
    }
    files
}

fn text(directory: &Path, object: &str) -> Option<String> {
    let bytes = git(directory, &["cat-file", "blob", object])?;
    String::from_utf8(tree::unix_line_ends(&bytes).into_owned()).ok()
}

/// The texts of a file in the merge that the last commit is; `None` where it is none, or was settled in another way than by
/// keeping the file of one branch.
pub fn merged(directory: &Path, path: &str) -> Option<Unmerged> {
    if !is_inside_repository(directory) {
        return None;
    }
    let text = |commit: &str| {
        let bytes = git(directory, &["show", &format!("{commit}:./{path}")])?;
        String::from_utf8(tree::unix_line_ends(&bytes).into_owned()).ok()
    };
    let theirs = text("HEAD^2")?;
    let base = git(directory, &["merge-base", "HEAD^1", "HEAD^2"])?;
    let unmerged = Unmerged {
        ancestor: text(String::from_utf8(base).ok()?.trim()),
        ours: text("HEAD^1"),
        theirs: Some(theirs),
    };
    (text("HEAD") == unmerged.ours).then_some(unmerged)
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
