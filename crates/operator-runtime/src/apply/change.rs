//! The change of a status, before it is sent.

use std::collections::BTreeSet;

use kube::api::ObjectMeta;
use serde_json::Value;

use super::{
    parts::{Part, Parts},
    writer::Writer,
};

/// The change of a status.
pub(super) struct Change {
    /// The status from which the controller decided.
    pub(super) base: Parts,
    pub(super) wanted: Parts,
}

/// The controller's own part of a status.
pub(super) struct Ours {
    pub(super) owned: BTreeSet<Part>,
    /// Whether everything else is the controller's, too.
    pub(super) rest: bool,
    /// Whether to apply it.
    pub(super) applies: bool,
}

impl Ours {
    pub(super) fn everything() -> Self {
        Self {
            owned: BTreeSet::new(),
            rest: true,
            applies: false,
        }
    }

    pub(super) fn has(&self, part: &Part) -> bool {
        self.rest || self.owned.contains(part)
    }

    pub(super) fn note(self, writer: Option<&Writer>, object: &ObjectMeta) {
        if let Some(writer) = writer {
            writer.owned.note(object, self.owned);
        }
    }
}

impl Change {
    pub(super) fn is_changed(&self, part: &Part) -> bool {
        self.wanted.get(part) != self.base.get(part)
    }

    /// Whether the controller wants to remove this part.
    pub(super) fn is_dropped(&self, part: &Part, ours: &Ours) -> bool {
        self.wanted.get(part).is_none() && ours.has(part)
    }

    /// Whether it removes one of these parts. Of one that a merge patch has written, too, an apply would leave what has not changed
    /// since, which the API server refuses: a condition without its reason.
    pub(super) fn drops(&self, ours: &Ours, parts: &BTreeSet<Part>) -> bool {
        let mut all = parts.iter();
        all.any(|part| self.is_dropped(part, ours))
    }

    pub(super) fn is_done(&self, ours: &Ours) -> bool {
        let mut dropped = self.base.keys().chain(&ours.owned);
        let is_changed = self.wanted.keys().any(|part| self.is_changed(part));
        !is_changed && !dropped.any(|part| self.is_dropped(part, ours))
    }

    /// Whether the controller would decide the same from `live`.
    pub(super) fn holds(&self, live: &Parts, ours: &Ours) -> bool {
        let all = self.wanted.keys().chain(&ours.owned);
        let mut written = all.filter(|part| self.is_changed(part) || ours.owned.contains(part));
        written.all(|part| {
            let found = live.get(part);
            found == self.base.get(part) || found == self.wanted.get(part)
        })
    }

    /// What the controller applies: what it owns, and what it changes.
    pub(super) fn applied(&self, ours: &Ours) -> Value {
        let mut applied = self.wanted.clone();
        applied.retain(|part| ours.owned.contains(part) || self.is_changed(part));
        applied.into_status()
    }

    /// The status after the change of `live`.
    pub(super) fn merged(&self, live: &Value, ours: &Ours) -> Value {
        let mut merged = Parts::of(live);
        for part in self.wanted.keys().filter(|part| self.is_changed(part)) {
            if let Some(value) = self.wanted.get(part) {
                merged.set(part, value.clone());
            }
        }
        // A part that the controller has not seen is not its own.
        let is_known = |part: &Part| self.base.get(part).is_some() || ours.owned.contains(part);
        merged.retain(|part| !(is_known(part) && self.is_dropped(part, ours)));
        merged.into_status()
    }

    /// The status `live` after the apply, with those of the `lingering` parts as the controller wants them; `None`
    /// if they are.
    pub(super) fn corrected(
        &self,
        live: &Value,
        ours: &Ours,
        lingering: &BTreeSet<Part>,
    ) -> Option<Value> {
        let live = Parts::of(live);
        let mut corrected = live.clone();
        for part in lingering {
            let is_written = ours.owned.contains(part) || self.is_changed(part);
            match self.wanted.get(part) {
                Some(value) if is_written => corrected.set(part, value.clone()),
                None if is_written => corrected.retain(|it| it != part),
                _ => {}
            }
        }
        (corrected != live).then(|| corrected.into_status())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn condition(type_: &str, reason: &str) -> Value {
        json!({ "type": type_, "status": "True", "reason": reason })
    }

    fn change(base: &[Value], wanted: &[Value]) -> Change {
        let parts = |conditions: &[Value]| Parts::of(&json!({ "conditions": conditions }));
        Change {
            base: parts(base),
            wanted: parts(wanted),
        }
    }

    fn ours(types: &[&str]) -> Ours {
        let part = |type_: &&str| Part::Condition((*type_).to_owned());
        Ours {
            owned: types.iter().map(part).collect(),
            rest: false,
            applies: true,
        }
    }

    #[test]
    fn a_controller_applies_what_it_owns_and_what_it_changes() {
        let (mine, new) = (condition("Mine", "Old"), condition("Mine", "New"));
        let (theirs, extra) = (condition("Theirs", "Old"), condition("Extra", "Old"));
        let old = [mine.clone(), theirs.clone(), extra.clone()];
        for (wanted, expected) in [
            // It names its own conditions.
            (vec![new.clone()], Some(vec![new.clone()])),
            // It starts from the old status: those of others are not claimed.
            (
                vec![new.clone(), theirs.clone(), extra.clone()],
                Some(vec![new.clone(), extra.clone()]),
            ),
            // It drops one.
            (vec![mine.clone()], Some(vec![mine.clone()])),
            (vec![mine.clone(), theirs.clone()], Some(vec![mine.clone()])),
            // Nothing of its own differs.
            (vec![extra.clone(), mine.clone()], None),
            (old.to_vec(), None),
        ] {
            let (change, ours) = (change(&old, &wanted), ours(&["Mine", "Extra"]));
            let applied = (!change.is_done(&ours)).then(|| change.applied(&ours));
            let expected = expected.map(|conditions| json!({ "conditions": conditions }));
            assert_eq!(applied, expected, "{wanted:?}");
        }
    }

    #[test]
    fn an_outdated_decision_about_its_own_part_does_not_hold() {
        let (old, new) = (condition("Mine", "Old"), condition("Mine", "New"));
        let (theirs, other) = (condition("Theirs", "Old"), condition("Theirs", "New"));
        let change = change(&[old.clone(), theirs.clone()], std::slice::from_ref(&new));
        for (live, expected) in [
            (json!([old, theirs]), true),
            (json!([old, other]), true),
            // As wanted already.
            (json!([new, other]), true),
            (json!([condition("Mine", "Newest"), theirs]), false),
            (json!([theirs]), false),
        ] {
            let parts = Parts::of(&json!({ "conditions": live }));
            assert_eq!(change.holds(&parts, &ours(&["Mine"])), expected, "{live}");
        }
    }

    #[test]
    fn a_merge_keeps_what_is_not_the_controllers_own() {
        let (old, new) = (condition("Mine", "Old"), condition("Mine", "New"));
        let (theirs, late) = (condition("Theirs", "Old"), condition("Late", "New"));
        let change = change(&[theirs.clone(), old.clone()], std::slice::from_ref(&new));
        let live = json!({ "phase": "x", "conditions": [theirs, old, late] });
        let merged = change.merged(&live, &ours(&["Mine"]));
        let expected = json!({ "phase": "x", "conditions": [theirs, new, late] });
        assert_eq!(merged, expected);
        // Alone, the controller removes what it has seen.
        let merged = change.merged(&live, &Ours::everything());
        assert_eq!(merged, json!({ "phase": "x", "conditions": [new, late] }));
    }

    /// An apply of a list by key leaves the elements that a merge patch has written.
    #[test]
    fn what_a_merge_patch_has_written_is_corrected() {
        let member = |name: &str| json!({ "name": name });
        let status = |members: &[Value]| json!({ "members": members, "others": [member("c")] });
        let (old, new) = (
            status(&[member("a"), member("b")]),
            json!({ "members": [member("b")] }),
        );
        let change = Change {
            base: Parts::of(&old),
            wanted: Parts::of(&new),
        };
        let part = |name: &str| Part::Field(name.to_owned());
        let mut ours = ours(&[]);
        let corrected = change.corrected(&old, &ours, &[part("members")].into());
        assert_eq!(corrected, Some(status(&[member("b")])));
        let corrected = change.corrected(&status(&[member("b")]), &ours, &[part("members")].into());
        assert_eq!(corrected, None);
        assert_eq!(change.corrected(&old, &ours, &BTreeSet::new()), None);
        // A dropped part.
        ours.owned.insert(part("others"));
        let lingering = [part("members"), part("others")].into();
        assert_eq!(change.corrected(&old, &ours, &lingering), Some(new));
    }
}
