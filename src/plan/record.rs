//! The record of a plan: the bases of Shared files, both copies of `PROJECT`, and the lock.

use std::collections::{BTreeMap, BTreeSet};

use super::inputs::Inputs;
use crate::{
    change::{Action, Change, ChangeSet, Conflict, ConflictKind},
    error::Result,
    memory::{self, Memory},
    reconcile::Last,
    tree::{self, Content, Digest, Found, Owner, RelPath},
};

/// Adds the changes of the record. The lock comes last.
pub fn record(
    inputs: &Inputs<'_>,
    mut rows: BTreeMap<RelPath, Last<Digest>>,
    set: &mut ChangeSet,
) -> Result<()> {
    let mut put = |path: RelPath, after: Option<Content>| {
        let before = match inputs.found(&path) {
            Found::Absent => None,
            Found::File(bytes) => Some(bytes.clone()),
            Found::Obstacle(what) => {
                set.conflicts.push(Conflict {
                    path,
                    why: ConflictKind::Obstacle(what.clone()),
                });
                return;
            }
        };
        let after = match &before {
            Some(old) => after.map(|new| tree::with_line_ends_of(old, new)),
            None => after,
        };
        let action = match (&before, &after) {
            (Some(old), Some(new)) if tree::unix_line_ends(old) == tree::unix_line_ends(new) => {
                return;
            }
            (None, None) => return,
            (None, Some(_)) => Action::Create,
            (Some(_), Some(_)) => Action::Update,
            (Some(_), None) => Action::Delete,
        };
        set.record.push(Change {
            path,
            action,
            owner: None,
            before,
            after,
        });
    };
    let shared = |row: Option<&Last<Digest>>| row.is_some_and(|row| row.owner == Owner::Shared);
    let all: BTreeSet<&RelPath> = inputs.rows.keys().copied().chain(rows.keys()).collect();
    for path in all {
        let row = rows.get(path);
        if shared(row) {
            if let Some(file) = inputs.desired.get(path)
                && row.is_some_and(|row| row.any_of.contains(&file.digest(path)))
            {
                put(memory::base_path(path)?, Some(file.content.clone()));
            }
        } else if shared(inputs.rows.get(path).copied()) {
            put(memory::base_path(path)?, None);
        }
    }
    rows.extend(inputs.aside.clone());
    let memory = Memory {
        templates: inputs.templates,
        rows,
    };
    let project = inputs.project.as_bytes().to_vec();
    put(
        RelPath::parse(memory::APPLIED_PROJECT)?,
        Some(project.clone().into()),
    );
    put(RelPath::parse("PROJECT")?, Some(project.into()));
    put(
        RelPath::parse(memory::LOCK)?,
        Some(memory.write().into_bytes().into()),
    );
    Ok(())
}
