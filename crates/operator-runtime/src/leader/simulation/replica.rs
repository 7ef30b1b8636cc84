//! A replica, its clocks, and its connection to the network.

use std::time::Duration;

use k8s_openapi::jiff::Timestamp;

use crate::{
    client::fence::Fence,
    leader::{Timing, elector::Elector},
};

/// One replica. Its process ends and restarts, with a new identity each time.
#[derive(Debug)]
pub(super) struct Replica {
    pub(super) identity: String,
    pub(super) elector: Elector,
    pub(super) fence: Fence,
    pub(super) timing: Timing,
    /// The number of the current process: events for an earlier process are ignored.
    pub(super) process: u64,
    pub(super) runs: bool,
    /// No more new work: running reconciles may finish.
    pub(super) draining: bool,
    /// The number of the current wake-up.
    pub(super) wake: u64,
    /// The call in flight.
    pub(super) call: Option<u64>,
    /// By its own clock: the renew deadline after the last accepted renewal was sent.
    pub(super) deadline: Duration,
    /// In real time: paused, as by SIGSTOP, until then.
    pub(super) stopped: Duration,
    /// In real time: without network until then.
    pub(super) cut: Duration,
    /// The longest delay of a message.
    pub(super) delay: Duration,
    /// The initial time of its clock, and the rate of the clock.
    pub(super) booted: Duration,
    pub(super) rate: f64,
    /// The error of its wall clock, in seconds.
    pub(super) wall: i64,
}

impl Replica {
    pub(super) fn new(timing: Timing, booted: Duration, rate: f64) -> Self {
        Self {
            identity: String::new(),
            elector: Elector::new(String::new(), timing),
            fence: Fence::closed(),
            timing,
            process: 0,
            runs: false,
            draining: false,
            wake: 0,
            call: None,
            deadline: Duration::ZERO,
            stopped: Duration::ZERO,
            cut: Duration::ZERO,
            delay: Duration::from_millis(20),
            booted,
            rate,
            wall: 0,
        }
    }

    pub(super) fn start(&mut self, number: usize) {
        self.identity = format!("{number}-{}", self.process);
        self.elector = Elector::new(self.identity.clone(), self.timing);
        self.fence = Fence::closed();
        self.deadline = Duration::ZERO;
        self.runs = true;
        self.draining = false;
        self.call = None;
    }

    /// Ends the process.
    pub(super) fn end(&mut self) {
        self.process += 1;
        self.runs = false;
        self.fence = Fence::closed();
        self.stopped = Duration::ZERO;
    }

    /// The time since boot on its clock, at this real time.
    pub(super) fn clock(&self, real: Duration) -> Duration {
        self.booted + real.mul_f64(self.rate)
    }

    /// The real time in which its clock advances by this much.
    pub(super) fn real(&self, clock: Duration) -> Duration {
        clock.div_f64(self.rate)
    }

    pub(super) fn wall_clock(&self, real: Duration) -> Timestamp {
        let seconds = i64::try_from(real.as_secs()).unwrap() + self.wall;
        Timestamp::new(1_800_000_000 + seconds, real.subsec_nanos().cast_signed()).unwrap()
    }

    pub(super) fn may_write(&self, real: Duration) -> bool {
        self.runs && self.fence.permits(self.clock(real))
    }
}
