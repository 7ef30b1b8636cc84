//! The commands that resolve notes and conflicts.

use std::collections::BTreeSet;

use crate::{
    advice::{Advice, Script},
    change::{ChangeSet, ConflictKind, Note, NoteKind},
    tree::Obstacle,
};

impl ChangeSet {
    /// The commands that make room for files, each once; with an obstacle that no [`Policy`](crate::change::Policy) settles,
    /// nothing is written.
    #[must_use]
    pub fn makes_room(&self) -> Vec<Script> {
        let obstacles = self.conflicts.iter().filter_map(|it| match &it.why {
            ConflictKind::Obstacle(obstacle) => Some(obstacle),
            _ => None,
        });
        let obstacles: BTreeSet<&Obstacle> = obstacles.collect();
        obstacles.into_iter().map(Obstacle::makes_room).collect()
    }
}

impl Note {
    /// What settles the note, one way or the other, where the sentence does not say so.
    #[must_use]
    pub fn help(&self) -> Vec<Advice> {
        let path = self.path.as_str();
        match self.what {
            NoteKind::Edited => vec![
                Script::forge("own").arg(path).into(),
                Script::put_aside(path).then(Script::forge("sync")).into(),
            ],
            NoteKind::Unmerged => vec![self.branch().into()],
            NoteKind::Missing => vec![Script::forge("restore").arg(path).into()],
            NoteKind::Markers => vec![Script::edit([path]).into()],
            NoteKind::Orphaned
            | NoteKind::Owned
            | NoteKind::Outdated
            | NoteKind::BaseLost
            | NoteKind::Kept
            | NoteKind::LeftOut => Vec::new(),
        }
    }

    /// Shows what the other branch changed in an unmerged file.
    #[must_use]
    pub fn branch(&self) -> Script {
        let stages = [1, 3].map(|stage| format!(":{stage}:./{}", self.path));
        Script::of("git diff").args(stages)
    }
}
