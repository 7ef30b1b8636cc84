//! One desired file, from all sides.

use super::merged::{self, Merges, Said};
use crate::{
    merge::{self, Driver},
    reconcile::{Desired, Last, Verdict, reconcile},
    tree::{Digest, File, RelPath},
};

/// A file that is desired, as it was applied, as it is on disk and as it should be.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    pub path: &'a RelPath,
    pub last: Option<&'a Last<Digest>>,
    pub disk: Option<&'a Vec<u8>>,
    pub file: &'a File,
    /// What is desired.
    pub digest: Digest,
    /// What is there.
    pub on_disk: Option<Digest>,
}

impl<'a> Place<'a> {
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

    /// The row of the table, after git.
    pub fn said(&self, merges: &Merges) -> Said {
        let text = merged::with_edit(self, merges);
        let desired = Desired {
            owner: self.file.owner,
            keyed: Driver::of(self.path).is_keyed(),
            merges: text.is_some(),
            content: self.digest,
        };
        let verdict = reconcile(self.last, self.on_disk.as_ref(), Some(&desired));
        match (verdict, text) {
            (Verdict::Merge, Some(text)) => Said {
                text: Some(text),
                ..Said::of(verdict, None)
            },
            _ => merged::after_git(self, merges, verdict),
        }
    }

    /// The generated lines that a file which holds `text` lacks.
    pub fn lacks(&self, text: &[u8]) -> Vec<String> {
        merge::lacking(text, &self.file.content)
    }

    /// What is remembered once the file holds what is desired, or that was told.
    pub fn desired(&self) -> Last<Digest> {
        Last {
            owner: self.file.owner,
            any_of: vec![self.digest],
        }
    }

    /// What is remembered of a file that is left alone. A git merge may have kept the rows of both branches: one of them is
    /// true of it.
    pub fn left(&self) -> Option<Last<Digest>> {
        let rows = &self.last?.any_of;
        let known = [self.on_disk, Some(self.digest)];
        let mut known = known.into_iter().flatten().filter(|it| rows.contains(it));
        Some(Last {
            // A file that was taken over is the user's, also where it still holds what was applied.
            owner: self.file.owner,
            any_of: known
                .next()
                .or_else(|| rows.iter().min().copied())
                .into_iter()
                .collect(),
        })
    }
}
