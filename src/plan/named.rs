//! User files that the command names explicitly: `rename` and `edit api` rewrite them, beyond what `PROJECT` asks for.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    reconcile::Last,
    tree::{Content, Digest, RelPath, Tree},
};

/// User files that the command names explicitly. The default is none.
#[derive(Clone, Debug, Default)]
pub struct NamedFiles {
    /// Files that stay on disk whatever becomes of their entry, and leave the lock.
    pub forgotten: BTreeSet<RelPath>,
    /// New files that start with another content than their template's.
    pub created: Vec<(RelPath, Content)>,
    /// Files whose text changes.
    pub rewritten: BTreeMap<RelPath, Rewritten>,
    /// The old path of each rewritten file that moves, by its new one.
    pub moved: BTreeMap<RelPath, RelPath>,
}

impl NamedFiles {
    /// No files.
    pub const NONE: &Self = &Self {
        forgotten: BTreeSet::new(),
        created: Vec::new(),
        rewritten: BTreeMap::new(),
        moved: BTreeMap::new(),
    };

    /// Gives the created files their first content.
    pub fn start(&self, desired: &mut Tree) {
        for (path, content) in &self.created {
            if let Some(file) = desired.get_mut(path) {
                (file.content, file.known) = (content.clone(), None);
            }
        }
    }
}

/// A User file that gets another content, or another place.
#[derive(Clone, Debug, Default)]
pub struct Rewritten {
    /// The text that `after` was made from; applying refuses if the file holds another one by then.
    pub before: Option<Vec<u8>>,
    /// The new text; `None` if the file goes away.
    pub after: Option<Content>,
    /// The row that the lock will hold.
    pub row: Option<Last<Digest>>,
}

impl Rewritten {
    /// The new content of a file that is now `before`. An unedited file counts as unedited afterwards, too.
    pub fn of(path: &RelPath, before: &[u8], after: Content, row: Option<&Last<Digest>>) -> Self {
        let row = row.map(|row| match row.any_of.contains(&Digest::of(path, before)) {
            true => Last {
                owner: row.owner,
                any_of: vec![Digest::of(path, &after)],
            },
            false => row.clone(),
        });
        Self {
            before: Some(before.to_vec()),
            after: Some(after),
            row,
        }
    }
}
