//! A `PROJECT` that git could not merge: with conflict markers, or with the text of one branch only.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use super::{
    merge::merge,
    unmerged::{COMING, is_synced, text_of},
};
use crate::{
    advice::Script,
    change::Policy,
    error::{Failure, Result},
    git::{Status, Unmerged},
    memory,
    merge::markers::{self, Split},
    plan::Rewritten,
    project::{FILE, Project},
    reconcile::LastApplied,
    template,
    tree::{self, Found, Owner, RelPath},
};

/// The `PROJECT` of two branches.
pub struct Branches {
    base: Option<String>,
    split: Split,
    /// Whether the merge was committed with the text of one of them.
    committed: bool,
}

impl Branches {
    /// Finds two branches in `PROJECT`, whose content is `bytes`; `None` where it is the text of one project.
    pub fn find(git: &Status, root: &Path, bytes: &[u8]) -> Result<Option<Self>> {
        let text = String::from_utf8_lossy(&tree::unix_line_ends(bytes)).into_owned();
        let in_index = git.unmerged(|path| path.as_str() == FILE)?;
        let in_index = in_index.into_values().next();
        if let Some(split) = markers::split(&text) {
            let base = in_index.and_then(|git| git.base).or(split.base.clone());
            return Ok(Some(Self {
                base,
                split,
                committed: false,
            }));
        }
        let is_ours = |git: &Unmerged| git.ours.as_ref() == Some(&text);
        let (texts, committed) = match in_index {
            Some(texts) => {
                let is_applied = text_of(root, memory::APPLIED_PROJECT)?.as_ref() == Some(&text);
                if is_applied && (!is_ours(&texts) || is_synced(git, root)?) {
                    return Ok(None);
                }
                (texts, false)
            }
            None => {
                let Some(texts) = git.committed(FILE)? else {
                    return Ok(None);
                };
                let lock = text_of(root, memory::LOCK)?;
                let is_in = |commit| Ok::<_, Failure>(git.text_at(commit, memory::LOCK)? == lock);
                if is_in("HEAD^1")? || !(is_ours(&texts) || is_in("HEAD")?) {
                    return Ok(None);
                }
                (texts, true)
            }
        };
        Ok(match texts {
            Unmerged {
                base,
                ours: Some(_),
                theirs: Some(theirs),
            } if base.as_ref() != Some(&theirs) && theirs != text => Some(Self {
                base,
                split: Split::of(text, theirs),
                committed,
            }),
            _ => None,
        })
    }

    /// Merges the texts of both by key, and returns a remark about it.
    pub fn merge(&self, policy: Policy) -> Result<(String, Option<String>)> {
        if self.committed && policy == Policy::Keep {
            return Ok((self.split.ours.clone(), None));
        }
        let text = merge(self.base.as_deref(), &self.split, policy)?;
        let remark = self.committed.then(|| {
            format!(
                "the last commit merged two branches and kept the `{FILE}` of one of them; the changes of the other one are \
                 merged now (`--on-conflict keep` leaves them out)"
            )
        });
        Ok((text, remark))
    }

    /// The User files of entries that one branch deleted and the policy keeps in `project`, with the text of the other branch.
    pub fn kept(
        &self,
        git: &Status,
        root: &Path,
        project: &Project,
    ) -> Result<BTreeMap<RelPath, Rewritten>> {
        let mut kept = BTreeMap::new();
        let asked = |text: &str| template::paths(&Project::read(text.as_bytes())?);
        let (Ok(ours), Ok(theirs)) = (asked(&self.split.ours), asked(&self.split.theirs)) else {
            return Ok(kept);
        };
        let alone: BTreeSet<&RelPath> = ours.symmetric_difference(&theirs).collect();
        let text = |path: &RelPath| match ours.contains(path) {
            true => git.text_at("HEAD", path.as_str()),
            false => {
                let texts = COMING.iter().map(|head| git.text_at(head, path.as_str()));
                texts.filter_map(Result::transpose).next().transpose()
            }
        };
        for (path, file) in template::tree(project)? {
            if file.owner != Owner::User || !alone.contains(&path) {
                continue;
            }
            let (before, after) = match tree::find(root, &path)? {
                Found::File(bytes) => (Some(bytes.clone()), Some(bytes)),
                Found::Absent => (None, text(&path)?.map(String::into_bytes)),
                Found::Obstacle(_) => continue,
            };
            let Some(after) = after else { continue };
            let rewritten = Rewritten {
                before,
                after: Some(after.into()),
                row: Some(LastApplied::of_file(&path, &file)),
            };
            kept.insert(path, rewritten);
        }
        Ok(kept)
    }

    /// The refusal of every command but `sync`.
    pub fn refuse(&self) -> Failure {
        let (place, what) = match self.split.line {
            0 => (FILE.to_owned(), "git left the text of one branch there"),
            line => (format!("{FILE}:{line}"), "git left conflict markers there"),
        };
        Failure::refused(format!("`{place}`: two branches are not merged yet"))
            .note(format!("{what}; `sync` merges the entries of both"))
            .advise(Script::forge("sync"))
    }
}
