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
}
