//! Metrics of shards, of which controller-runtime has none.

use std::time::Duration;

use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{
        counter::Counter,
        family::Family,
        gauge::Gauge,
        histogram::{Histogram, exponential_buckets},
    },
    registry::Registry,
};

use super::asked::Asked;

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct State {
    state: &'static str,
}

/// The metrics of the shards of a process. Clones share them.
#[derive(Clone, Debug)]
pub(crate) struct ShardMetrics {
    slots: Family<State, Gauge>,
    started: Counter,
    /// From the moment at which a slot is given to this process until it serves it.
    way: Histogram,
    /// The last part of it, during which nobody serves the slot.
    rest: Histogram,
    /// As the leader sees them; zero in the other replicas.
    unserved: Gauge,
    members: Gauge,
}

impl ShardMetrics {
    pub(super) fn new(registry: &mut Registry) -> Self {
        // Seconds, from 50 ms to 102 s.
        let histogram = || Histogram::new(exponential_buckets(0.05, 2.0, 12));
        let new = Self {
            slots: Family::default(),
            started: Counter::default(),
            way: histogram(),
            rest: histogram(),
            unserved: Gauge::default(),
            members: Gauge::default(),
        };
        registry.register(
            "operator_shard_slots",
            "Slots of this process, by state: serving, coming, or stopping",
            new.slots.clone(),
        );
        registry.register(
            "operator_shard_takeovers",
            "Slots that this process has begun to serve",
            new.started.clone(),
        );
        registry.register(
            "operator_shard_takeover_seconds",
            "Time from the moment a slot is given to this process until it serves it",
            new.way.clone(),
        );
        registry.register(
            "operator_shard_rest_seconds",
            "Time from the moment the owner before has to stop a slot, or is gone, until this process serves it",
            new.rest.clone(),
        );
        registry.register(
            "operator_shard_slots_unserved",
            "Slots without a living owner, as the leader sees them",
            new.unserved.clone(),
        );
        registry.register(
            "operator_shard_members",
            "Replicas that share the objects, as the leader sees them",
            new.members.clone(),
        );
        new
    }

    /// Sets the numbers of slots of this process.
    pub(crate) fn slots(&self, serving: usize, coming: usize, stopping: usize) {
        for (state, slots) in [
            ("serving", serving),
            ("coming", coming),
            ("stopping", stopping),
        ] {
            let gauge = self.slots.get_or_create(&State { state });
            gauge.set(i64::try_from(slots).unwrap_or(i64::MAX));
        }
    }

    /// Counts a slot that this process has begun to serve, how long it was on its way, and how long of this nobody
    /// served it.
    pub(crate) fn started(&self, way: Duration, rest: Duration) {
        self.started.inc();
        self.way.observe(way.as_secs_f64());
        self.rest.observe(rest.as_secs_f64());
    }

    /// Sets what the leader knows.
    pub(crate) fn dealt(&self, members: usize, unserved: usize) {
        self.members.set(i64::try_from(members).unwrap_or(i64::MAX));
        self.unserved
            .set(i64::try_from(unserved).unwrap_or(i64::MAX));
    }
}

/// The objects that this process serves, by controller. They are counted for each scrape: that takes a hash for each
/// object in memory, and no change of an object has to be followed. By slot, there would be 64 series for each
/// controller and replica, and a slot moves as a whole.
pub(super) fn objects() -> Asked {
    let help = "Objects of a sharded controller in the slots that this process serves";
    Asked::new("operator_shard_objects", help, "controller")
}
