//! What each process does beside its own Leases: it watches the assignment and the members, and deals if it
//! leads. One that does not lead keeps its roll, too: it may lead next, and need not wait again.

use std::time::Duration;

use super::{
    process::{Process, SLOTS},
    server::{Ask, Object, Reply},
    world::{Event, World},
};
use crate::shards::{
    assignment::Assignment,
    deal::{next, was_turned_back},
};

impl Process {
    /// What to ask now, if anything.
    fn question(&mut self, now: Duration) -> Option<Ask> {
        let due = |last: Option<Duration>, seconds| {
            last.is_none_or(|last| now >= last + Duration::from_secs(seconds))
        };
        let leads = self.leads();
        if due(self.read, 10) {
            return Some(Ask::Read);
        }
        // Without an object, too: a Lease that nobody renews must not begin to count only when there is one.
        if self.roll.wants_list() || due(self.listed, 4) {
            self.listing = Some(self.roll.begin());
            return Some(Ask::List);
        }
        let Some(object) = self.object.clone() else {
            return leads.then(|| Ask::Create(Assignment::new(SLOTS).write(None)));
        };
        let Some(assignment) = self.assignment.clone() else {
            return leads.then_some(Ask::Remove(object));
        };
        if !leads {
            return None;
        }
        if let Some(expired) = self.roll.expired(now).first() {
            return Some(Ask::Delete(expired.clone()));
        }
        let members = self.roll.members(now)?;
        if was_turned_back(&assignment, &members) {
            return Some(Ask::Remove(object));
        }
        let data = next(&assignment, &members, None)?.write(Some(&object.uid));
        Some(Ask::Write(Object { data, ..object }))
    }
}

impl World {
    /// Asks the next question, unless one is in flight.
    pub(super) fn work(&mut self, place: usize) {
        let process = &mut self.processes[place];
        if !process.runs || process.ask.is_some() {
            return;
        }
        let Some(ask) = process.question(process.clock(self.now)) else {
            return;
        };
        self.sequence += 1;
        let id = self.sequence;
        self.processes[place].ask = Some(id);
        self.after(Duration::from_secs(3), place, Event::Late(id));
        if let Some(delay) = self.travels(place) {
            self.after(delay, place, Event::Ask(id, Box::new(ask)));
        }
    }

    /// The server answers; watchers see a change.
    pub(super) fn ask(&mut self, place: usize, process: u64, id: u64, ask: Ask) {
        let (reply, changed) = self.server.ask(ask);
        if changed {
            self.announce();
        }
        if let Reply::Deleted(_, lease) = &reply {
            for other in 0..self.processes.len() {
                let delay = self.travels(other).filter(|_| !self.is_lost());
                if let Some(delay) = delay {
                    self.after(delay, other, Event::Removed(lease.clone()));
                }
            }
        }
        let delay = self.travels(place).filter(|_| !self.is_lost());
        if let Some(delay) = delay
            && self.processes[place].number == process
        {
            self.after(delay, place, Event::Reply(id, reply));
        }
    }

    /// The object has changed: most of the time, watchers see it.
    pub(super) fn announce(&mut self) {
        let (version, object) = (self.server.version, self.server.object.clone());
        for place in 0..self.processes.len() {
            let delay = self.travels(place).filter(|_| !self.is_lost());
            if let Some(delay) = delay {
                self.after(delay, place, Event::Object(version, object.clone()));
            }
        }
    }

    /// Takes a reply.
    pub(super) fn reply(&mut self, place: usize, reply: Reply) {
        let process = &mut self.processes[place];
        let clock = process.clock(self.now);
        match reply {
            Reply::Object(version, object) => {
                process.read = Some(clock);
                self.show(place, version, object);
            }
            Reply::Leases(leases) => {
                process.listed = Some(clock);
                if let Some(listing) = process.listing.take() {
                    process.roll.list(listing, leases, clock);
                }
            }
            Reply::Deleted(expired, _) => {
                process.roll.deleted(&expired);
                self.summary.expired += 1;
            }
            // What it knows is old.
            Reply::Conflict => {
                process.read = None;
                process.listed = None;
            }
        }
    }

    /// A process sees the object.
    pub(super) fn show(&mut self, place: usize, version: u64, object: Option<Object>) {
        let process = &mut self.processes[place];
        if version <= process.version {
            return;
        }
        process.version = version;
        process.object = object;
        process.assignment = None;
        let Some(object) = &process.object else {
            return;
        };
        let Ok(assignment) = Assignment::read(&object.uid, &object.data) else {
            return;
        };
        process.roll.name(&object.uid, &assignment);
        let changes = process.member.see(&object.uid, &assignment);
        process.assignment = Some(assignment);
        match changes {
            Ok(changes) => self.change(place, &changes),
            Err(_) => self.restart(place),
        }
    }
}
