//! Faults of processes, clocks, the network, and people.

use std::time::Duration;

use super::world::{Event, TROUBLE, World};

impl World {
    /// Injects a fault now and then, until the time for faults is over.
    pub(super) fn trouble(&mut self) {
        let second = Duration::from_secs;
        if self.now >= TROUBLE {
            for process in &mut self.processes {
                process.delay = Duration::from_millis(20);
            }
            return;
        }
        let place = self.below(self.processes.len() as u64) as usize;
        let (kind, long) = (self.below(24), self.up_to(second(30)));
        // All faults end in time.
        let until = (self.now + long).min(TROUBLE);
        let process = &mut self.processes[place];
        match kind {
            0..8 => process.stopped = until,
            8..12 => process.cut = until,
            12 | 13 => process.delay = long / 5,
            14..17 if process.runs => self.restart(place),
            17..21 if process.runs && !process.member.notes().leaving => {
                process.member.leave();
                let limit = self.up_to(second(12));
                self.after(limit, place, Event::GiveUp);
                self.change(place, &Default::default());
            }
            21 => {
                self.server.remove();
                self.announce();
            }
            22 => {
                if let Some(object) = &mut self.server.object {
                    let owners = object.data.entry("owners".to_owned()).or_default();
                    *owners = owners.replace("p0", "p1");
                    self.server.version += 1;
                    object.version = self.server.version;
                    self.announce();
                }
            }
            _ => {}
        }
        let delay = self.up_to(second(14)).min(TROUBLE.saturating_sub(self.now));
        self.after(delay.max(Duration::from_millis(1)), 0, Event::Trouble);
    }

    pub(super) fn restart(&mut self, place: usize) {
        self.processes[place].end();
        let delay = self.up_to(Duration::from_secs(3));
        self.after(delay, place, Event::Start);
    }

    /// The delay of a message from or to a process, if it arrives.
    pub(super) fn travels(&mut self, place: usize) -> Option<Duration> {
        let process = &self.processes[place];
        let (works, most) = (process.cut <= self.now, process.delay);
        let delay = self.up_to(most);
        works.then_some(delay)
    }

    /// Whether a message is lost, for no reason.
    pub(super) fn is_lost(&mut self) -> bool {
        self.now < TROUBLE && self.below(8) == 0
    }

    pub(super) fn up_to(&mut self, most: Duration) -> Duration {
        most.mul_f64(self.below(1_000_000) as f64 / 1_000_000.0)
    }

    /// A number below `limit` (SplitMix64).
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }
}
