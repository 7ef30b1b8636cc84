//! How long slots take to come to this process.

use std::{collections::BTreeMap, time::Duration};

use crate::slots::{Slot, Slots};

/// Since when slots are on their way to this process, in time since boot.
#[derive(Debug, Default)]
pub(super) struct Takeovers {
    given: BTreeMap<Slot, Duration>,
    resting: BTreeMap<Slot, Duration>,
}

impl Takeovers {
    /// Takes all slots that come to this process, and those of them that nobody serves any more.
    pub(super) fn see(&mut self, coming: Slots, resting: Slots, now: Duration) {
        for (since, slots) in [(&mut self.given, coming), (&mut self.resting, resting)] {
            since.retain(|slot, _| slots.contains(*slot));
            for slot in slots.iter() {
                since.entry(slot).or_insert(now);
            }
        }
    }

    /// Takes that this process serves a slot. Returns how long it was on its way, and how long of this nobody
    /// served it.
    pub(super) fn served(&mut self, slot: Slot, now: Duration) -> (Duration, Duration) {
        let took = |since: &mut BTreeMap<_, Duration>| {
            let since = since.remove(&slot);
            since.map_or(Duration::ZERO, |since| now.saturating_sub(since))
        };
        (took(&mut self.given), took(&mut self.resting))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_rests_for_the_last_part_of_its_way() {
        let mut takeovers = Takeovers::default();
        let mut at = |second, coming: &str, resting: &str| {
            let slots = |text: &str| text.parse().unwrap();
            takeovers.see(slots(coming), slots(resting), Duration::from_secs(second));
        };
        at(10, "1-3", "");
        at(14, "1-3", "2");
        // Another replica is to have the first one now.
        at(15, "2-3", "2-3");
        at(16, "1-3", "2-3");
        let mut took = |slot| {
            let (way, rest) = takeovers.served(Slot::new(slot).unwrap(), Duration::from_secs(20));
            (way.as_secs(), rest.as_secs())
        };
        assert_eq!([took(1), took(2), took(3)], [(4, 0), (10, 6), (10, 5)]);
        assert_eq!(took(1), (0, 0));
    }
}
