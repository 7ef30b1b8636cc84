//! The verdict for one file, from its last applied, observed and desired state.
//!
//! Invariants, tested over every combination of a few values: the function is total; applying a verdict and deciding
//! again changes nothing (fixpoint); a user's edit is neither overwritten nor deleted without a conflict; every row is reached.

use crate::tree::Owner;

/// The row of a path in the lock: what was last applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastApplied<T> {
    /// Its owner when it was applied.
    pub owner: Owner,
    /// What was applied. A git merge that kept the rows of both branches leaves more than one value; a file that equals any
    /// of them counts as unedited.
    pub any_of: Vec<T>,
}

impl<T> LastApplied<T> {
    /// The row of a file whose desired content was applied.
    pub fn of(owner: Owner, applied: T) -> Self {
        Self {
            owner,
            any_of: vec![applied],
        }
    }
}

/// The desired state of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Desired<T> {
    /// Its owner now.
    pub owner: Owner,
    /// Whether a driver can merge it by key into a file that was there before the project.
    pub keyed: bool,
    /// Whether the user's edit of a Tool file merges with it; known only where the base is.
    pub merges: bool,
    /// The desired content.
    pub content: T,
}

/// The rows of the table in `docs/architecture.md`, first match wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verdict {
    /// Not desired and never applied: not a file of the project.
    Ignore,
    /// Not desired and already gone.
    Forget,
    /// Not desired and unedited: deleted.
    Delete,
    /// Not desired but edited: it stays, and is the user's from now on.
    Orphan,
    /// Already as desired.
    Unchanged,
    /// New.
    Create,
    /// Never applied, there before, and mergeable by key: merged from the empty base.
    Adopt,
    /// Never applied, there before, and not mergeable: a conflict.
    Exists,
    /// A Tool file that was deleted comes back.
    Restore,
    /// A User or Shared file that was deleted stays deleted.
    StaysDeleted,
    /// A User file: written once.
    KeepUser,
    /// Unedited, and the desired content is new: rewritten.
    Write,
    /// Edited, and the desired content is not new: kept.
    KeepEdited,
    /// Changed on both sides, and Shared, or a Tool file whose edit is known to merge: a three-way merge.
    Merge,
    /// Changed on both sides, Tool, and the edit does not merge: a conflict.
    Edited,
}

/// The row that the lock has afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remember {
    /// No row.
    Nothing,
    /// The row as it was.
    Last,
    /// The desired content; after a merge, too, and never the merged text.
    Desired,
}

impl Verdict {
    /// The row afterwards, L' in the table. For a conflict, it is the row after keeping the file.
    pub fn remember(self) -> Remember {
        match self {
            Self::Ignore | Self::Forget | Self::Delete | Self::Orphan => Remember::Nothing,
            Self::StaysDeleted | Self::KeepUser => Remember::Last,
            Self::Unchanged
            | Self::Create
            | Self::Adopt
            | Self::Exists
            | Self::Restore
            | Self::Write
            | Self::KeepEdited
            | Self::Merge
            | Self::Edited => Remember::Desired,
        }
    }

    /// Whether the file on disk is neither as last applied nor as desired.
    pub fn leaves_edits(self) -> bool {
        matches!(
            self,
            Self::KeepUser | Self::KeepEdited | Self::Merge | Self::Edited
        )
    }
}

/// Decides one path. `last`, `disk` and `desired` are `None` where the table says `-`.
pub fn reconcile<T: PartialEq>(
    last: Option<&LastApplied<T>>,
    disk: Option<&T>,
    desired: Option<&Desired<T>>,
) -> Verdict {
    let unedited = |last: &LastApplied<T>, disk: &T| last.any_of.contains(disk);
    let Some(desired) = desired else {
        return match (last, disk) {
            (None, _) => Verdict::Ignore,
            (Some(_), None) => Verdict::Forget,
            (Some(last), Some(disk)) if unedited(last, disk) => Verdict::Delete,
            (Some(_), Some(_)) => Verdict::Orphan,
        };
    };
    match (last, disk) {
        (_, Some(disk)) if *disk == desired.content => Verdict::Unchanged,
        (None, None) => Verdict::Create,
        (None, Some(_)) if desired.owner == Owner::Shared && desired.keyed => Verdict::Adopt,
        (None, Some(_)) => Verdict::Exists,
        (Some(_), None) if desired.owner == Owner::Tool => Verdict::Restore,
        (Some(_), None) => Verdict::StaysDeleted,
        (Some(last), Some(disk)) if unedited(last, disk) => {
            if last.owner == Owner::User && desired.owner == Owner::User {
                Verdict::KeepUser
            } else {
                Verdict::Write
            }
        }
        (Some(last), Some(_)) if desired.owner == Owner::User => {
            match last.owner == Owner::Shared && is_news(last, desired) {
                true => Verdict::Merge,
                false => Verdict::KeepUser,
            }
        }
        (Some(last), Some(_)) if is_news(last, desired) => match desired.owner {
            Owner::Shared => Verdict::Merge,
            _ if desired.merges => Verdict::Merge,
            _ => Verdict::Edited,
        },
        (Some(_), Some(_)) => Verdict::KeepEdited,
    }
}

/// Whether the desired content differs from what was last applied. After a git merge, a Shared file has the edits of both branches,
/// so it differs if the row of either does.
fn is_news<T: PartialEq>(last: &LastApplied<T>, desired: &Desired<T>) -> bool {
    match desired.owner {
        Owner::Shared => last.any_of.iter().any(|row| *row != desired.content),
        _ => !last.any_of.contains(&desired.content),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const OWNERS: [Owner; 3] = [Owner::Tool, Owner::User, Owner::Shared];
    /// Stands for the text a merge driver makes: it holds the edits of both sides.
    const MERGED: u8 = 9;

    type Case = (Option<LastApplied<u8>>, Option<u8>, Option<Desired<u8>>);

    /// Every combination of last, disk and desired over three values, each owner, keyed or not, one or two rows.
    fn everything() -> Vec<Case> {
        let mut lasts = vec![None];
        let mut desireds = vec![None];
        for owner in OWNERS {
            for value in 0..3 {
                lasts.push(Some(LastApplied::of(owner, value)));
                for other in 0..3 {
                    lasts.push(Some(LastApplied {
                        owner,
                        any_of: vec![value, other],
                    }));
                }
                for (keyed, merges) in [(false, false), (true, false), (false, true), (true, true)]
                {
                    desireds.push(Some(Desired {
                        owner,
                        keyed,
                        merges,
                        content: value,
                    }));
                }
            }
        }
        let mut all = Vec::new();
        for last in &lasts {
            for disk in [None, Some(0), Some(1), Some(2)] {
                for desired in &desireds {
                    all.push((last.clone(), disk, *desired));
                }
            }
        }
        all
    }

    /// The tree and the memory after the verdict, conflicts resolved by keeping the file.
    fn apply(
        verdict: Verdict,
        last: Option<&LastApplied<u8>>,
        disk: Option<u8>,
        desired: Option<&Desired<u8>>,
    ) -> (Option<LastApplied<u8>>, Option<u8>) {
        let disk = match verdict {
            Verdict::Create | Verdict::Restore | Verdict::Write => {
                desired.map(|desired| desired.content)
            }
            Verdict::Adopt | Verdict::Merge => Some(MERGED),
            Verdict::Delete => None,
            _ => disk,
        };
        let last = match verdict.remember() {
            Remember::Nothing => None,
            Remember::Last => last.cloned(),
            Remember::Desired => {
                desired.map(|desired| LastApplied::of(desired.owner, desired.content))
            }
        };
        (last, disk)
    }

    #[test]
    fn deciding_again_changes_nothing() {
        for (last, disk, desired) in everything() {
            let verdict = reconcile(last.as_ref(), disk.as_ref(), desired.as_ref());
            let (last2, disk2) = apply(verdict, last.as_ref(), disk, desired.as_ref());
            let again = reconcile(last2.as_ref(), disk2.as_ref(), desired.as_ref());
            let (last3, disk3) = apply(again, last2.as_ref(), disk2, desired.as_ref());
            let case = format!("{last:?} {disk:?} {desired:?}: {verdict:?}, then {again:?}");
            assert_eq!(disk3, disk2, "{case}");
            assert!(
                !matches!(again, Verdict::Exists | Verdict::Edited),
                "{case}"
            );
            assert!(!matches!(again, Verdict::Merge | Verdict::Adopt), "{case}");
            assert_eq!(last3, last2, "{case}");
        }
    }

    #[test]
    fn no_edit_is_lost() {
        for (last, disk, desired) in everything() {
            let Some(bytes) = disk else { continue };
            let ours = last
                .as_ref()
                .is_some_and(|last| last.any_of.contains(&bytes));
            let verdict = reconcile(last.as_ref(), disk.as_ref(), desired.as_ref());
            let (_, after) = apply(verdict, last.as_ref(), disk, desired.as_ref());
            if !ours {
                assert!(
                    after == Some(bytes) || after == Some(MERGED),
                    "{last:?} {disk:?} {desired:?}: {verdict:?} loses an edit"
                );
            }
            let users = last.as_ref().is_some_and(|last| last.owner == Owner::User)
                && desired.is_some_and(|desired| desired.owner == Owner::User);
            if users {
                assert_eq!(
                    after,
                    Some(bytes),
                    "a User file was written twice: {last:?} {disk:?} {desired:?}"
                );
            }
        }
    }

    #[test]
    fn a_deletion_is_respected_unless_the_tool_owns_the_file() {
        for (last, disk, desired) in everything() {
            if let (Some(last), None, Some(desired)) = (&last, disk, &desired) {
                let verdict = reconcile(Some(last), None, Some(desired));
                assert_eq!(verdict == Verdict::Restore, desired.owner == Owner::Tool);
            }
        }
    }

    #[test]
    fn an_edited_tool_file_is_a_conflict_only_where_it_does_not_merge() {
        let of_tool = everything()
            .into_iter()
            .filter_map(|(last, disk, desired)| {
                let desired = desired.filter(|desired| desired.owner == Owner::Tool)?;
                Some((last?, disk?, desired))
            });
        for (last, disk, desired) in of_tool {
            let verdict = reconcile(Some(&last), Some(&disk), Some(&desired));
            let both_changed = disk != desired.content
                && !last.any_of.contains(&disk)
                && !last.any_of.contains(&desired.content);
            let expected = match desired.merges {
                true => Verdict::Merge,
                false => Verdict::Edited,
            };
            let case = format!("{last:?} {disk:?} {desired:?}: {verdict:?}");
            assert_eq!(verdict == expected, both_changed, "{case}");
        }
    }

    #[test]
    fn every_row_is_reached() {
        let reached: BTreeSet<_> = everything()
            .iter()
            .map(|(last, disk, desired)| reconcile(last.as_ref(), disk.as_ref(), desired.as_ref()))
            .collect();
        assert_eq!(reached.len(), Verdict::Edited as usize + 1, "{reached:?}");
    }
}
