//! What a controller owns in a status, according to the managed fields of the object.

use std::collections::BTreeSet;

use kube::api::ObjectMeta;

use super::{
    change::{Change, Ours},
    managed::Manager,
    parts::{self, Conditions, Part},
    writer::Writer,
    written,
};

impl Writer {
    /// What is the controller's own in the status of an object; `None` if only the newest object shows it.
    pub(super) fn ours(
        &self,
        change: &Change,
        object: &ObjectMeta,
        is_newest: bool,
    ) -> Option<Ours> {
        let owned = match self.owned.of(object) {
            _ if is_newest => self.owned_in(object),
            Some(owned) => owned,
            None if change.base.is_empty() => BTreeSet::new(),
            None => return None,
        };
        let applies = match self.learn(object) {
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

    /// The managers of merge patches: of this controller, and of every controller of earlier versions.
    fn merges(&self) -> [Manager<'_>; 2] {
        [&*self.manager, self.operator].map(|name| Manager {
            name,
            operation: "Update",
            subresource: Some("status"),
        })
    }

    /// What the controller owns, according to the object's managed fields. What an earlier version wrote is its
    /// own if no other controller has the type.
    pub(super) fn owned_in(&self, object: &ObjectMeta) -> BTreeSet<Part> {
        let [own, earlier] = self.merges();
        let earlier = self.alone.then_some(earlier);
        let managers = [self.applies(), own].into_iter().chain(earlier);
        let fields = managers.filter_map(|manager| manager.fields(object));
        fields.flat_map(parts::owned).collect()
    }

    /// The dropped parts that nobody owns but for merge patches of this operator.
    pub(super) fn lingering(
        &self,
        object: &ObjectMeta,
        is_dropped: impl Fn(&Part) -> bool,
    ) -> BTreeSet<Part> {
        let merges = self.merges();
        let (ours, others): (Vec<_>, Vec<_>) = object
            .managed_fields
            .iter()
            .flatten()
            .filter_map(|entry| Some((entry, parts::owned(&entry.fields_v1.as_ref()?.0))))
            .partition(|(entry, _)| merges.iter().any(|manager| manager.has(entry)));
        let is_others = |part: &Part| others.iter().any(|(_, parts)| parts.contains(part));
        let ours = ours.into_iter().flat_map(|(_, parts)| parts);
        ours.filter(|part| is_dropped(part) && !is_others(part))
            .collect()
    }

    /// How the API server merges the conditions of an object, as far as this object and its type have shown.
    pub(super) fn learn(&self, object: &ObjectMeta) -> Conditions {
        let entries = object.managed_fields.iter().flatten();
        let fields = entries.filter_map(|entry| entry.fields_v1.as_ref());
        let mut shown = fields.map(|fields| parts::merged_by(&fields.0));
        let shown = shown.find(|it| *it != Conditions::Unknown);
        match shown {
            Some(shown) if written::is_reconciled(object) => self.note_conditions(shown),
            None if written::is_reconciled(object) => return self.conditions(),
            _ => {}
        }
        shown.unwrap_or(Conditions::Unknown)
    }
}
