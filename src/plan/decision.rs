//! What becomes of one desired file: of its text, and of its row in the lock.

use super::sides::Sides;
use crate::{
    change::{Action, ConflictKind, NoteKind},
    reconcile::{LastApplied, Remember, Verdict},
    tree::{Digest, Owner},
};

/// What becomes of a desired file.
pub struct Decision {
    /// The row of the table.
    pub verdict: Verdict,
    /// What becomes of its text.
    pub outcome: Outcome,
    /// The row that the lock will hold; for a conflict, if a policy resolves it.
    pub row: Option<LastApplied<Digest>>,
}

/// What becomes of a text.
pub enum Outcome {
    /// It stays.
    Stays(Option<NoteKind>),
    /// It is, or becomes, the desired text.
    Written(Action),
    /// It becomes a merge of both.
    Merged(String),
    /// A policy decides. The second text has both sides with conflict markers; `None` where the sides themselves give it.
    Conflict(ConflictKind, Option<String>),
}

impl Decision {
    /// The decision with the row that the table says.
    pub fn of(sides: &Sides<'_>, verdict: Verdict, outcome: Outcome) -> Self {
        let row = match verdict.remember() {
            Remember::Nothing => None,
            Remember::Last => sides.kept_row(),
            Remember::Desired => Some(sides.new_row()),
        };
        Self {
            verdict,
            outcome,
            row,
        }
    }

    /// Adds a note if the file stays. The note replaces that of the table, and *outdated* comes with a later command, because its row
    /// is not remembered. A merge that has to wait for conflict markers is a note, too, and no conflict.
    pub fn noted(self, sides: &Sides<'_>, note: Option<NoteKind>) -> Self {
        match (note, &self.outcome) {
            // The note about a lost base comes only once; that about markers comes with every command.
            (Some(note), Outcome::Stays(other)) if *other != Some(NoteKind::BaseLost) => {
                Self::of(sides, self.verdict, Outcome::Stays(Some(note)))
            }
            // Nothing new is applied before the markers are gone.
            (Some(note), Outcome::Conflict(ConflictKind::Markers(_), _))
                if self.verdict == Verdict::Merge =>
            {
                Self {
                    outcome: Outcome::Stays(Some(note)),
                    row: sides.kept_row(),
                    ..self
                }
            }
            _ => self,
        }
    }
}

/// The decision of a verdict. It does not try whether the edit of a Tool file merges: `decide` does.
pub fn by_verdict(sides: &Sides<'_>, verdict: Verdict) -> Decision {
    let is_news = |row: &Digest| *row != sides.digest;
    let outcome = match verdict {
        Verdict::Create => Outcome::Written(Action::Create),
        Verdict::Restore => Outcome::Written(Action::Restore),
        Verdict::Write => Outcome::Written(Action::Update),
        Verdict::Merge | Verdict::Adopt => {
            match sides.merge_base().map(|base| sides.merge_onto(base)) {
                Some(Ok(text)) => Outcome::Merged(text),
                Some(Err(why)) => Outcome::Conflict(why, None),
                None => Outcome::Stays(Some(NoteKind::BaseLost)),
            }
        }
        Verdict::Exists => Outcome::Conflict(ConflictKind::Exists, None),
        Verdict::Edited => Outcome::Conflict(ConflictKind::Edited, None),
        // The note comes once: afterwards the row is the desired content.
        Verdict::KeepUser
            if sides.is_owned && sides.last.is_some_and(|it| it.any_of.iter().any(is_news)) =>
        {
            return Decision {
                verdict,
                outcome: Outcome::Stays(Some(NoteKind::Outdated)),
                row: Some(sides.new_row()),
            };
        }
        Verdict::StaysDeleted => Outcome::Stays(sides.desired.named.then_some(NoteKind::Missing)),
        Verdict::KeepEdited if sides.desired.owner == Owner::Tool => {
            Outcome::Stays(Some(NoteKind::Edited))
        }
        Verdict::KeepUser
        | Verdict::KeepEdited
        | Verdict::Unchanged
        | Verdict::Ignore
        | Verdict::Forget
        | Verdict::Delete
        | Verdict::Orphan => Outcome::Stays(None),
    };
    Decision::of(sides, verdict, outcome)
}
