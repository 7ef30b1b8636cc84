//! Notes and conflicts as sentences, with the commands that settle them.

use std::collections::BTreeSet;

use crate::{
    advice::{Advice, Script},
    change::{ChangeSet, ConflictKind, Note, NoteKind, lacking},
    shell,
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

    /// The sentence for a terminal, after the path.
    #[must_use]
    pub fn sentence(&self) -> String {
        let path = self.path.as_str();
        let line = |script: Script| shell::line(&script);
        let mut sentence = match self.what {
            NoteKind::Edited => "is generated, and was edited by hand; later changes are merged into it, unless you take the file over or write it anew".to_owned(),
            NoteKind::Orphaned => "is no longer part of the project, but was edited; it stays, and is yours to keep or to delete".to_owned(),
            NoteKind::Owned => "is no longer part of the project, but was taken over; it stays, and is yours to keep or to delete".to_owned(),
            NoteKind::Outdated => format!(
                "was taken over, and would hold something else now: `{}` shows it",
                line(Script::forge("disown").arg(path).code("--dry-run --diff"))
            ),
            NoteKind::Missing => format!(
                "is gone, and the project does not build without it; `{}` writes it again",
                line(Script::forge("restore").arg(path))
            ),
            NoteKind::BaseLost => "was edited, and the base of its merge is lost; it is kept as it is".to_owned(),
            NoteKind::Kept => "was in the way and was kept as it is".to_owned(),
            NoteKind::LeftOut => format!(
                "was edited on a branch that git merged, and the edit is left out: `{}` has it",
                line(Script::of("git log --all --patch --").arg(path))
            ),
            NoteKind::Markers => "has conflict markers; choose between their sides in an editor".to_owned(),
            NoteKind::Unmerged => format!(
                "is yours, and has an unresolved merge: apply the other branch's change, which `{}` shows, then `{}`",
                line(self.branch()),
                line(Script::of("git add").arg(path))
            ),
        };
        if let Some(lacks) = lacking(&self.lacks) {
            let diff = line(Script::forge("diff").arg(path));
            sentence += &format!("; it lacks {lacks}: `{diff}`");
        }
        sentence
    }

    /// Shows what the other branch changed in an unmerged file.
    fn branch(&self) -> Script {
        let stages = [1, 3].map(|stage| format!(":{stage}:./{}", self.path));
        Script::of("git diff").args(stages)
    }
}
