//! What `/readyz` says of the shards.
//!
//! A replica is not ready before it has read the assignment once: a new version that may not read it must not
//! replace the old one. All else is a remark. A replica that waits for its objects may have to convert them,
//! which the API server asks of ready replicas; one that hears nothing any more does not hear more if it gets no
//! webhooks; and without an assignment, it may wait for the end of the one that it replaces.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use parking_lot::Mutex;

use crate::{
    cache::Shards,
    clock::since_boot,
    server::probes::Readiness,
    slots::{Slot, Slots},
};

/// The name of the check.
const CHECK: &str = "shards";

/// What lasts so long is worth a remark.
const LONG: Duration = Duration::from_secs(30);

/// What a replica waits for. Clones share the state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Progress(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    /// Whether there was an assignment when this replica last heard of it.
    heard: Option<bool>,
    /// Since when its watch fails, and why.
    fails: Option<(Duration, String)>,
    /// Since when this replica, which leads, cannot deal the slots, and why.
    stuck: Option<(Duration, String)>,
    /// Since when slots wait for their objects.
    unfilled: BTreeMap<Slot, Duration>,
}

impl Progress {
    /// Adds the check of an operator with a Lease of this name.
    pub(crate) fn show(&self, readiness: &Readiness, lease: &str, shards: Shards) {
        let (progress, object) = (self.clone(), super::object(lease));
        readiness.tell(CHECK, move || {
            let missing = |slots| match &*shards.unlisted(slots) {
                [] => "they are there, and the process is busy".to_owned(),
                kinds => format!("listing {}", kinds.join(", ")),
            };
            progress.verdict(&object, since_boot(), missing)
        });
    }

    /// The watch shows whether there is an assignment.
    pub(super) fn hears(&self, exists: bool) {
        let mut state = self.0.lock();
        state.heard = Some(exists);
        state.fails = None;
    }

    /// The watch has failed.
    pub(super) fn fails(&self, why: &str, now: Duration) {
        note(&mut self.0.lock().fails, why, now);
    }

    /// This replica leads and deals the slots, or another one does.
    pub(super) fn deals(&self) {
        self.0.lock().stuck = None;
    }

    /// This replica leads, and cannot deal the slots.
    pub(super) fn cannot_deal(&self, why: &str, now: Duration) {
        note(&mut self.0.lock().stuck, why, now);
    }

    /// These slots wait for their objects.
    pub(super) fn waits(&self, slots: Slots, now: Duration) {
        let unfilled = &mut self.0.lock().unfilled;
        unfilled.retain(|slot, _| slots.contains(*slot));
        for slot in slots.iter() {
            unfilled.entry(slot).or_insert(now);
        }
    }

    /// The result of the check. `missing` names the watches that have not listed these slots.
    pub(super) fn verdict(
        &self,
        object: &str,
        now: Duration,
        missing: impl Fn(Slots) -> String,
    ) -> Result<Option<String>, String> {
        let state = self.0.lock();
        let seconds = |since: Duration| now.saturating_sub(since).as_secs();
        let is_long = |since: Duration| now.saturating_sub(since) >= LONG;
        let Some(exists) = state.heard else {
            let why = state.fails.as_ref().map(|(_, why)| format!(": {why}"));
            let why = why.unwrap_or_default();
            return Err(format!("it has not read ConfigMap {object} yet{why}"));
        };
        if let Some((since, why)) = state.fails.as_ref().filter(|(since, _)| is_long(*since)) {
            let seconds = seconds(*since);
            return Ok(Some(format!(
                "no news of ConfigMap {object} for {seconds} s: {why}"
            )));
        }
        if let Some((since, why)) = state.stuck.as_ref().filter(|(since, _)| is_long(*since)) {
            let seconds = seconds(*since);
            return Ok(Some(format!(
                "it leads, and cannot deal the slots for {seconds} s: {why}"
            )));
        }
        if !exists {
            return Ok(Some(format!(
                "no leader has written ConfigMap {object} yet"
            )));
        }
        let late: BTreeMap<_, _> = state
            .unfilled
            .iter()
            .filter(|(_, since)| is_long(**since))
            .collect();
        let Some(since) = late.values().min() else {
            return Ok(None);
        };
        let (seconds, slots) = (seconds(**since), late.into_keys().copied().collect());
        let missing = missing(slots);
        Ok(Some(format!(
            "slots {slots} wait for their objects, the first for {seconds} s: {missing}"
        )))
    }
}

/// Takes a failure that goes on: the time is that of the first one, the text that of the last one.
fn note(failure: &mut Option<(Duration, String)>, why: &str, now: Duration) {
    let since = failure.as_ref().map_or(now, |(since, _)| *since);
    *failure = Some((since, why.to_owned()));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(second: u64) -> Duration {
        Duration::from_secs(second)
    }

    fn verdict(progress: &Progress, now: u64) -> Result<Option<String>, String> {
        progress.verdict("a-shards", second(now), |slots| format!("listing {slots}"))
    }

    fn remark(text: &str) -> Result<Option<String>, String> {
        Ok(Some(text.to_owned()))
    }

    #[test]
    fn only_who_has_never_heard_of_the_assignment_is_not_ready() {
        let progress = Progress::default();
        let unread = "it has not read ConfigMap a-shards yet";
        assert_eq!(verdict(&progress, 0), Err(unread.to_owned()));
        progress.fails("forbidden", second(1));
        assert_eq!(verdict(&progress, 1), Err(format!("{unread}: forbidden")));
        // The leader that it replaces may be one without shards.
        progress.hears(false);
        let nobody = "no leader has written ConfigMap a-shards yet";
        assert_eq!(verdict(&progress, 900), remark(nobody));
        progress.hears(true);
        assert_eq!(verdict(&progress, 900), Ok(None), "it needs no slot");
    }

    #[test]
    fn what_lasts_is_a_remark() {
        let progress = Progress::default();
        progress.hears(true);
        progress.fails("no route", second(10));
        progress.fails("reset", second(20));
        assert_eq!(verdict(&progress, 39), Ok(None));
        let silent = "no news of ConfigMap a-shards for 30 s: reset";
        assert_eq!(verdict(&progress, 40), remark(silent));
        progress.hears(true);
        assert_eq!(verdict(&progress, 40), Ok(None));

        progress.cannot_deal("conflict", second(5));
        progress.cannot_deal("forbidden", second(40));
        let stuck = "it leads, and cannot deal the slots for 35 s: forbidden";
        assert_eq!(verdict(&progress, 40), remark(stuck));
        progress.deals();
        assert_eq!(verdict(&progress, 40), Ok(None));

        progress.waits("3-4".parse().unwrap(), second(40));
        progress.waits("3-5".parse().unwrap(), second(50));
        assert_eq!(verdict(&progress, 69), Ok(None));
        let waits = "slots 3-4 wait for their objects, the first for 31 s: listing 3-4";
        assert_eq!(verdict(&progress, 71), remark(waits));
        progress.waits(Slots::NONE, second(72));
        assert_eq!(verdict(&progress, 99), Ok(None));
    }
}
