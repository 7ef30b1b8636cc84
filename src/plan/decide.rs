//! Decides one desired file.

use super::{
    decision::{Decision, Outcome, by_verdict},
    sides::{Base, Sides},
    traces,
};
use crate::{reconcile::Verdict, tree::Digest};

/// Decides a desired file. Where a git merge left traces, they go before the table.
pub fn decide(sides: &Sides<'_>) -> Decision {
    if let (Base::Former(_), Some(on_disk)) = (sides.base, &sides.on_disk) {
        return by_verdict(sides, follow(sides, on_disk));
    }
    traces::decide(sides).unwrap_or_else(|| by_table(sides))
}

/// The verdict for a User file that follows a newer definition.
fn follow(sides: &Sides<'_>, on_disk: &Digest) -> Verdict {
    match on_disk {
        _ if *on_disk == sides.digest => Verdict::Unchanged,
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
