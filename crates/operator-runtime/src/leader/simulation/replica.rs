//! A replica, its clocks, and its part of the network.

use std::time::Duration;

use k8s_openapi::jiff::Timestamp;

use crate::{
    client::fence::Fence,
    leader::{Timing, elector::Elector},
};

/// One replica. Its process ends and starts again, with another identity each time.
#[derive(Debug)]
pub(super) struct Replica {
    pub(super) identity: String,
    pub(super) elector: Elector,
    pub(super) fence: Fence,
    pub(super) timing: Timing,
    /// Which process of this replica runs: what was meant for another one does not reach it.
    pub(super) process: u64,
    pub(super) runs: bool,
    /// No more changes: the reconciles that run may finish.
    pub(super) draining: bool,
    /// Which wake-up counts.
    pub(super) wake: u64,
    /// The call under way.
    pub(super) call: Option<u64>,
    /// By its own clock: the renew deadline after the last renewal that the server accepted was sent.
    pub(super) deadline: Duration,
    /// Of the real time: stopped, as by SIGSTOP, until then.
    pub(super) stopped: Duration,
    /// Of the real time: without network until then.
    pub(super) cut: Duration,
    /// How long a message takes at most.
    pub(super) delay: Duration,
    /// What its clock showed at the beginning, and how fast it runs.
    pub(super) booted: Duration,
    pub(super) rate: f64,
    /// Seconds by which its wall clock is wrong.
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

    /// The process is gone.
    pub(super) fn end(&mut self) {
        self.process += 1;
        self.runs = false;
        self.fence = Fence::closed();
        self.stopped = Duration::ZERO;
    }

    /// Its time since boot at this real time.
    pub(super) fn clock(&self, real: Duration) -> Duration {
        self.booted + real.mul_f64(self.rate)
    }

    /// How long it takes until its clock has advanced by this much.
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
