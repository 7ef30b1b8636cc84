//! The three sides of a file, and the verdict that follows from them.

use crate::{
    change::{Action, Change, ConflictKind, NoteKind},
    merge::Driver,
    reconcile::{Desired, Last, Verdict, reconcile},
    tree::{self, Content, Digest, File, RelPath, unix_line_ends},
};

/// The three sides of a desired file: last applied, observed, desired.
#[derive(Clone, Copy)]
pub struct ThreeWay<'a> {
    /// Where it belongs.
    pub path: &'a RelPath,
    /// What was last applied; `None` for a file that is new.
    pub last: Option<&'a Last<Digest>>,
    /// The text on disk; `None` if there is no file.
    pub disk: Option<&'a Vec<u8>>,
    /// What is desired.
    pub file: &'a File,
    /// The digest of what is desired.
    pub digest: Digest,
    /// The digest of the text on disk.
    pub on_disk: Option<Digest>,
}

/// The verdict for one file, and what it takes to carry it out.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// The row of the table.
    pub verdict: Verdict,
    /// The note if the file stays as it is.
    pub note: Option<NoteKind>,
    /// The three-way merge, where it was tried already.
    pub merged: Option<Result<String, ConflictKind>>,
    /// Both sides with conflict markers, where they conflict.
    pub marked: Option<String>,
}

impl Resolved {
    /// A verdict alone, with a note if the file stays as it is.
    pub fn of(verdict: Verdict, note: Option<NoteKind>) -> Self {
        Self {
            verdict,
            note,
            merged: None,
            marked: None,
        }
    }
}

impl<'a> ThreeWay<'a> {
    /// Compares the sides of the file at `path`.
    pub fn new(
        path: &'a RelPath,
        last: Option<&'a Last<Digest>>,
        disk: Option<&'a Vec<u8>>,
        file: &'a File,
    ) -> Self {
        let digest = file.digest(path);
        Self {
            path,
            last,
            disk,
            file,
            digest,
            // Most files are as they should be, and equal bytes need one hash.
            on_disk: disk.map(|bytes| match **bytes == *file.content {
                true => digest,
                false => Digest::of(path, bytes),
            }),
        }
    }

    /// The row of the table, where nothing is known of the text that was last applied.
    pub fn verdict(&self) -> Verdict {
        self.verdict_if(false)
    }

    fn verdict_if(&self, merges: bool) -> Verdict {
        let desired = Desired {
            owner: self.file.owner,
            keyed: Driver::of(self.path).is_keyed(),
            merges,
            content: self.digest,
        };
        reconcile(self.last, self.on_disk.as_ref(), Some(&desired))
    }

    /// The verdict and the merge of a Tool file whose text was `applied`.
    pub fn resolve(&self, applied: Option<&Content>) -> Resolved {
        let merged = applied.and_then(|applied| self.merge_onto(applied).ok());
        let verdict = self.verdict_if(merged.is_some());
        Resolved {
            merged: merged.filter(|_| verdict == Verdict::Merge).map(Ok),
            ..Resolved::of(verdict, None)
        }
    }

    /// The three-way merge of the text on disk and the desired one.
    pub fn merge_onto(&self, base: &[u8]) -> Result<String, ConflictKind> {
        let driver = Driver::of(self.path);
        driver.merge(&text(base)?, &self.ours()?, &self.theirs()?)
    }

    /// The text on disk.
    pub fn ours(&self) -> Result<String, ConflictKind> {
        text(self.disk.map_or(&[], |bytes| bytes))
    }

    /// The desired text.
    pub fn theirs(&self) -> Result<String, ConflictKind> {
        text(&self.file.content)
    }

    /// The row of a file that holds what is desired, or of which that was reported.
    pub fn desired(&self) -> Last<Digest> {
        Last {
            owner: self.file.owner,
            any_of: vec![self.digest],
        }
    }

    /// The row of a file that is left alone. A lock that git merged may have several; one of them stays, best the one that is
    /// on disk.
    pub fn left(&self) -> Option<Last<Digest>> {
        let rows = &self.last?.any_of;
        let known = [self.on_disk, Some(self.digest)];
        let mut known = known.into_iter().flatten().filter(|it| rows.contains(it));
        Some(Last {
            // A file that was taken over is the user's even while it holds what was applied.
            owner: self.file.owner,
            any_of: known
                .next()
                .or_else(|| rows.iter().min().copied())
                .into_iter()
                .collect(),
        })
    }

    /// The change to another text, if it is one: a file with line ends of both kinds is left so.
    pub fn write(&self, action: Action, after: Content) -> Option<Change> {
        let after = match self.disk {
            Some(old) if unix_line_ends(old) == unix_line_ends(&after) => return None,
            Some(old) => tree::with_line_ends_of(old, after),
            None => after,
        };
        Some(Change {
            path: self.path.clone(),
            action,
            owner: Some(self.file.owner),
            before: self.disk.cloned(),
            after: Some(after),
        })
    }

    /// The change to a merged text.
    pub fn write_merged(&self, text: String) -> Option<Change> {
        self.write(Action::Merge, text.into_bytes().into())
    }
}

/// A file's text with `\n` at the ends of lines.
pub fn text(bytes: &[u8]) -> Result<String, ConflictKind> {
    String::from_utf8(tree::unix_line_ends(bytes).into_owned()).map_err(|_| ConflictKind::NoText)
}
