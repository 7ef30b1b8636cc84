//! The sides of one desired file.

use std::borrow::Cow;

use super::inputs::{Inputs, Progress};
use crate::{
    change::{Action, Change, ConflictKind},
    git::Unmerged,
    memory,
    merge::Driver,
    reconcile::{Desired, LastApplied, Verdict, reconcile},
    tree::{self, Content, Digest, File, Owner, RelPath},
};

/// The sides of a desired file.
pub struct Sides<'a> {
    /// Its desired path.
    pub path: &'a RelPath,
    /// Its row in the lock; `None` for a new file.
    pub last: Option<&'a LastApplied<Digest>>,
    /// The text on disk; `None` without a file.
    pub disk: Option<Cow<'a, [u8]>>,
    /// The digest of the text on disk.
    pub on_disk: Option<Digest>,
    /// The desired file.
    pub desired: &'a File,
    /// The digest of the desired text.
    pub digest: Digest,
    /// The text that the other two were made from.
    pub base: Base<'a>,
    /// What git knows of a merge; `None` where the command itself writes the file.
    pub git: Option<Git<'a>>,
    /// Whether the user took the file over.
    pub is_owned: bool,
}

/// The text that both the one on disk and the desired one were made from, as far as it is known.
#[derive(Clone, Copy)]
pub enum Base<'a> {
    /// It is lost, or a hash in the lock is all that there is.
    Unknown,
    /// Of a Shared file: the copy in `.operator-forge/base`, which may differ from the row.
    Stored(&'a [u8]),
    /// Of a Tool file: rendered from the last applied project.
    Rendered(&'a [u8]),
    /// Of a User file that follows a newer definition: generated from the one before. Of a copied file: the last copy.
    Former(&'a [u8]),
}

/// What git knows of a merge of one file.
#[derive(Clone, Copy)]
pub struct Git<'a> {
    /// How far the merge has come.
    pub progress: Progress,
    /// The texts of the file.
    pub of_file: Option<&'a Unmerged>,
    /// The texts of a Shared file's stored base.
    pub of_base: Option<&'a Unmerged>,
}

impl<'a> Sides<'a> {
    /// The sides of the file that is desired at `path`. Where it is, `at`, is the same path, or the one that it moves from.
    pub fn of(inputs: &'a Inputs, path: &'a RelPath, at: &RelPath, desired: &'a File) -> Self {
        let (last, disk) = inputs.observed(path, at);
        let owners = [Some(desired.owner), last.map(|last| last.owner)];
        let base_path = match owners.contains(&Some(Owner::Shared)) {
            true => memory::base_path(at).ok(),
            false => None,
        };
        let stored = || inputs.on_disk(base_path.as_ref()?);
        let copied = inputs.named.copied.get(path);
        let former = inputs.named.updated.get(path);
        let former = former.or_else(|| copied?.base.as_ref());
        let base = match (former, inputs.applied.get(path)) {
            (Some(former), _) => Base::Former(former),
            (None, Some(rendered)) => Base::Rendered(rendered),
            (None, None) => stored().map_or(Base::Unknown, |bytes| Base::Stored(bytes)),
        };
        let texts = |path| inputs.git.texts.get(path);
        let digest = desired.digest(path);
        Self {
            path,
            last,
            // Most files are as desired, and equal bytes need one hash.
            on_disk: disk.as_ref().map(|bytes| match *bytes == desired.content {
                true => digest,
                false => Digest::of(path, bytes),
            }),
            disk,
            desired,
            digest,
            base,
            git: (copied.is_none() && !inputs.named.rewritten.contains_key(path)).then(|| Git {
                progress: inputs.git.progress,
                of_file: texts(at),
                of_base: base_path.as_ref().and_then(texts),
            }),
            is_owned: inputs.owned.contains(path),
        }
    }

    /// The row of the table. `merges`: whether the edit of a Tool file is known to merge.
    pub fn verdict(&self, merges: bool) -> Verdict {
        let desired = Desired {
            owner: self.desired.owner,
            keyed: Driver::of(self.path).is_keyed(),
            merges,
            content: self.digest,
        };
        reconcile(self.last, self.on_disk.as_ref(), Some(&desired))
    }

    /// The base of a three-way merge; `None` where it is lost. A file that was there before the project has an empty one.
    pub fn merge_base(&self) -> Option<&'a [u8]> {
        match (self.base, self.last) {
            (Base::Rendered(base) | Base::Former(base), _) => Some(base),
            (_, None) => Some(&[]),
            (Base::Stored(base), Some(last)) if last.owner == Owner::Shared => {
                // After a git merge there is more than one row, and git merged the base, too.
                let is_applied =
                    last.any_of.len() > 1 || last.any_of.contains(&Digest::of(self.path, base));
                is_applied.then_some(base)
            }
            _ => None,
        }
    }

    /// The three-way merge of the text on disk and the desired one.
    pub fn merge_onto(&self, base: &[u8]) -> Result<String, ConflictKind> {
        let driver = Driver::of(self.path);
        driver.merge(&text(base)?, &self.ours()?, &self.theirs()?)
    }

    /// The text on disk.
    pub fn ours(&self) -> Result<String, ConflictKind> {
        text(self.disk.as_deref().unwrap_or_default())
    }

    /// The desired text.
    pub fn theirs(&self) -> Result<String, ConflictKind> {
        text(&self.desired.content)
    }

    /// Whether a text was last applied.
    pub fn is_row(&self, digest: &Digest) -> bool {
        self.last.is_some_and(|last| last.any_of.contains(digest))
    }

    /// The row of a file whose desired text was applied or reported.
    pub fn new_row(&self) -> LastApplied<Digest> {
        LastApplied::of(self.desired.owner, self.digest)
    }

    /// The row of a file that is kept. If git merged the lock, there may be several rows, and one stays: that of the text on disk, or
    /// else that of the desired text, or else the least.
    pub fn kept_row(&self) -> Option<LastApplied<Digest>> {
        let rows = &self.last?.any_of;
        let known = [self.on_disk, Some(self.digest)];
        let mut known = known.into_iter().flatten().filter(|it| rows.contains(it));
        Some(LastApplied {
            // An owned file is the user's even before its first edit.
            owner: self.desired.owner,
            any_of: known
                .next()
                .or_else(|| rows.iter().min().copied())
                .into_iter()
                .collect(),
        })
    }

    /// The change to another text; `None` if only line ends differ.
    pub fn write(&self, action: Action, after: Content) -> Option<Change> {
        let after = match &self.disk {
            Some(old) if tree::unix_line_ends(old) == tree::unix_line_ends(&after) => return None,
            Some(old) => tree::with_line_ends_of(old, after),
            None => after,
        };
        Some(Change {
            path: self.path.clone(),
            action,
            owner: Some(self.desired.owner),
            before: self.disk.as_deref().map(<[u8]>::to_vec),
            after: Some(after),
        })
    }

    /// The change to a merged text.
    pub fn write_merged(&self, text: String) -> Option<Change> {
        self.write(Action::Merge, text.into_bytes().into())
    }
}

impl<'a> Git<'a> {
    /// The texts of a path that is unmerged still.
    pub fn unmerged(&self) -> Option<&'a Unmerged> {
        self.of_file
            .filter(|_| self.progress != Progress::Committed)
    }
}

/// A file's text with `\n` at the ends of lines.
pub fn text(bytes: &[u8]) -> Result<String, ConflictKind> {
    String::from_utf8(tree::unix_line_ends(bytes).into_owned()).map_err(|_| ConflictKind::NoText)
}
