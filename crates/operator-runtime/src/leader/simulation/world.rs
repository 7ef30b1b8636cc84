//! Virtual time and its events.

use std::{collections::BTreeMap, time::Duration};

use k8s_openapi::api::coordination::v1::Lease;

use super::{Rules, Summary, replica::Replica, server::Server};
use crate::leader::{
    Timing,
    elector::{Answer, Call, Step},
};

/// The duration of the faults.
pub(super) const TROUBLE: Duration = Duration::from_secs(120);

/// The longest last fault, and the time in which a replica must lead afterwards.
const RECOVERY: Duration = Duration::from_secs(45 + 35);

/// An event for process `.0` of a replica, or for the server.
#[derive(Debug)]
pub(super) enum Event {
    Start,
    Wake(u64),
    /// A call reaches the server; with the time at which it was sent, by the clock of the replica.
    Call(u64, Call, Duration),
    Answer(u64, Answer),
    Timeout(u64),
    Notice(Box<Lease>),
    /// A write is passed to a connection, leaves it, and reaches the server.
    Change,
    Write,
    Accept(String),
    Drained,
    Trouble,
}

pub(super) struct World {
    pub(super) random: u64,
    pub(super) now: Duration,
    queue: BTreeMap<(Duration, u64), (usize, u64, Event)>,
    sequence: u64,
    pub(super) replicas: Vec<Replica>,
    server: Server,
    rules: Rules,
    summary: Summary,
    leader_seen: Duration,
}

impl World {
    pub(super) fn new(seed: u64, rules: Rules) -> Self {
        let mut world = Self {
            random: seed,
            now: Duration::ZERO,
            queue: BTreeMap::new(),
            sequence: 0,
            replicas: Vec::new(),
            server: Server::new(rules.compares_versions),
            rules,
            summary: Summary::default(),
            leader_seen: Duration::ZERO,
        };
        for number in 0..2 + world.below(3) as usize {
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
            world.replicas.push(Replica::new(timing, booted, rate));
            let delay = world.up_to(second(10));
            world.after(delay, number, Event::Start);
        }
        world.after(Duration::ZERO, 0, Event::Trouble);
        world
    }

    /// Runs until the faults have been over for so long that a replica must lead.
    pub(super) fn run(mut self) -> Result<Summary, String> {
        let end = TROUBLE + RECOVERY;
        while let Some(((at, _), (number, process, event))) = self.queue.pop_first() {
            self.now = at;
            if at > end {
                break;
            }
            self.happen(number, process, event)
                .map_err(|error| format!("at {at:?}, {error}"))?;
            let writers = |replica: &&Replica| replica.may_write(at);
            let writers: Vec<_> = self.replicas.iter().filter(writers).collect();
            if let [one, another, ..] = writers[..] {
                let (one, another) = (&one.identity, &another.identity);
                return Err(format!("at {at:?}, both {one} and {another} may write"));
            }
            if !writers.is_empty() {
                self.leader_seen = at;
            }
        }
        if self.now - self.leader_seen > Duration::from_secs(2) {
            return Err(format!("no replica leads since {:?}", self.leader_seen));
        }
        Ok(self.summary)
    }

    fn happen(&mut self, number: usize, process: u64, event: Event) -> Result<(), String> {
        match event {
            Event::Trouble => {
                self.trouble();
                return Ok(());
            }
            Event::Call(id, call, sent) => {
                self.call(number, process, id, call, sent);
                return Ok(());
            }
            Event::Accept(writer) => return self.accept(&writer),
            _ => {}
        }
        let now = self.now;
        let replica = &mut self.replicas[number];
        if replica.process != process || (!replica.runs && !matches!(event, Event::Start)) {
            return Ok(());
        }
        if now < replica.stopped {
            // Events that arrived during a pause are handled in any order.
            let delay = replica.stopped - now + self.up_to(Duration::from_millis(3));
            self.after(delay, number, event);
            return Ok(());
        }
        let clock = replica.clock(now);
        match event {
            Event::Start => {
                replica.start(number);
                self.after(Duration::ZERO, number, Event::Change);
                self.step(number);
            }
            Event::Wake(wake) if wake == replica.wake && replica.call.is_none() => {
                self.step(number)
            }
            Event::Answer(id, answer) if replica.call == Some(id) => {
                replica.call = None;
                replica.elector.answer(answer, clock);
                self.step(number);
            }
            Event::Timeout(id) if replica.call == Some(id) => {
                replica.call = None;
                replica.elector.answer(Answer::Failed, clock);
                self.step(number);
            }
            Event::Notice(lease)
                if replica.call.is_none() && replica.elector.leads_until().is_none() =>
            {
                replica.elector.see(*lease, clock);
                self.step(number);
            }
            Event::Drained if replica.call.is_none() => {
                replica.fence.close();
                replica.elector.leave(clock);
                self.step(number);
            }
            // The process leaves when the call has ended.
            Event::Drained => self.after(Duration::from_millis(100), number, Event::Drained),
            Event::Change => {
                if replica.fence.permits(clock) && !replica.draining {
                    let delay = self.up_to(Duration::from_millis(50));
                    self.after(delay, number, Event::Write);
                }
                let delay = self.up_to(Duration::from_millis(1500));
                self.after(delay, number, Event::Change);
            }
            Event::Write if self.rules.checks_connections && replica.fence.is_over(clock) => {
                self.summary.refused += 1;
            }
            Event::Write => {
                if replica.deadline <= clock {
                    return Err(format!("{} writes after its deadline", replica.identity));
                }
                // Less than the lease duration minus the renew deadline.
                let most = replica.timing.margin().mul_f64(0.6);
                let writer = replica.identity.clone();
                if let Some(delay) = self.travels(number) {
                    self.after(delay.min(most), number, Event::Accept(writer));
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Runs the next step of a replica, as the task of a process does.
    fn step(&mut self, number: usize) {
        let now = self.now;
        let replica = &mut self.replicas[number];
        let (clock, wall) = (replica.clock(now), replica.wall_clock(now));
        let led = replica.elector.leads_until();
        let step = replica.elector.step(clock, wall);
        replica.elector.guard(&replica.fence);
        match step {
            Step::Call(call) => {
                self.sequence += 1;
                let id = self.sequence;
                replica.call = Some(id);
                let limit = replica.timing.call();
                let limit = led.map_or(limit, |until| limit.min(until.saturating_sub(clock)));
                let limit = replica.real(limit);
                self.after(limit, number, Event::Timeout(id));
                if let Some(delay) = self.travels(number) {
                    self.after(delay, number, Event::Call(id, call, clock));
                }
            }
            Step::Wait(until) => {
                replica.wake += 1;
                let wake = replica.wake;
                let delay = replica.real(until.saturating_sub(clock));
                self.after(delay, number, Event::Wake(wake));
            }
            Step::Lost | Step::Left => {
                match step {
                    Step::Lost => self.summary.lost += 1,
                    _ => self.summary.released += 1,
                }
                self.restart(number);
            }
        }
    }

    /// The server responds; most of the time, watchers see the change.
    fn call(&mut self, number: usize, process: u64, id: u64, call: Call, sent: Duration) {
        let writes = !matches!(call, Call::Get);
        let before = self.server.holder().to_owned();
        let answer = self.server.answer(call);
        if let (true, Answer::Lease(lease)) = (writes, &answer) {
            let holder = self.server.holder().to_owned();
            self.summary.elected += u64::from(!holder.is_empty() && holder != before);
            let replica = &mut self.replicas[number];
            if replica.process == process && replica.identity == holder {
                replica.deadline = replica.deadline.max(sent + replica.timing.renew);
            }
            for other in 0..self.replicas.len() {
                let delay = self.travels(other).filter(|_| self.below(4) > 0);
                if let Some(delay) = delay {
                    self.after(delay, other, Event::Notice(lease.clone()));
                }
            }
        }
        let lost = self.now < TROUBLE && self.below(10) == 0;
        let delay = self.travels(number).filter(|_| !lost);
        if let Some(delay) = delay
            && self.replicas[number].process == process
        {
            self.after(delay, number, Event::Answer(id, answer));
        }
    }

    fn accept(&mut self, writer: &str) -> Result<(), String> {
        self.summary.written += 1;
        let holder = self.server.holder();
        if holder == writer {
            return Ok(());
        }
        Err(format!("{writer} changes something while `{holder}` leads"))
    }

    /// Schedules an event for the current process of a replica.
    pub(super) fn after(&mut self, delay: Duration, number: usize, event: Event) {
        self.sequence += 1;
        let process = self
            .replicas
            .get(number)
            .map_or(0, |replica| replica.process);
        let key = (self.now + delay, self.sequence);
        self.queue.insert(key, (number, process, event));
    }
}
