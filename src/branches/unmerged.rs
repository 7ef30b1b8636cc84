//! Unmerged paths and their texts in git.

use std::{collections::BTreeSet, path::Path};

use crate::{
    error::Result,
    git::{Status, Unmerged},
    memory::{self, Memory},
    merge::markers,
    plan::{self, GitMerge, Progress},
    tree::{self, Found, RelPath},
};

/// The names that git gives to the commit that is merged into the branch.
pub const COMING: [&str; 4] = [
    "MERGE_HEAD",
    "CHERRY_PICK_HEAD",
    "REBASE_HEAD",
    "REVERT_HEAD",
];

/// The texts of the unmerged paths that belong to the project. Without any, those of the `edited` files for which the last commit, a
/// merge, has the text of its first parent.
pub fn git_merge(
    git: &Status,
    root: &Path,
    is_known: impl Fn(&RelPath) -> bool,
    edited: &[RelPath],
) -> Result<GitMerge> {
    let mut texts = git.unmerged(is_known)?;
    if !texts.is_empty() {
        let progress = match is_synced(git, root)? {
            true => Progress::Synced,
            false => Progress::Unmerged,
        };
        return Ok(GitMerge { progress, texts });
    }
    for path in edited {
        if let Some(merge) = git.committed(path.as_str())?
            && merge.ours != merge.base
            && merge.theirs != merge.base
        {
            texts.insert(path.clone(), merge);
        }
    }
    Ok(GitMerge {
        progress: Progress::Committed,
        texts,
    })
}

/// Generated files without an entry that git left on disk, because one branch deleted and the other one edited them.
pub fn orphans(
    git: &Status,
    root: &Path,
    is_known: impl Fn(&RelPath) -> bool,
) -> Result<Vec<RelPath>> {
    let mut files = git.unmerged(|path| !is_known(path))?;
    files.retain(|_, it| it.base.is_some() && it.ours.is_some() != it.theirs.is_some());
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let mut locks = Vec::new();
    for head in COMING.iter().chain(&["HEAD"]) {
        let lock = git.text_at(head, memory::LOCK)?;
        locks.extend(lock.and_then(|text| Memory::parse(&text).ok()));
    }
    let mut orphans = Vec::new();
    for path in files.into_keys() {
        let was_generated = locks.iter().any(|lock| lock.rows.contains_key(&path));
        if was_generated && matches!(tree::find(root, &path)?, Found::File(_)) {
            orphans.push(path);
        }
    }
    Ok(orphans)
}

/// The other unmerged paths that are not resolved yet: their text is that of one branch, or has conflict markers.
pub fn open(
    git: &Status,
    root: &Path,
    is_other: impl Fn(&RelPath) -> bool,
) -> Result<BTreeSet<RelPath>> {
    let mut open = BTreeSet::new();
    for (path, Unmerged { ours, theirs, .. }) in git.unmerged(is_other)? {
        let text = text_of(root, path.as_str())?;
        let is_of_one = text == ours || text == theirs;
        if is_of_one || text.is_some_and(|text| markers::split(&text).is_some()) {
            open.insert(path);
        }
    }
    Ok(open)
}

/// Whether `sync` has run since git merged: git merges the lock, and `sync` writes it.
pub fn is_synced(git: &Status, root: &Path) -> Result<bool> {
    let merged = git.text_at("", memory::LOCK)?;
    let lock = text_of(root, memory::LOCK)?;
    Ok(merged.is_some() && lock.is_some() && merged != lock)
}

/// The text of a file, with `\n` at the ends of lines; `None` where there is no file, or no text in it.
pub fn text_of(root: &Path, path: &str) -> Result<Option<String>> {
    Ok(match tree::find(root, &path.parse::<RelPath>()?)? {
        Found::File(bytes) => plan::text(&bytes).ok(),
        _ => None,
    })
}
