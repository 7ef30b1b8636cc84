//! Virtual time and its events.

use std::{collections::BTreeMap, time::Duration};

use k8s_openapi::api::coordination::v1::Lease;

use super::{
    Rules, Summary,
    process::{LEADER, OWN, Order, Process, Request, SLOTS},
    server::{Ask, Object, Reply, Server},
};
use crate::slots::{Slot, Slots};
use crate::{
    leader::{
        Timing,
        elector::{Answer, Call, Step},
    },
    shards::member::Changes,
};

/// The duration of the faults.
pub(super) const TROUBLE: Duration = Duration::from_secs(60);
/// The longest restart.
const RESTART: Duration = Duration::from_secs(3);
/// How long a slot may be without service after that: the lease duration and five seconds.
const UNSERVED: Duration = Duration::from_secs(15 + 5);

/// An event for process `.0` of a place, or for the server.
#[derive(Debug)]
pub(super) enum Event {
    Start,
    /// For one of the two electors.
    Wake(usize, u64),
    Call(usize, u64, Call),
    Answer(usize, u64, Answer),
    /// A watcher sees a Lease, or its deletion.
    Notice(Box<Lease>),
    Removed(Box<Lease>),
    Object(u64, Option<Object>),
    /// Time to see whether there is something to ask.
    Tick,
    Ask(u64, Box<Ask>),
    Reply(u64, Reply),
    Late(u64),
    /// A write under a slot is passed to a connection, leaves it, reaches the server, and is answered.
    Change,
    Write(u64, Slot, u64),
    Accept(u64, Slot, Order),
    Answered(u64),
    /// The last reconcile of a slot has ended, and then its fence has closed.
    Ended(Slot, u64),
    Closed(Slot),
    GiveUp,
    Trouble,
}

pub(super) struct World {
    pub(super) random: u64,
    pub(super) now: Duration,
    queue: BTreeMap<(Duration, u64), (usize, u64, Event)>,
    pub(super) sequence: u64,
    pub(super) processes: Vec<Process>,
    pub(super) server: Server,
    rules: Rules,
    pub(super) summary: Summary,
    /// For each slot, the last owner of which a write was sent.
    sent: BTreeMap<Slot, Order>,
    /// For each slot, when it was served last.
    served: BTreeMap<Slot, Duration>,
}

impl World {
    pub(super) fn new(seed: u64, rules: Rules) -> Self {
        let mut world = Self {
            random: seed,
            now: Duration::ZERO,
            queue: BTreeMap::new(),
            sequence: 0,
            processes: Vec::new(),
            server: Server::new(),
            rules,
            summary: Summary::default(),
            sent: BTreeMap::new(),
            served: BTreeMap::new(),
        };
        for place in 0..2 + world.below(3) as usize {
            let second = Duration::from_secs;
            let poll = 2.0 * (1.0 + 1.2 * world.below(1000) as f64 / 1000.0);
            let timing = Timing {
                lease: second(15),
                renew: second(10),
                retry: second(2),
                poll: Duration::from_secs_f64(poll),
            };
            let booted = second(1 + world.below(1_000_000));
            // Twice the error of a computer's clock.
            let rate = 1.0 + (world.below(2001) as f64 - 1000.0) / 1_000_000.0;
            world
                .processes
                .push(Process::new(place, timing, booted, rate));
            let delay = world.up_to(second(5));
            world.after(delay, place, Event::Start);
        }
        world.after(Duration::ZERO, 0, Event::Trouble);
        world
    }

    /// Runs until the faults have been over for so long that all slots must be served.
    pub(super) fn run(mut self) -> Result<Summary, String> {
        let end = TROUBLE + RESTART + UNSERVED + Duration::from_secs(5);
        while let Some(((at, _), (place, process, event))) = self.queue.pop_first() {
            self.now = at;
            if at > end {
                break;
            }
            self.happen(place, process, event)
                .map_err(|error| format!("at {at:?}, {error}"))?;
        }
        self.summary.objects = self.server.objects;
        Ok(self.summary)
    }

    fn happen(&mut self, place: usize, number: u64, event: Event) -> Result<(), String> {
        match event {
            Event::Trouble => {
                self.trouble();
                return Ok(());
            }
            Event::Call(which, id, call) => {
                self.call(place, number, which, id, call);
                return Ok(());
            }
            Event::Ask(id, ask) => {
                self.ask(place, number, id, *ask);
                return Ok(());
            }
            Event::Accept(id, slot, order) => return self.accept(place, number, id, slot, order),
            _ => {}
        }
        let now = self.now;
        let process = &mut self.processes[place];
        if process.number != number || (!process.runs && !matches!(event, Event::Start)) {
            return Ok(());
        }
        if now < process.stopped {
            // Events that arrived during a pause are handled in any order.
            let delay = process.stopped - now + self.up_to(Duration::from_millis(3));
            self.after(delay, place, event);
            return Ok(());
        }
        let clock = process.clock(now);
        match event {
            Event::Start => {
                process.start();
                self.after(Duration::ZERO, place, Event::Change);
                self.after(Duration::ZERO, place, Event::Tick);
                self.step(place, OWN);
                self.step(place, LEADER);
            }
            Event::Wake(which, wake) => {
                let candidacy = &process.candidacies[which];
                if candidacy.wake == wake && candidacy.call.is_none() {
                    self.step(place, which);
                }
            }
            Event::Answer(which, id, answer) => {
                let candidacy = &mut process.candidacies[which];
                let Some((_, call)) = candidacy.call.take_if(|(asked, _)| *asked == id) else {
                    return Ok(());
                };
                if which == OWN && process.birth.answer(&call, &answer) {
                    self.restart(place);
                    return Ok(());
                }
                candidacy.elector.answer(answer, clock);
                self.step(place, which);
                self.change(place, &Changes::default());
                self.work(place);
            }
            Event::Notice(lease) if lease.metadata.name.as_deref() == Some("leader") => {
                let candidacy = &mut process.candidacies[LEADER];
                if candidacy.call.is_none() && candidacy.elector.leads_until().is_none() {
                    candidacy.elector.see(*lease, clock);
                    self.step(place, LEADER);
                }
            }
            Event::Notice(lease) => {
                process.roll.see(*lease, clock);
                self.work(place);
            }
            Event::Removed(lease) => {
                process.roll.removed(*lease, clock);
                self.work(place);
            }
            Event::Object(version, object) => {
                self.show(place, version, object);
                self.work(place);
            }
            Event::Tick => {
                self.work(place);
                self.after(Duration::from_millis(500), place, Event::Tick);
                return self.is_served();
            }
            Event::Reply(id, reply) if process.ask == Some(id) => {
                process.ask = None;
                self.reply(place, reply);
                self.work(place);
            }
            Event::Late(id) if process.ask == Some(id) => process.ask = None,
            Event::Change => {
                let open = process
                    .fences
                    .iter()
                    .filter(|(_, (_, fence))| fence.permits(clock));
                let open: Vec<_> = open.map(|(key, _)| *key).collect();
                if !open.is_empty() {
                    let (slot, epoch) = open[self.below(open.len() as u64) as usize];
                    self.sequence += 1;
                    let id = self.sequence;
                    let sent = clock;
                    self.processes[place]
                        .requests
                        .push(Request { id, slot, sent });
                    let delay = self.up_to(Duration::from_millis(150));
                    self.after(delay, place, Event::Write(id, slot, epoch));
                }
                let delay = self.up_to(Duration::from_millis(400));
                self.after(delay, place, Event::Change);
            }
            Event::Write(id, slot, epoch) => {
                let fence = process.fences.get(&(slot, epoch));
                let permitted = fence.filter(|(_, fence)| !fence.is_over(clock));
                let Some((order, _)) =
                    permitted.or(fence.filter(|_| !self.rules.checks_connections))
                else {
                    process.requests.retain(|request| request.id != id);
                    self.summary.refused += 1;
                    return Ok(());
                };
                let order = *order;
                for request in process
                    .requests
                    .iter_mut()
                    .filter(|request| request.id == id)
                {
                    request.sent = clock;
                }
                // Less than the lease duration minus the renew deadline.
                let most = process.timing.margin().mul_f64(0.6);
                let last = self.sent.entry(slot).or_insert(order);
                *last = order.max(*last);
                if let Some(delay) = self.travels(place) {
                    self.after(delay.min(most), place, Event::Accept(id, slot, order));
                }
            }
            Event::Answered(id) => process.requests.retain(|request| request.id != id),
            Event::Ended(slot, epoch) => {
                process.fences.remove(&(slot, epoch));
                self.closed(place, slot);
            }
            Event::Closed(slot) => self.closed(place, slot),
            Event::GiveUp => {
                let changes = process.member.give_up();
                self.change(place, &changes);
            }
            _ => {}
        }
        Ok(())
    }

    /// Runs the next step of an elector, as the task of a process does.
    fn step(&mut self, place: usize, which: usize) {
        let now = self.now;
        let process = &mut self.processes[place];
        let (clock, wall) = (process.clock(now), process.wall(now));
        let elector = &mut process.candidacies[which].elector;
        let led = elector.leads_until();
        let step = elector.step(clock, wall);
        process.guard();
        match step {
            Step::Call(mut call) => {
                if let (OWN, Call::Create(lease) | Call::Replace(lease)) = (which, &mut call) {
                    process.annotate(lease);
                }
                self.sequence += 1;
                let id = self.sequence;
                process.candidacies[which].call = Some((id, call.clone()));
                let limit = process.timing.call();
                let limit = led.map_or(limit, |until| limit.min(until.saturating_sub(clock)));
                let limit = process.real(limit);
                self.after(limit, place, Event::Answer(which, id, Answer::Failed));
                if let Some(delay) = self.travels(place) {
                    self.after(delay, place, Event::Call(which, id, call));
                }
            }
            Step::Wait(until) => {
                let delay = process.real(until.saturating_sub(clock));
                let candidacy = &mut process.candidacies[which];
                candidacy.wake += 1;
                let wake = candidacy.wake;
                self.after(delay, place, Event::Wake(which, wake));
            }
            Step::Lost => {
                self.summary.lost += 1;
                self.restart(place);
            }
            // Who has no permit any more ends; who does not lead any more has no successor to wait for.
            Step::Left if which == OWN => {
                self.summary.released += 1;
                self.restart(place);
            }
            Step::Left => {}
        }
    }

    /// The server responds; most of the time, watchers see the change.
    fn call(&mut self, place: usize, number: u64, which: usize, id: u64, call: Call) {
        let writes = !matches!(call, Call::Get);
        let process = &self.processes[place];
        // The name of the process that sent it.
        let name = match (&call, which) {
            (_, LEADER) => "leader".to_owned(),
            _ => format!("p{place}-{number}"),
        };
        debug_assert!(process.number >= number);
        let answer = self.server.call(&name, call);
        if let (true, Answer::Lease(lease)) = (writes, &answer) {
            for other in 0..self.processes.len() {
                let delay = self.travels(other).filter(|_| !self.is_lost());
                if let Some(delay) = delay {
                    self.after(delay, other, Event::Notice(lease.clone()));
                }
            }
        }
        let delay = self.travels(place).filter(|_| !self.is_lost());
        if let Some(delay) = delay
            && self.processes[place].number == number
        {
            self.after(delay, place, Event::Answer(which, id, answer));
        }
    }

    /// The member has changed, or its Lease was written.
    pub(super) fn change(&mut self, place: usize, changes: &Changes) {
        let (now, process) = (self.now, &mut self.processes[place]);
        let clock = process.clock(now);
        process.open(changes);
        self.summary.started += changes.start.len() as u64;
        for (slot, epoch) in &changes.drain {
            let delay = self.up_to(Duration::from_millis(1500));
            self.after(delay, place, Event::Ended(*slot, *epoch));
        }
        let process = &mut self.processes[place];
        // The caches fill at once: the model has them fill at any time.
        for slot in process.member.filling().iter() {
            process.member.filled(slot);
        }
        if !process.runs {
            return;
        }
        if process.member.is_done() {
            // Both Leases are released after the last fence has closed.
            for which in [LEADER, OWN] {
                let candidacy = &mut self.processes[place].candidacies[which];
                candidacy.elector.leave(clock);
                if candidacy.call.is_none() {
                    self.step(place, which);
                }
            }
        } else if process.member.notes() != process.written {
            let candidacy = &mut process.candidacies[OWN];
            candidacy.elector.hurry(clock);
            if candidacy.call.is_none() && candidacy.elector.leads_until().is_some() {
                self.step(place, OWN);
            }
        }
    }

    /// The fence of a slot has closed: what is in flight arrives, or can no longer arrive, before others hear of it.
    fn closed(&mut self, place: usize, slot: Slot) {
        let process = &mut self.processes[place];
        let (clock, margin) = (process.clock(self.now), process.timing.margin());
        let flies = |request: &Request| request.slot == slot && clock < request.sent + margin;
        if self.rules.waits_for_answers && process.requests.iter().any(flies) {
            self.after(Duration::from_millis(100), place, Event::Closed(slot));
            return;
        }
        self.summary.drained += 1;
        let changes = process.member.drained(slot);
        self.change(place, &changes);
    }

    fn accept(
        &mut self,
        place: usize,
        number: u64,
        id: u64,
        slot: Slot,
        order: Order,
    ) -> Result<(), String> {
        self.summary.written += 1;
        let last = self.sent[&slot];
        if order < last {
            return Err(format!(
                "p{place}-{number} writes under slot {slot} as owner {order:?}, after owner {last:?}"
            ));
        }
        if let Some(delay) = self.travels(place).filter(|_| !self.is_lost()) {
            let process = &self.processes[place];
            if process.number == number {
                self.after(delay, place, Event::Answered(id));
            }
        }
        Ok(())
    }

    /// Checks that one process serves each slot, and that none is without service for long after the trouble.
    fn is_served(&mut self) -> Result<(), String> {
        let now = self.now;
        for slot in Slots::first(SLOTS).iter() {
            let serve = |process: &&Process| process.may_write(slot, now);
            let serving: Vec<_> = self.processes.iter().filter(serve).collect();
            if let [one, another, ..] = serving[..] {
                let (one, another) = (one.member.identity(), another.member.identity());
                return Err(format!("both {one} and {another} serve slot {slot}"));
            }
            if serving.is_empty() && now > TROUBLE + RESTART {
                let since = self.served.get(&slot).copied().unwrap_or_default();
                let unserved = now - since.max(TROUBLE + RESTART);
                let longest = &mut self.summary.unserved;
                *longest = unserved.as_millis().max((*longest).into()) as u64;
                if unserved > UNSERVED {
                    return Err(format!("nobody serves slot {slot} for {unserved:?}"));
                }
            } else {
                self.served.insert(slot, now);
            }
        }
        Ok(())
    }

    /// Schedules an event for the current process of a place.
    pub(super) fn after(&mut self, delay: Duration, place: usize, event: Event) {
        self.sequence += 1;
        let process = self
            .processes
            .get(place)
            .map_or(0, |process| process.number);
        let key = (self.now + delay, self.sequence);
        self.queue.insert(key, (place, process, event));
    }
}
