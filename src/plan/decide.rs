//! Decides one desired file.

use super::{
    decision::{Decision, Outcome, by_verdict},
    sides::{Base, Sides},
    traces,
};
use crate::{
    reconcile::Verdict,
    tree::{self, Digest},
};

/// Decides a desired file. Where a git merge left traces, they go before the table.
pub fn decide(sides: &Sides<'_>) -> Decision {
    if let (Base::Former(base), Some(on_disk)) = (sides.base, &sides.on_disk) {
        return by_verdict(sides, follow(sides, base, on_disk));
    }
    traces::decide(sides).unwrap_or_else(|| by_table(sides))
}

/// The verdict for a User file that follows a newer definition, or a newer source that it is copied from.
fn follow(sides: &Sides<'_>, base: &[u8], on_disk: &Digest) -> Verdict {
    match on_disk {
        _ if *on_disk == sides.digest => Verdict::Unchanged,
        // Nothing is new, also where no merge is possible, as of a file that is not text.
        _ if tree::unix_line_ends(base) == tree::unix_line_ends(&sides.desired.content) => {
            Verdict::KeepUser
        }
        _ if sides.is_row(on_disk) => Verdict::Write,
        _ => Verdict::Merge,
    }
}

/// The decision of the table.
fn by_table(sides: &Sides<'_>) -> Decision {
    let merged = match sides.base {
        Base::Rendered(base) => sides.merge_onto(base).ok(),
        _ => None,
    };
    let verdict = sides.verdict(merged.is_some());
    match merged.filter(|_| verdict == Verdict::Merge) {
        Some(text) => Decision::of(sides, verdict, Outcome::Merged(text)),
        None => by_verdict(sides, verdict),
    }
}
