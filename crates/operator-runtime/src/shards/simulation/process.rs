//! A process, its clocks, and its connection to the network.

use std::{collections::BTreeMap, time::Duration};

use k8s_openapi::{api::coordination::v1::Lease, jiff::Timestamp};

use super::server::{Object, Server};
use crate::leader::Birth;
use crate::slots::Slot;
use crate::{
    client::fence::Fence,
    leader::{
        Timing,
        elector::{Call, Elector},
    },
    shards::{
        assignment::Assignment,
        identity::Identity,
        member::{Changes, Member},
        notes::Notes,
        roll::{Listing, Roll},
    },
};

/// A Lease and the elector of this process for it.
#[derive(Debug)]
pub(super) struct Candidacy {
    pub(super) elector: Elector,
    /// The call in flight.
    pub(super) call: Option<(u64, Call)>,
    /// The number of the current wake-up.
    pub(super) wake: u64,
}

impl Candidacy {
    fn new(identity: &Identity, timing: Timing) -> Self {
        Self {
            elector: Elector::new(identity.to_string(), timing),
            call: None,
            wake: 0,
        }
    }
}

/// The number of slots.
pub(super) const SLOTS: u8 = 6;

/// The number of the object, and the epoch.
pub(super) type Order = (u64, u64);

/// A request in flight, under a slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub(super) id: u64,
    pub(super) slot: Slot,
    /// By the clock of the process.
    pub(super) sent: Duration,
}

/// One replica. Its process ends and restarts, with a new identity each time.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) place: usize,
    pub(super) timing: Timing,
    /// The number of the current process: events for an earlier process are ignored.
    pub(super) number: u64,
    pub(super) runs: bool,
    /// Its own Lease, and that of the leader.
    pub(super) candidacies: [Candidacy; 2],
    pub(super) birth: Birth,
    pub(super) member: Member,
    pub(super) written: Notes,
    /// For each slot and epoch, the order of its owner among all owners of the slot, and the fence.
    pub(super) fences: BTreeMap<(Slot, u64), (Order, Fence)>,
    pub(super) requests: Vec<Request>,
    pub(super) roll: Roll,
    /// The last object that was seen, its assignment if it is readable, and the version: reads go forward only.
    pub(super) object: Option<Object>,
    pub(super) assignment: Option<Assignment>,
    pub(super) version: u64,
    /// The question in flight, and the list that it asks for.
    pub(super) ask: Option<u64>,
    pub(super) listing: Option<Listing>,
    /// By its own clock: the times of the last read and of the last list.
    pub(super) read: Option<Duration>,
    pub(super) listed: Option<Duration>,
    /// In real time: paused, as by SIGSTOP, until then.
    pub(super) stopped: Duration,
    /// In real time: without network until then.
    pub(super) cut: Duration,
    /// The longest delay of a message.
    pub(super) delay: Duration,
    /// The initial time of its clock, and the rate of the clock.
    booted: Duration,
    rate: f64,
}

/// The index of a process' own Lease, and of the leader's.
pub(super) const OWN: usize = 0;
pub(super) const LEADER: usize = 1;

impl Process {
    pub(super) fn new(place: usize, timing: Timing, booted: Duration, rate: f64) -> Self {
        let identity = name(place, 0);
        Self {
            place,
            timing,
            number: 0,
            runs: false,
            candidacies: candidacies(&identity, timing),
            birth: Birth::default(),
            member: Member::new(identity),
            written: Notes::default(),
            fences: BTreeMap::new(),
            requests: Vec::new(),
            roll: Roll::new(timing.lease),
            object: None,
            assignment: None,
            version: 0,
            ask: None,
            listing: None,
            read: None,
            listed: None,
            stopped: Duration::ZERO,
            cut: Duration::ZERO,
            delay: Duration::from_millis(20),
            booted,
            rate,
        }
    }

    pub(super) fn start(&mut self) {
        let fresh = Self::new(self.place, self.timing, self.booted, self.rate);
        let identity = name(self.place, self.number);
        *self = Self {
            number: self.number,
            runs: true,
            candidacies: candidacies(&identity, self.timing),
            member: Member::new(identity),
            cut: self.cut,
            delay: self.delay,
            ..fresh
        };
    }

    /// Ends the process.
    pub(super) fn end(&mut self) {
        self.number += 1;
        self.runs = false;
        self.fences.clear();
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

    pub(super) fn wall(&self, real: Duration) -> Timestamp {
        Timestamp::from_millisecond(1_800_000_000_000 + real.as_millis() as i64).unwrap()
    }

    pub(super) fn leads(&self) -> bool {
        self.candidacies[LEADER].elector.leads_until().is_some()
    }

    /// Whether it may write under this slot.
    pub(super) fn may_write(&self, slot: Slot, real: Duration) -> bool {
        let now = self.clock(real);
        let mut fences = self.fences.iter();
        self.runs && fences.any(|((own, _), (_, fence))| *own == slot && fence.permits(now))
    }

    /// Opens fences for slots that start.
    pub(super) fn open(&mut self, changes: &Changes) {
        let acted = self.member.notes().acted;
        let object = acted.map_or(0, |acted| Server::order(&acted.object));
        for (slot, epoch) in &changes.start {
            let fence = ((object, *epoch), Fence::closed());
            self.fences.insert((*slot, *epoch), fence);
        }
        self.guard();
    }

    /// Each fence lasts as long as the permit.
    pub(super) fn guard(&self) {
        for (_, fence) in self.fences.values() {
            self.candidacies[OWN].elector.guard(fence);
        }
    }

    /// Adds what the member says to its Lease: only with a permit it says anything.
    pub(super) fn annotate(&mut self, lease: &mut Lease) {
        let permitted = self.candidacies[OWN].elector.leads_until().is_some();
        let notes = if permitted {
            self.member.notes()
        } else {
            Notes::default()
        };
        let identity = self.member.identity();
        lease.metadata.annotations = Some(notes.annotations(identity));
        lease.metadata.uid = Some(format!("uid-{identity}"));
        self.written = notes;
    }
}

fn candidacies(identity: &Identity, timing: Timing) -> [Candidacy; 2] {
    [(); 2].map(|()| Candidacy::new(identity, timing))
}

fn name(place: usize, number: u64) -> Identity {
    format!("p{place}-{number}").parse().expect("a name")
}
