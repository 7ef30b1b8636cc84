//! A replica's part in the shards: its Lease, its view of the assignment, and its tasks.

use std::{collections::BTreeSet, time::Duration};

use futures::stream::FuturesUnordered;
use kube::{Api, Client};
use tokio::{sync::watch, task::JoinSet, time::timeout};
use tokio_util::sync::CancellationToken;

use super::{
    dealer::Dealer,
    follow::{Follower, labels},
    member::Member,
    observe,
    observe::Seen,
    progress::Progress,
    takeover::Takeovers,
};
use crate::{
    cache::Shards,
    client::{Clients, fence::Fence, selector::is_honoured},
    error::{ElectionError, chain},
    leader::{Candidate, Election, Notes, ShardLimit},
    metrics::ShardMetrics,
};

/// The tasks of this process in the shards.
pub(crate) struct Membership {
    election: Election,
    lost: CancellationToken,
    leave: CancellationToken,
    give_up: CancellationToken,
    done: CancellationToken,
    others: watch::Receiver<bool>,
    _tasks: JoinSet<()>,
}

impl Membership {
    /// Joins the members. This task opens and closes `fence`, behind which the writes of all slots are.
    ///
    /// # Errors
    /// If the identity of the candidate cannot be that of a member.
    pub(crate) fn start(
        clients: &Clients,
        candidate: &Candidate,
        shards: Shards,
        fence: Fence,
        leads: watch::Receiver<bool>,
        metrics: ShardMetrics,
        progress: Progress,
    ) -> Result<Self, ElectionError> {
        let Candidate {
            lease: name,
            namespace,
            identity,
            timing,
            shards: limit,
        } = candidate;
        let member = identity
            .parse()
            .map_err(|_| ElectionError::Member(identity.clone()))?;
        let member = Member::new(member);
        let (notes, receiver) = watch::channel(Notes {
            labels: labels(name),
            annotations: member.notes().annotations(member.identity()),
        });
        let own = Candidate {
            lease: lease(name, identity),
            ..candidate.clone()
        };
        let election = Election::with_notes(clients.lease.clone(), own, fence, Some(receiver));
        let lost = election.leadership().lost().clone();
        let (sender, seen) = watch::channel(None);
        let (others, other) = watch::channel(false);
        let object = super::object(name);
        let objects = Api::namespaced(clients.watches.clone(), namespace);
        let tokens: [CancellationToken; 3] = Default::default();
        let [leave, give_up, done] = tokens;
        let follower = Follower {
            member,
            shards: shards.clone(),
            notes,
            seen: seen.clone(),
            margin: timing.margin(),
            metrics: metrics.clone(),
            progress: progress.clone(),
            takeovers: Takeovers::default(),
            leave: leave.clone(),
            give_up: give_up.clone(),
            done: done.clone(),
            starting: BTreeSet::new(),
            stopping: FuturesUnordered::new(),
        };
        let dealer = Dealer {
            leases: Api::namespaced(clients.watches.clone(), namespace),
            objects: Api::namespaced(clients.unfenced.clone(), namespace),
            name: name.clone(),
            object: object.clone(),
            timing: *timing,
            limit: limit.and_then(ShardLimit::most),
            leads,
            seen: seen.clone(),
            metrics,
            progress: progress.clone(),
            others,
            identity: identity.clone(),
            namespace: namespace.clone(),
            events: Api::namespaced(clients.unfenced.clone(), namespace),
        };
        let mut tasks = JoinSet::new();
        let (period, joined) = (timing.retry, election.leadership());
        tasks.spawn(async move {
            observe::assignment(objects, &object, period, sender, progress).await;
        });
        let (end, never, nothing) = (lost.clone(), give_up.clone(), done.clone());
        let (client, limit, place) = (clients.watches.clone(), timing.call(), namespace.clone());
        tasks.spawn(async move {
            let ready = async {
                // Who is no member yet serves nothing: its fence is closed.
                joined.acquired().await;
                let honours = try_selector(&client, &place, seen, limit).await;
                shards.select(honours);
            };
            tokio::select! {
                () = ready => {}
                () = never.cancelled() => return nothing.cancel(),
            }
            let error = follower.run().await;
            tracing::error!(%error, "leaving the shards");
            end.cancel();
        });
        tasks.spawn(dealer.run());
        Ok(Self {
            election,
            lost,
            leave,
            give_up,
            done,
            others: other,
            _tasks: tasks,
        })
    }

    /// Cancelled when another replica may serve the slots of this one.
    pub(crate) fn lost(&self) -> &CancellationToken {
        &self.lost
    }

    /// Passes all slots on to the other members, at most for `limit`, and then stops what is left.
    pub(crate) async fn leave(&mut self, limit: Duration) {
        self.leave.cancel();
        let alone = self.others.wait_for(|others| !others);
        let passed = async {
            tokio::select! {
                () = self.done.cancelled() => {}
                // There is nobody to pass them on to.
                _ = alone => {}
            }
        };
        _ = timeout(limit, passed).await;
        self.give_up.cancel();
        self.done.cancelled().await;
    }

    /// Releases the Lease: this process never writes again.
    pub(crate) async fn release(self) {
        self.election.release().await;
    }
}

/// Whether the API server sends a replica only its share; waits until there is an object to try it with.
async fn try_selector(
    client: &Client,
    namespace: &str,
    mut seen: watch::Receiver<Option<Seen>>,
    limit: Duration,
) -> bool {
    let Ok(Some(object)) = seen
        .wait_for(Option::is_some)
        .await
        .map(|seen| seen.clone())
    else {
        return false;
    };
    let honours = is_honoured(client, namespace, &object.name, &object.uid);
    match timeout(limit, honours).await {
        Ok(Ok(true)) => {
            tracing::info!("the API server sends each replica only its share");
            true
        }
        Ok(Ok(false)) => false,
        Ok(Err(error)) => {
            tracing::debug!(error = chain(&error), "cannot try shardSelector");
            false
        }
        Err(_) => false,
    }
}

/// The name of a member's Lease: that of the operator, and the UUID of its identity.
fn lease(name: &str, identity: &str) -> String {
    let uuid = identity.rsplit('_').next().unwrap_or(identity);
    format!("{name}-{uuid}")
}
