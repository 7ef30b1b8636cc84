//! Brings this process in line with the assignment, and says so on its Lease.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use futures::{FutureExt, StreamExt, future::BoxFuture, stream::FuturesUnordered};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{
    member::{Backwards, Changes, Member},
    observe::Seen,
    progress::Progress,
    takeover::Takeovers,
};
use crate::slots::{Slot, Slots};
use crate::{cache::Shards, clock::since_boot, leader::Notes, metrics::ShardMetrics};

/// How long the running reconciles of a slot may take until its fence closes. Their objects rest meanwhile.
pub(crate) const STOP: Duration = Duration::from_secs(10);

/// The task that follows the assignment.
pub(super) struct Follower {
    pub(super) member: Member,
    pub(super) shards: Shards,
    pub(super) notes: watch::Sender<Notes>,
    pub(super) seen: watch::Receiver<Option<Seen>>,
    /// How long a write without an answer may be on its way.
    pub(super) margin: Duration,
    pub(super) metrics: ShardMetrics,
    pub(super) progress: Progress,
    pub(super) takeovers: Takeovers,
    /// Asks this process to pass its slots on.
    pub(super) leave: CancellationToken,
    /// Asks it to stop them at once.
    pub(super) give_up: CancellationToken,
    /// Cancelled when it has no slots, and gets none.
    pub(super) done: CancellationToken,
    /// The slots that begin when their cache is full.
    pub(super) starting: BTreeSet<Slot>,
    pub(super) stopping: FuturesUnordered<BoxFuture<'static, Slot>>,
}

impl Follower {
    /// Runs until dropped, unless the API server contradicts itself.
    pub(super) async fn run(mut self) -> Backwards {
        let mut listed = self.shards.watches();
        let (mut leaves, mut gives_up) = (false, false);
        loop {
            self.fill(Slots::of_all(&*listed.borrow_and_update()));
            self.publish();
            let changes = tokio::select! {
                // The sender lives as long as the process takes part.
                _ = self.seen.changed() => {
                    let seen = self.seen.borrow_and_update().clone();
                    match seen.map(|seen| (seen.uid, seen.assignment)) {
                        Some((uid, Ok(assignment))) => match self.member.see(&uid, &assignment) {
                            Ok(changes) => changes,
                            Err(backwards) => return backwards,
                        },
                        _ => Changes::default(),
                    }
                }
                Some(slot) = self.stopping.next(), if !self.stopping.is_empty() => {
                    self.shards.notify(Slots::from_iter([slot]));
                    self.member.drained(slot)
                }
                _ = listed.changed() => Changes::default(),
                () = self.leave.cancelled(), if !leaves => {
                    leaves = true;
                    self.member.leave();
                    Changes::default()
                }
                () = self.give_up.cancelled(), if !gives_up => {
                    gives_up = true;
                    self.member.give_up()
                }
            };
            self.apply(changes);
        }
    }

    fn apply(&mut self, changes: Changes) {
        for (slot, _) in changes.drain {
            self.starting.remove(&slot);
            let (permit, margin) = (self.shards.end(slot), self.margin);
            let stop = async move {
                if let Some(permit) = permit {
                    permit.stop(STOP, margin).await;
                }
                slot
            };
            self.stopping.push(stop.boxed());
        }
        let started = changes.start.into_iter().map(|(slot, _)| slot);
        self.starting.extend(started);
        let starting: Slots = self.starting.iter().copied().collect();
        let [coming, resting] = [self.member.coming(), self.member.resting()];
        let (coming, resting) = (coming.and(starting), resting.and(starting));
        self.takeovers.see(coming, resting, since_boot());
    }

    /// Takes the slots of which all objects are in memory.
    fn fill(&mut self, full: Slots) {
        for slot in self.member.filling().within(full).iter() {
            self.member.filled(slot);
        }
        for slot in full.iter() {
            if self.starting.remove(&slot) {
                self.shards.start(slot);
                let (way, rest) = self.takeovers.served(slot, since_boot());
                self.metrics.started(way, rest);
            }
        }
    }

    fn publish(&self) {
        self.shards.cache(self.member.cached());
        let held = self.member.held().count() - self.starting.len();
        let starting = self.starting.iter().copied().collect();
        let coming = self.member.filling().and(starting);
        self.progress.waits(coming, since_boot());
        self.metrics
            .slots(held, coming.len(), self.member.draining().count());
        let identity = self.member.identity();
        let annotations = self.member.notes().annotations(identity);
        self.notes.send_if_modified(|notes| {
            let changed = notes.annotations != annotations;
            notes.annotations = annotations;
            changed
        });
        if self.member.is_done() {
            self.done.cancel();
        }
    }
}

/// The labels of the Leases of all members, by which the dealer finds them.
pub(super) fn labels(name: &str) -> BTreeMap<String, String> {
    BTreeMap::from([(MEMBERS.to_owned(), label(name))])
}

/// The label with the name of the operator.
pub(super) const MEMBERS: &str = "operator-runtime/members-of";

/// The value of the label: a name that is too long for one is replaced by its hash.
pub(super) fn label(name: &str) -> String {
    match name.len() {
        0..=63 => name.to_owned(),
        _ => format!("{:016x}", crate::slots::fnv(name)),
    }
}
