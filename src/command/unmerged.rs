//! A `PROJECT` that git could not merge: with conflict markers, or with the text of one branch only.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use crate::{
    advice::Advice,
    change::Policy,
    error::{Failure, Result},
    git::{self, Conflicted, Unmerged},
    memory,
    merge::{
        markers::{self, Sides},
        project,
    },
    plan::Rewritten,
    project::{FILE, Project},
    reconcile::Last,
    template,
    tree::{self, Found, Owner, RelPath},
};

/// What git calls the commit that comes to the branch.
pub const COMING: [&str; 4] = [
    "MERGE_HEAD",
    "CHERRY_PICK_HEAD",
    "REBASE_HEAD",
    "REVERT_HEAD",
];

impl From<git::Error> for Failure {
    /// The refusal of every command that has to know whether a merge is unfinished. Of what git says, lines such as
    /// `git config --global --add safe.directory …` are advice, the others are reasons.
    fn from(error: git::Error) -> Self {
        let refused = Self::refused("git cannot say whether a merge is unfinished");
        let git::Error::Failed(words) = &error else {
            return refused
                .note(error.to_string())
                .note("install it first: the project is in a git repository")
                .advise(Advice::Again);
        };
        let lines = words.lines().map(str::trim).filter(|line| !line.is_empty());
        let (advice, reasons): (Vec<_>, Vec<_>) = lines.partition(|line| line.starts_with("git "));
        let refused = reasons.into_iter().fold(refused, Self::note);
        match advice.is_empty() {
            true => refused.advise("git status"),
            false => advice.into_iter().fold(refused, Self::advise),
        }
    }
}

/// What two branches made of `PROJECT`.
pub struct Branches {
    base: Option<String>,
    sides: Sides,
    /// Whether the merge was committed as it was.
    committed: bool,
}

/// Looks for two branches in `PROJECT`, which holds `bytes`; `None` where it is the text of a project.
pub fn branches(root: &Path, bytes: &[u8], conflicted: &Conflicted) -> Result<Option<Branches>> {
    let text = String::from_utf8_lossy(&tree::unix_line_ends(bytes)).into_owned();
    let in_index = conflicted
        .texts(|path| path.as_str() == FILE)?
        .into_values()
        .next();
    if let Some(sides) = markers::sides(&text) {
        let base = in_index.and_then(|git| git.ancestor);
        return Ok(Some(Branches {
            base: base.or(sides.base.clone()),
            sides,
            committed: false,
        }));
    }
    let applied = tree::find(root, &RelPath::parse(memory::APPLIED_PROJECT)?)?;
    let is_applied = matches!(
        applied,
        Found::File(applied) if tree::unix_line_ends(&applied) == tree::unix_line_ends(bytes)
    );
    let is_ours = |git: &Unmerged| git.ours.as_ref() == Some(&text);
    let lock = lock(root)?;
    let lock_in = |commit| git::text_at(root, commit, memory::LOCK);
    let (git, committed) = match in_index {
        Some(git) if !is_applied || (is_ours(&git) && !is_settled(root)?) => (git, false),
        Some(_) => return Ok(None),
        None => match git::merged(root, FILE)? {
            Some(git)
                if lock_in("HEAD^1")? != lock && (is_ours(&git) || lock_in("HEAD")? == lock) =>
            {
                (git, true)
            }
            _ => return Ok(None),
        },
    };
    Ok(match git {
        Unmerged {
            ancestor,
            ours: Some(_),
            theirs: Some(theirs),
        } if ancestor.as_ref() != Some(&theirs) && theirs != text => Some(Branches {
            base: ancestor,
            sides: Sides::of(text, theirs),
            committed,
        }),
        _ => None,
    })
}

/// Whether `sync` has run since git merged, which is not told yet: git merges the lock, and `sync` writes it.
pub fn is_settled(root: &Path) -> Result<bool> {
    let merged = git::text_at(root, "", memory::LOCK)?;
    let lock = lock(root)?;
    Ok(merged.is_some() && lock.is_some() && merged != lock)
}

fn lock(root: &Path) -> Result<Option<String>> {
    Ok(match tree::find(root, &RelPath::parse(memory::LOCK)?)? {
        Found::File(bytes) => String::from_utf8(tree::unix_line_ends(&bytes).into_owned()).ok(),
        _ => None,
    })
}

impl Branches {
    /// The text of both, merged by key, and what to say of it.
    pub fn merge(&self, policy: Policy) -> Result<(String, Option<String>)> {
        if self.committed && policy == Policy::Keep {
            return Ok((self.sides.ours.clone(), None));
        }
        let text = project::merge(self.base.as_deref(), &self.sides, policy)?;
        let remark = self.committed.then(|| {
            format!(
                "the last commit merged two branches and kept the `{FILE}` of one of them; what the other one changed is put \
                 in now (`--on-conflict keep` leaves it out)"
            )
        });
        Ok((text, remark))
    }

    /// The user's files of entries that one branch deleted, and that `project`, what both make together, has all the same: as
    /// the other branch has them.
    pub fn kept(&self, root: &Path, project: &Project) -> Result<BTreeMap<RelPath, Rewritten>> {
        let mut kept = BTreeMap::new();
        let asked = |text: &str| template::paths(&Project::read(text.as_bytes())?);
        let (Ok(ours), Ok(theirs)) = (asked(&self.sides.ours), asked(&self.sides.theirs)) else {
            return Ok(kept);
        };
        let alone: BTreeSet<&RelPath> = ours.symmetric_difference(&theirs).collect();
        let text = |path: &RelPath| match ours.contains(path) {
            true => git::text_at(root, "HEAD", path.as_str()),
            false => {
                let mut texts = COMING
                    .iter()
                    .map(|head| git::text_at(root, head, path.as_str()));
                texts.find_map(Result::transpose).transpose()
            }
        };
        for (path, file) in template::tree(project)? {
            if file.owner != Owner::User || !alone.contains(&path) {
                continue;
            }
            let row = Last {
                owner: file.owner,
                any_of: vec![file.digest(&path)],
            };
            let before = match tree::find(root, &path)? {
                Found::File(bytes) => Some(bytes),
                Found::Absent => None,
                Found::Obstacle(_) => continue,
            };
            let after = match before.clone() {
                Some(bytes) => Some(bytes),
                None => text(&path)?.map(String::into_bytes),
            };
            if let Some(after) = after {
                let rewritten = Rewritten {
                    before,
                    after: Some(after.into()),
                    row: Some(row),
                };
                kept.insert(path, rewritten);
            }
        }
        Ok(kept)
    }

    /// The answer of commands that need a project.
    pub fn refuse(&self) -> Failure {
        let (place, what) = match self.sides.line {
            0 => (FILE.to_owned(), "git left the text of one branch there"),
            line => (format!("{FILE}:{line}"), "git left conflict markers there"),
        };
        Failure::refused(format!("`{place}`: two branches are not merged yet"))
            .note(format!("{what}; `sync` puts the entries of both together"))
            .advise("operator-forge sync")
    }
}
