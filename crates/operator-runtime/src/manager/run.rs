//! The start and shutdown order of an operator.

use std::{collections::BTreeSet, future::pending, iter::once, sync::Arc};

use axum::Router;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::Manager;
use crate::error::Error;
use crate::{
    cache::{Source, Watching},
    controller::{Environment, Prepared},
    leader::{Election, Leadership},
    manager::stop,
    object::ScopedResource,
    runnable::{Ended, Group, Runnable},
    server::{certificate::Current, serve::Server},
    shards::{Membership, Progress},
};

impl Manager {
    /// Starts the servers, the watches, the work without leadership, and the work with leadership; stops
    /// them in reverse order.
    pub(crate) async fn run_until_stopped(mut self) -> Result<(), Error> {
        self.check_controllers()?;
        // Readiness must have all its checks before a probe is answered.
        let asked = self.webhook_server().await?;
        let progress = Progress::default();
        if let Some((candidate, shards)) = self.candidate.as_ref().zip(self.shards.clone()) {
            progress.show(&self.readiness, &candidate.lease, shards);
        }
        let served = asked.as_ref().and_then(|(server, _)| server.certificate());
        let listening = self.servers(served).await?;
        let awaited = self.awaited();
        let (leading, always) = self.work()?;
        let watching = self.watches(&awaited);
        let mut servers = Group::default();
        listening.into_iter().for_each(|work| servers.start(work));
        let mut webhooks = Group::default();
        asked
            .into_iter()
            .for_each(|work| webhooks.start(work.into()));
        let mut watches = Group::default();
        watching.into_iter().for_each(|work| watches.start(work));
        let mut followers = Group::default();
        always.into_iter().for_each(|work| followers.start(work));
        let (election, mut membership) = self.election(progress)?;
        let leadership = election
            .as_ref()
            .map_or_else(Leadership::always, Election::leadership);
        let lost = {
            let (leader, member) = (leadership.clone(), membership.as_ref());
            let member = member.map(|it| it.lost().clone());
            move || {
                let (leader, member) = (leader.clone(), member.clone());
                async move {
                    tokio::select! {
                        () = leader.lost().cancelled() => Error::Lost,
                        () = ended(member) => Error::LostShare,
                    }
                }
            }
        };
        let mut leaders = Group::default();
        let mut leading = Some(leading);

        let failed: Option<Ended> = loop {
            tokio::select! {
                // Polled first: after a stop, every component ends as it should.
                biased;
                () = self.stop.cancelled() => break None,
                // Running work is dropped, and with it each reconcile at its next await.
                error = lost() => return Err(error),
                end = servers.ended() => break Some(end),
                end = webhooks.ended() => break Some(end),
                end = watches.ended() => break Some(end),
                end = followers.ended() => break Some(end),
                end = leaders.ended() => break Some(end),
                () = leadership.acquired(), if leading.is_some() => {
                    let leading = leading.take().into_iter().flatten();
                    leading.for_each(|work| leaders.start(work));
                }
            }
        };
        let drain = stop::drain(self.grace);
        let stop = async {
            if let Some(membership) = &mut membership {
                membership.leave(drain / 2).await;
            }
            let drained = timeout(drain, leaders.stop()).await;
            // After all work has ended, another replica may lead at once. Otherwise the lease expires.
            if let (Ok(()), Some(election)) = (&drained, election) {
                election.release().await;
            }
            _ = timeout(stop::REST, followers.stop()).await;
            if let Some(membership) = membership {
                membership.release().await;
            }
            for group in [&mut watches, &mut webhooks, &mut servers] {
                _ = timeout(stop::REST, group.stop()).await;
            }
            drained
        };
        let stopped = tokio::select! {
            stopped = stop => stopped,
            error = lost() => return Err(error),
        };
        match failed {
            Some((name, Some(error))) => Err(Error::Failed(name, error)),
            Some((name, None)) => Err(Error::Ended(name)),
            None => stopped.map_err(|_| Error::StopTimeout(drain)),
        }
    }

    /// Joins the election of the leader, and the replicas that share objects.
    fn election(
        &mut self,
        progress: Progress,
    ) -> Result<(Option<Election>, Option<Membership>), Error> {
        let Some(candidate) = self.candidate.take() else {
            return Ok((None, None));
        };
        let clients = &self.clusters.own.clients;
        let (metrics, lease) = (self.metrics.clone(), candidate.lease.clone());
        let fence = self.fences.leader.clone();
        let election = Election::start(clients.lease.clone(), candidate.clone(), fence);
        let mut leads = election.leadership().leads();
        let membership = match self.shards.clone().zip(self.fences.member.clone()) {
            None => None,
            Some((shards, fence)) => {
                let (leads, metrics) = (leads.clone(), metrics.shards());
                Some(Membership::start(
                    clients, &candidate, shards, fence, leads, metrics, progress,
                )?)
            }
        };
        tokio::spawn(async move {
            loop {
                metrics.leader(&lease, *leads.borrow_and_update());
                if leads.changed().await.is_err() {
                    break;
                }
            }
        });
        Ok((Some(election), membership))
    }

    /// Refuses controllers with conflicting names, conditions or children, or that use a spoke, before the operator is ready.
    fn check_controllers(&self) -> Result<(), Error> {
        let mut hubs = self.webhooks.hubs();
        hubs.extend(self.hubs.clone());
        let mut names = BTreeSet::new();
        let mut shown: Vec<(&str, &ScopedResource, &str)> = Vec::new();
        let mut pruned: Vec<(&str, &ScopedResource, &ScopedResource)> = Vec::new();
        for controller in &self.controllers {
            let name = controller.name;
            if !names.insert(name) {
                return Err(Error::SameName(name));
            }
            hubs.check(name, &controller.uses)?;
            if let Err(why) = &controller.shares {
                return Err(Error::Unshared(name, why.clone()));
            }
            if let Some((kind, condition)) = &controller.shows {
                let same = |(_, other, its): &&(_, &ScopedResource, &str)| {
                    *other == kind && its == condition
                };
                if let Some((other, ..)) = shown.iter().find(same) {
                    let kind = kind.resource.kind.clone();
                    return Err(Error::SameCondition(other, name, kind, condition));
                }
                shown.push((name, kind, condition));
            }
            let (owner, children) = &controller.prunes;
            for child in children {
                let same = |(_, other, its): &&(&str, &ScopedResource, &ScopedResource)| {
                    *other == owner && *its == child
                };
                if let Some((other, ..)) = pruned.iter().find(same) {
                    let [owner, child] = [owner, child].map(|kind| kind.resource.kind.clone());
                    return Err(Error::SamePruned(other, name, child, owner));
                }
                pruned.push((name, owner, child));
            }
        }
        if self.shards.is_some() && !self.controllers.iter().any(|it| it.is_sharded) {
            tracing::warn!("no controller has `.sharded(..)`, so `--shards` changes nothing");
        }
        Ok(())
    }

    /// The work with leadership, and without.
    fn work(&mut self) -> Result<(Vec<Runnable>, Vec<Runnable>), Error> {
        let environment = Environment {
            clusters: self.clusters.clone(),
            metrics: self.metrics.clone(),
            recorder: self.recorder.clone(),
            concurrency: self.concurrency,
            found: std::mem::take(self.found.get_mut()),
            shards: self.shards.clone(),
            resync: self.resync,
        };
        let read = self.clusters.read();
        let mut names = BTreeSet::new();
        let mut work = std::mem::take(&mut self.runnables);
        let primaries: Vec<_> = self
            .controllers
            .iter()
            .map(|it| it.prunes.0.clone())
            .collect();
        for controller in std::mem::take(&mut self.controllers) {
            let name = controller.name;
            names.insert(name);
            let mut same = primaries
                .iter()
                .filter(|it| it.is_same(&controller.prunes.0));
            let alone = same.nth(1).is_none();
            let writer = self.applier.writer(name, alone);
            let mut prepared = (controller.prepare)(self.queue(name), writer, &environment)?;
            prepared.wait_for(&read);
            work.push(prepared.into());
        }
        let queues = self.queues.get_mut();
        if let Some(name) = queues.keys().find(|name| !names.contains(*name)) {
            return Err(Error::NoController(name));
        }
        Ok(work.into_iter().partition(|work| work.needs_leadership))
    }

    /// The watches; readiness waits until those in `awaited` are filled.
    fn watches(&self, awaited: &[Arc<Source>]) -> Vec<Runnable> {
        let own = (None, self.clusters.own.clone(), self.namespaces.clone());
        let others = self.clusters.others();
        let others = others
            .iter()
            .map(|(name, other)| (Some(*name), other.clone(), vec![None]));
        let mut watches = Vec::new();
        let mut checks = BTreeSet::new();
        for (cluster_name, cluster, namespaces) in [own].into_iter().chain(others) {
            for source in cluster.cache.sources() {
                let check = unused(source.check(cluster_name), &mut checks);
                self.readiness.expect(&check);
                let filled = awaited.iter().any(|awaited| Arc::ptr_eq(awaited, &source));
                let watching = Watching {
                    client: cluster.clients.watches.clone(),
                    namespaces: namespaces.clone(),
                    is_own: cluster_name.is_none(),
                    readiness: self.readiness.clone(),
                    check,
                    filled,
                };
                let name = format!("the watch of {}", source.kind);
                let limit = self.sync;
                watches.push(Runnable::new(name, false, move |stop| async move {
                    tokio::select! {
                        () = stop.cancelled() => Ok(()),
                        () = source.clone().watch(watching) => Ok(()),
                        why = source.overdue(limit) => {
                            Err(format!("not synced within {limit:?}: {why}").into())
                        }
                    }
                }));
            }
        }
        watches
    }

    /// The servers, which are bound already.
    async fn servers(&mut self, served: Option<Arc<Current>>) -> Result<Vec<Runnable>, Error> {
        let client = self.clusters.own.clients.unfenced.clone();
        let (liveness, readiness) = (self.liveness.clone(), self.readiness.clone());
        let servers = self
            .endpoints
            .bind(liveness, readiness, &self.metrics, client, served);
        Ok(servers.await?.into_iter().map(Runnable::from).collect())
    }

    /// The stores that readiness waits for, because webhooks may read them.
    fn awaited(&self) -> Vec<Arc<Source>> {
        let mut stores = self.clusters.read();
        stores.retain(|store| self.webhooks.awaits(&store.kind));
        stores
    }

    /// The webhook server, which is bound already, if there are webhooks. It answers no request before the
    /// stores are filled.
    async fn webhook_server(&mut self) -> Result<Option<(Server, Router)>, Error> {
        let clients = &self.clusters.own.clients;
        let (http2, stores) = (self.endpoints.http2, self.clusters.read());
        let bound = self
            .webhooks
            .bind(clients, &self.metrics, &self.readiness, http2, stores)
            .await?;
        Ok(bound.map(|(server, router, tasks)| {
            self.runnables.extend(tasks);
            (server, router)
        }))
    }
}

/// Waits for the token, for ever without one.
async fn ended(token: Option<CancellationToken>) {
    match token {
        Some(token) => token.cancelled().await,
        None => pending().await,
    }
}

/// `name`, with a number if it is taken: a type may have several watches, each with its own check.
fn unused(name: String, taken: &mut BTreeSet<String>) -> String {
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    let mut names = once(name.clone()).chain(numbered);
    names
        .find(|name| taken.insert(name.clone()))
        .unwrap_or(name)
}

impl From<(Server, Router)> for Runnable {
    fn from((server, router): (Server, Router)) -> Self {
        Self::new(server.name().to_owned(), false, |stop| async move {
            Ok(server.run(router, stop).await?)
        })
    }
}

impl From<Prepared> for Runnable {
    fn from(controller: Prepared) -> Self {
        let name = format!("controller {}", controller.name);
        Self::new(name, controller.needs_leadership, |stop| async move {
            controller.run(stop).await;
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_watch_has_a_check_of_its_own() {
        let mut taken = BTreeSet::new();
        let names = ["pods", "pods", "secrets", "pods"].map(str::to_owned);
        let checks = names.map(|name| unused(name, &mut taken));
        assert_eq!(checks, ["pods", "pods-2", "secrets", "pods-3"]);
    }
}
