//! What a command does to single User files that its own words name, beyond what `PROJECT` asks for.

use std::collections::{BTreeMap, BTreeSet};

use super::{Inputs, plan};
use crate::{
    change::{Action, Change, ChangeSet},
    error::Result,
    reconcile::Last,
    tree::{self, Content, Digest, Found, Owner, RelPath, Tree},
};

/// Such files. The default is none.
#[derive(Clone, Debug, Default)]
pub struct NamedFiles {
    /// They stay on disk whatever becomes of their entry, and leave the memory.
    pub forgotten: BTreeSet<RelPath>,
    /// They are new, and start with another content than their template's.
    pub created: Vec<(RelPath, Content)>,
    /// They are changed.
    pub rewritten: BTreeMap<RelPath, Rewritten>,
    /// Where those of them that move were, by the path where they go.
    pub moved: BTreeMap<RelPath, RelPath>,
}

impl NamedFiles {
    /// Gives those that are created what they start with.
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
    /// What it held when `after` was made from it; applying refuses if that is no longer so.
    pub before: Option<Vec<u8>>,
    /// What it will hold; `None` if it goes away.
    pub after: Option<Content>,
    /// What is remembered of it.
    pub row: Option<Last<Digest>>,
}

impl Rewritten {
    /// The new content of a file that is now `before`. Who had not edited it has not edited it afterwards.
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

/// Plans as though the named files were on disk already as they will be, and adds their own changes. What is desired has
/// been started.
pub fn plan_named(inputs: &Inputs<'_>, named: &NamedFiles) -> Result<ChangeSet> {
    let (mut rows, mut found) = (inputs.rows.clone(), inputs.found.clone());
    rows.retain(|path, _| !named.forgotten.contains(*path));
    let (mut now, mut changes) = (Vec::new(), Vec::new());
    for (path, Rewritten { before, after, row }) in &named.rewritten {
        if matches!(found.get(path), Some(Found::Obstacle(_))) {
            continue;
        }
        match row {
            Some(row) => rows.insert(path, row),
            None => rows.remove(path),
        };
        let after = match (before, after) {
            (Some(before), Some(after)) => Some(tree::with_line_ends_of(before, after.clone())),
            (_, after) => after.clone(),
        };
        now.push(match &after {
            Some(after) => (path, Found::File(after.to_vec())),
            None => (path, Found::Absent),
        });
        let action = match (before, &after) {
            (Some(before), Some(after)) if **before == **after => continue,
            (None, None) => continue,
            (Some(_), Some(_)) => Action::Edit,
            // What is not made anew at its new path has the user's text.
            (None, Some(after)) if named.moved.contains_key(path) => {
                let file = inputs.desired.get(path);
                match file.is_some_and(|file| file.digest(path) == Digest::of(path, after)) {
                    true => Action::Move,
                    false => Action::Edit,
                }
            }
            (None, Some(_)) => Action::Create,
            (Some(_), None) => Action::Delete,
        };
        changes.push(Change {
            path: path.clone(),
            action,
            owner: Some(Owner::User),
            before: before.clone(),
            after,
        });
    }
    found.extend(now.iter().map(|(path, now)| (*path, now)));
    let mut set = plan(&Inputs {
        rows,
        found,
        ..*inputs
    })?;
    set.changes.extend(changes);
    set.changes.sort_by(|a, b| a.path.cmp(&b.path));
    set.moved.extend(named.moved.clone());
    Ok(set)
}
