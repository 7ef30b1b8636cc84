//! Faults of processes, clocks, and the network.

use std::time::Duration;

use super::{
    replica::Replica,
    world::{Event, TROUBLE, World},
};

impl World {
    /// Injects a fault now and then, until the time for faults is over.
    pub(super) fn trouble(&mut self) {
        let second = Duration::from_secs;
        if self.now >= TROUBLE {
            for replica in &mut self.replicas {
                replica.delay = Duration::from_millis(20);
            }
            return;
        }
        // Faults of the leader matter more.
        let any = self.below(self.replicas.len() as u64) as usize;
        let leads = |replica: &Replica| replica.may_write(self.now);
        let leader = self.replicas.iter().position(leads).unwrap_or(any);
        let number = if self.below(3) > 0 { leader } else { any };
        let (kind, long) = (self.below(8), self.up_to(second(45)));
        let wall = self.below(200_000) as i64 - 100_000;
        let replica = &mut self.replicas[number];
        match kind {
            0 | 1 => replica.stopped = self.now + long,
            2 | 3 => replica.cut = self.now + long,
            4 => replica.delay = long / 5,
            5 => replica.wall = wall,
            6 if replica.runs => self.restart(number),
            7 if replica.runs && !replica.draining => {
                replica.draining = true;
                let drain = replica.timing.margin();
                self.after(drain, number, Event::Drained);
            }
            _ => {}
        }
        let delay = self.up_to(second(12));
        self.after(delay, 0, Event::Trouble);
    }

    pub(super) fn restart(&mut self, number: usize) {
        self.replicas[number].end();
        let delay = self.up_to(Duration::from_secs(3));
        self.after(delay, number, Event::Start);
    }

    /// The delay of a message from or to a replica, if it arrives.
    pub(super) fn travels(&mut self, number: usize) -> Option<Duration> {
        let replica = &self.replicas[number];
        let (works, most) = (replica.cut <= self.now, replica.delay);
        let delay = self.up_to(most);
        works.then_some(delay)
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
