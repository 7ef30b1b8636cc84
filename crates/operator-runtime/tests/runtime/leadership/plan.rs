//! The faults of one schedule.

use std::time::Duration;

/// Lease duration, renew deadline, retry period.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    pub lease: Duration,
    pub renew: Duration,
    pub retry: Duration,
}

impl Timing {
    /// The times in the same proportion.
    pub fn with_lease(self, lease: Duration) -> Self {
        let factor = lease.as_secs_f64() / self.lease.as_secs_f64();
        Self {
            lease,
            renew: self.renew.mul_f64(factor),
            retry: self.retry.mul_f64(factor),
        }
    }

    /// Flags of an operator with these times.
    pub fn flags(&self) -> String {
        format!(
            "--leader-elect-lease-duration={}ms --leader-elect-renew-deadline={}ms --leader-elect-retry-period={}ms",
            self.lease.as_millis(),
            self.renew.as_millis(),
            self.retry.as_millis(),
        )
    }
}

pub const DEFAULT: Timing = Timing {
    lease: Duration::from_secs(15),
    renew: Duration::from_secs(10),
    retry: Duration::from_secs(2),
};

pub const SHORT: Timing = Timing {
    lease: Duration::from_secs(3),
    renew: Duration::from_secs(2),
    retry: Duration::from_millis(400),
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// A replica's network is cut for longer than the lease.
    Partition,
    /// A replica's network is cut for a moment.
    Flicker,
    /// Each message takes up to 3 s, but less than the lease duration minus the renew deadline.
    Delay,
    /// A replica's connections are dead, without notice.
    HalfOpen,
    /// A replica's connections are reset, again and again.
    Reset,
    /// The leader loses the permission to renew its lease; everything else works.
    Revoke,
    /// A replica is paused for longer than the lease (SIGSTOP, SIGCONT).
    Stop,
    /// A replica crashes (SIGKILL).
    Kill,
    /// A replica is terminated (SIGTERM).
    Terminate,
    /// The API server crashes, and is restarted.
    Restart,
}

use Fault::*;

const FAULTS: [Fault; 10] = [
    Stop, Partition, Revoke, HalfOpen, Delay, Reset, Flicker, Kill, Terminate, Restart,
];

/// The faults that do not affect other clients of the API server.
const PRIVATE: usize = FAULTS.len() - 1;

#[derive(Clone, Debug)]
pub struct Schedule {
    pub seed: u64,
    pub timing: Timing,
    pub faults: Vec<Fault>,
    /// The duration of random faults.
    pub time: Duration,
    /// Whether the operator is kube's `Controller` in a task of the manager.
    pub kube: bool,
    random: u64,
}

impl Schedule {
    pub fn new(seed: u64, timing: Timing, faults: &[Fault]) -> Self {
        Self {
            seed,
            timing,
            faults: faults.to_vec(),
            time: Duration::ZERO,
            kube: false,
            random: seed,
        }
    }

    /// The same for kube's `Controller`.
    pub fn of_kube(self) -> Self {
        Self { kube: true, ..self }
    }

    /// Random faults. Nine schedules in a row contain every fault.
    pub fn random(seed: u64) -> Self {
        let mut schedule = Self::new(seed, SHORT, &[]);
        let first = FAULTS[seed as usize % PRIVATE];
        let second = schedule.any(&FAULTS[..PRIVATE]);
        let last = if seed.is_multiple_of(2) {
            Terminate
        } else {
            Kill
        };
        schedule.faults = vec![first, second, last];
        schedule
    }

    /// The fault with this number after this time; `None` at the end of the schedule.
    pub fn fault(&mut self, number: usize, taken: Duration) -> Option<Fault> {
        if number == self.faults.len() && taken < self.time {
            let fault = self.any(&FAULTS);
            self.faults.push(fault);
        }
        self.faults.get(number).copied()
    }

    fn any(&mut self, faults: &[Fault]) -> Fault {
        faults[(self.fraction() * faults.len() as f64) as usize]
    }

    /// The longest delay of a delivered message.
    pub fn most_delay(&self) -> Duration {
        if !self.faults.contains(&Delay) {
            return Duration::ZERO;
        }
        let margin = self.timing.lease - self.timing.renew;
        Duration::from_secs(3).min(margin.mul_f64(0.7))
    }

    /// From 0 to 1 (SplitMix64).
    pub fn fraction(&mut self) -> f64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}
