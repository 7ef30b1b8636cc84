//! Notes as sentences.

use super::caller;
use crate::{
    advice::Script,
    change::{Note, NoteKind, lacking},
};

/// The sentence of a note, after the path.
pub fn sentence(note: &Note) -> String {
    let path = note.path.as_str();
    let line = |script: Script| caller::line(script.commands());
    let mut sentence = match note.what {
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
                line(note.branch()),
                line(Script::of("git add").arg(path))
            ),
        };
    if let Some(lacks) = lacking(&note.lacks) {
        let diff = line(Script::forge("diff").arg(path));
        sentence += &format!("; it lacks {lacks}: `{diff}`");
    }
    sentence
}
