//! User files that the command names explicitly: `rename` and `edit api` rewrite them, beyond what `PROJECT` asks for.

use std::collections::{BTreeMap, BTreeSet};

use super::inputs::Inputs;
use crate::{
    change::{Action, Change, ChangeSet},
    reconcile::Last,
    tree::{self, Content, Digest, Found, Owner, RelPath, Tree},
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

/// The named files as they will be.
pub struct Now<'a> {
    named: &'a NamedFiles,
    found: Vec<(&'a RelPath, Found)>,
    changes: Vec<Change>,
}

impl<'a> Now<'a> {
    /// Works out the text of each named file, and its change.
    pub fn of(inputs: &Inputs<'a>) -> Self {
        let mut now = Self {
            named: inputs.named,
            found: Vec::new(),
            changes: Vec::new(),
        };
        for (path, Rewritten { before, after, .. }) in &now.named.rewritten {
            if matches!(inputs.found.get(path), Some(Found::Obstacle(_))) {
                continue;
            }
            let after = match (before, after) {
                (Some(before), Some(after)) => Some(tree::with_line_ends_of(before, after.clone())),
                (_, after) => after.clone(),
            };
            let found = after.as_ref().map(|after| Found::File(after.to_vec()));
            now.found.push((path, found.unwrap_or(Found::Absent)));
            let action = match (before, &after) {
                (Some(before), Some(after)) if **before == **after => continue,
                (None, None) => continue,
                (Some(_), Some(_)) => Action::Edit,
                // A file that is not made anew at its new path has the user's text.
                (None, Some(after)) if now.named.moved.contains_key(path) => {
                    let file = inputs.desired.get(path);
                    match file.is_some_and(|file| file.digest(path) == Digest::of(path, after)) {
                        true => Action::Move,
                        false => Action::Edit,
                    }
                }
                (None, Some(_)) => Action::Create,
                (Some(_), None) => Action::Delete,
            };
            now.changes.push(Change {
                path: path.clone(),
                action,
                owner: Some(Owner::User),
                before: before.clone(),
                after,
            });
        }
        now
    }

    /// The inputs as if the files were on disk already.
    pub fn inputs<'b>(&'b self, inputs: &Inputs<'b>) -> Inputs<'b> {
        let mut inputs = inputs.clone();
        inputs
            .rows
            .retain(|path, _| !self.named.forgotten.contains(*path));
        for (path, found) in &self.found {
            match &self.named.rewritten[*path].row {
                Some(row) => inputs.rows.insert(path, row),
                None => inputs.rows.remove(*path),
            };
            inputs.found.insert(path, found);
        }
        inputs
    }

    /// Adds the changes of the files.
    pub fn add_to(self, set: &mut ChangeSet) {
        set.changes.extend(self.changes);
        set.changes.sort_by(|a, b| a.path.cmp(&b.path));
        set.moved.extend(self.named.moved.clone());
    }
}
