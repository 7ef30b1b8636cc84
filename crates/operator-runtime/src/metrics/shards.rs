//! Metrics of shards, of which controller-runtime has none.

use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, gauge::Gauge},
    registry::Registry,
};

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct State {
    state: &'static str,
}

/// The metrics of the shards of a process. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct ShardMetrics {
    slots: Family<State, Gauge>,
    started: Counter,
    /// As the leader sees them; zero in the other replicas.
    unserved: Gauge,
    members: Gauge,
}

impl ShardMetrics {
    pub(super) fn new(registry: &mut Registry) -> Self {
        let new = Self::default();
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

    /// Counts a slot that this process has begun to serve.
    pub(crate) fn started(&self) {
        self.started.inc();
    }

    /// Sets what the leader knows.
    pub(crate) fn dealt(&self, members: usize, unserved: usize) {
        self.members.set(i64::try_from(members).unwrap_or(i64::MAX));
        self.unserved
            .set(i64::try_from(unserved).unwrap_or(i64::MAX));
    }
}
