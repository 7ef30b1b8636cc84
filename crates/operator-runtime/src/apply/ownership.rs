//! What a controller owns in a status, according to the managed fields of the object.

use std::{collections::BTreeSet, iter::once};

use kube::api::ObjectMeta;
use serde_json::Value;

use super::{
    change::{Change, Ours},
    managed::{Managed, Manager, Status, StatusFields},
    parts::{self, Conditions, Part},
    writer::Writer,
    written,
};

/// A field manager of merge patches.
fn merges(name: &str) -> Manager<'_> {
    Manager {
        name,
        operation: "Update",
        subresource: Some("status"),
    }
}

impl Writer {
    /// What is the controller's own in the status of an object; `None` if only the newest object shows it.
    pub(super) fn ours(
        &self,
        change: &Change,
        object: &ObjectMeta,
        managed: &StatusFields,
        is_newest: bool,
    ) -> Option<Ours> {
        let owned = match self.owned.of(object) {
            _ if is_newest => self.owned_in(managed),
            Some(owned) => owned,
            None if change.base.is_empty() => BTreeSet::new(),
            None => return None,
        };
        let applies = match self.learn(object, managed) {
            Conditions::ByType => true,
            Conditions::Whole => false,
            Conditions::Unknown => {
                !(change.base.has_conditions() || change.wanted.has_conditions())
            }
        };
        Some(Ours {
            owned,
            rest: self.alone && !applies,
            applies,
        })
    }

    fn applies(&self) -> Manager<'_> {
        Manager {
            name: &self.manager,
            operation: "Apply",
            subresource: Some("status"),
        }
    }

    /// The managers of merge patches: of this controller, and those [before](Self::earlier).
    fn merges(&self) -> impl Iterator<Item = Manager<'_>> {
        once(merges(&self.manager)).chain(self.earlier())
    }

    /// The managers of every controller of earlier versions, and of the operator that this one replaces.
    fn earlier(&self) -> impl Iterator<Item = Manager<'_>> {
        once(self.operator)
            .chain(self.former.as_deref())
            .map(merges)
    }

    /// What the controller owns, according to the object's managed fields. What an earlier version wrote is its
    /// own if no other controller has the type.
    pub(super) fn owned_in(&self, managed: &StatusFields) -> BTreeSet<Part> {
        let earlier = self.earlier().filter(|_| self.alone);
        let own = [self.applies(), merges(&self.manager)];
        let managers = own.into_iter().chain(earlier);
        let fields = managers.filter_map(|manager| fields(managed, manager));
        fields.flat_map(parts::owned).collect()
    }

    /// The parts that merge patches of this operator own, and nobody else.
    pub(super) fn lingering(&self, managed: &StatusFields) -> BTreeSet<Part> {
        let is_ours = |entry: &Managed<Status>| {
            let mut all = self.merges().chain([self.applies()]);
            all.any(|manager| manager.has(entry))
        };
        let others = managed.iter().filter(|entry| !is_ours(entry));
        let others = others.filter_map(Managed::status);
        let others: BTreeSet<_> = others.flat_map(parts::owned).collect();
        let merged = self.merges().filter_map(|manager| fields(managed, manager));
        let merged = merged.flat_map(parts::owned);
        merged.filter(|part| !others.contains(part)).collect()
    }

    /// How the API server merges the conditions of an object, as far as this object and its type have shown.
    pub(super) fn learn(&self, object: &ObjectMeta, managed: &StatusFields) -> Conditions {
        let fields = managed.iter().filter_map(Managed::status);
        let mut shown = fields.map(parts::merged_by);
        let shown = shown.find(|it| *it != Conditions::Unknown);
        match shown {
            Some(shown) if written::is_reconciled(object) => self.note_conditions(shown),
            None if written::is_reconciled(object) => return self.conditions(),
            _ => {}
        }
        shown.unwrap_or(Conditions::Unknown)
    }
}

/// What a manager owns of the status.
fn fields<'a>(managed: &'a StatusFields, manager: Manager<'_>) -> Option<&'a Value> {
    let entry = managed.iter().find(|entry| manager.has(entry))?;
    entry.status()
}
