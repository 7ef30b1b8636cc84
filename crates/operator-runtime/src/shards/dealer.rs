//! Deals the slots, as long as this process leads. Every process knows the members, so that a new leader knows at
//! once who has not renewed for how long.

#[cfg(all(test, feature = "metrics"))]
mod tests;

use std::{pin::pin, time::Duration};

use futures::StreamExt;
use k8s_openapi::api::{coordination::v1::Lease, core::v1::ConfigMap, events::v1};
use kube::{
    Api, Error,
    api::{DeleteParams, ListParams, ObjectMeta, PostParams, Preconditions},
    runtime::watcher::{Config, Event},
};
use tokio::{
    sync::watch,
    time::{sleep, timeout},
};

use super::{
    assignment::Assignment,
    deal::{MemberView, Standing, next, was_turned_back},
    follow::{MEMBERS, label, labels},
    identity::Identity,
    news::{Announcement, News, event},
    observe::{Seen, events},
    progress::Progress,
    roll::{Expired, Roll},
};
use crate::slots::SLOTS;
use crate::{clock::since_boot, error::chain, leader::Timing, metrics::ShardMetrics};

pub(super) struct Dealer {
    pub(super) leases: Api<Lease>,
    pub(super) objects: Api<ConfigMap>,
    /// The name of the operator, and that of the object.
    pub(super) name: String,
    pub(super) object: String,
    pub(super) timing: Timing,
    /// At most so many members get slots.
    pub(super) limit: Option<usize>,
    pub(super) leads: watch::Receiver<bool>,
    pub(super) seen: watch::Receiver<Option<Seen>>,
    pub(super) metrics: ShardMetrics,
    pub(super) progress: Progress,
    /// Whether another member lives, to which a leaving one can pass its slots.
    pub(super) others: watch::Sender<bool>,
    pub(super) identity: String,
    pub(super) namespace: String,
    pub(super) events: Api<v1::Event>,
}

impl Dealer {
    /// Runs until dropped.
    pub(super) async fn run(mut self) {
        let mut roll = Roll::new(self.timing.lease);
        let config = Config::default().labels(&format!("{MEMBERS}={}", label(&self.name)));
        let mut leases = pin!(events(self.leases.clone(), config, |_| {}));
        let mut listing = None;
        loop {
            let due = roll.due().map(|due| due.saturating_sub(since_boot()));
            let moving = self.seen.borrow().as_ref().is_none_or(Seen::is_moving);
            let pause = match moving {
                true => due.unwrap_or(self.timing.retry).min(self.timing.retry),
                false => due.unwrap_or(Duration::from_secs(60)),
            };
            // A member that is due, and whose Lease cannot be deleted now, is tried again a little later.
            let pause = pause.max(Duration::from_millis(200));
            let mut asks = false;
            tokio::select! {
                event = leases.next() => {
                    let now = since_boot();
                    match event {
                        Some(Event::Init) => listing = Some((roll.begin(), Vec::new())),
                        Some(Event::InitApply(lease)) => {
                            if let Some((_, all)) = &mut listing {
                                all.push(lease);
                            }
                        }
                        Some(Event::InitDone) => {
                            if let Some((begun, all)) = listing.take() {
                                roll.list(begun, all, now);
                            }
                        }
                        Some(Event::Apply(lease)) => _ = roll.see(lease, now),
                        Some(Event::Delete(lease)) => roll.removed(lease, now),
                        None => return,
                    }
                }
                _ = self.seen.changed() => {}
                _ = self.leads.changed() => {}
                () = sleep(pause) => asks = moving,
            }
            let others = roll.lives_besides(&self.identity);
            self.others
                .send_if_modified(|old| std::mem::replace(old, others) != others);
            if !*self.leads.borrow_and_update() {
                // Another one leads, or will: what this one knew last would outlive it in the alerts.
                self.metrics.dealt(0, 0);
                self.progress.deals();
                continue;
            }
            let limit = self.timing.call();
            let failure = match timeout(limit, self.deal(&mut roll, asks)).await {
                Ok(Ok(())) => None,
                // Somebody was faster; the watch shows what they wrote.
                Ok(Err(Error::Api(status))) if matches!(status.code, 404 | 409) => None,
                Ok(Err(error)) => Some(chain(&error)),
                Err(_) => Some(format!("no answer within {limit:?}")),
            };
            match failure {
                None => self.progress.deals(),
                Some(error) => {
                    tracing::warn!(error, "cannot deal the shards, retrying");
                    self.progress.cannot_deal(&error, since_boot());
                    sleep(self.timing.retry).await;
                }
            }
        }
    }

    async fn deal(&mut self, roll: &mut Roll, asks: bool) -> kube::Result<()> {
        let Some(seen) = self.seen.borrow_and_update().clone() else {
            return self.create().await;
        };
        let assignment = match &seen.assignment {
            Ok(assignment) => assignment,
            Err(error) => {
                let object = &self.object;
                tracing::error!(object, %error, "the assignment of the shards is unreadable, making a new one");
                self.delete(&seen).await?;
                let why = format!("the leader deals all slots anew: {error}");
                self.announce(&seen, true, "SlotsDealtAnew", why);
                return Ok(());
            }
        };
        roll.name(&seen.uid, assignment);
        if asks || roll.wants_list() {
            let begun = roll.begin();
            let params = ListParams::default().labels(&format!("{MEMBERS}={}", label(&self.name)));
            let leases = self.leases.list(&params).await?;
            roll.list(begun, leases, since_boot());
        }
        for expired in roll.expired(since_boot()) {
            self.expire(roll, &expired).await?;
        }
        let Some(members) = roll.members(since_boot()) else {
            return Ok(());
        };
        if was_turned_back(assignment, &members) {
            // This fails if only the watch is late, and shows what this leader has replaced already.
            self.delete(&seen).await?;
            tracing::error!(
                object = self.object,
                "an old assignment of the shards came back, making a new one"
            );
            let why = "the leader deals all slots anew: somebody brought an old text back";
            self.announce(&seen, true, "SlotsDealtAnew", why.to_owned());
            return Ok(());
        }
        let lives = |member: &&MemberView| member.standing != Standing::Gone;
        let living: Vec<_> = members
            .iter()
            .filter(lives)
            .map(|it| &it.identity)
            .collect();
        let unserved =
            assignment.slots(|it| it.owner().is_none_or(|owner| !living.contains(&owner)));
        self.metrics.dealt(living.len(), unserved.len());
        let Some(new) = next(assignment, &members, self.limit) else {
            return Ok(());
        };
        let mut object = self.written(&new, Some(&seen.uid));
        object.metadata.uid = Some(seen.uid.clone());
        object.metadata.resource_version = Some(seen.resource_version.clone());
        let params = PostParams::default();
        self.objects.replace(&self.object, &params, &object).await?;
        tracing::debug!(number = new.number(), "dealt the shards");
        let has_left = |member: &Identity| roll.has_left(member);
        if let Some(News { is_loss, text }) = News::of(assignment, &new, &members, has_left) {
            let reason = if is_loss { "ReplicaGone" } else { "SlotsDealt" };
            self.announce(&seen, is_loss, reason, text);
        }
        Ok(())
    }

    /// Writes an Event of the object. No deal waits for it.
    fn announce(&self, seen: &Seen, is_bad: bool, reason: &str, note: String) {
        tracing::info!(reason, "{note}");
        let event = event(&Announcement {
            operator: &self.name,
            identity: &self.identity,
            namespace: &self.namespace,
            object: (&self.object, &seen.uid),
            is_bad,
            reason,
            note,
        });
        let events = self.events.clone();
        tokio::spawn(async move {
            if let Err(error) = events.create(&PostParams::default(), &event).await {
                let error = chain(&error);
                tracing::debug!(error, "cannot write an event of the shards");
            }
        });
    }

    async fn create(&self) -> kube::Result<()> {
        self.metrics.dealt(0, SLOTS.into());
        let object = self.written(&Assignment::new(SLOTS), None);
        self.objects.create(&PostParams::default(), &object).await?;
        Ok(())
    }

    /// The object with this assignment, written to the one with the UID `to`, if there is one.
    fn written(&self, assignment: &Assignment, to: Option<&str>) -> ConfigMap {
        ConfigMap {
            metadata: ObjectMeta {
                name: Some(self.object.clone()),
                labels: Some(labels(&self.name)),
                ..ObjectMeta::default()
            },
            data: Some(assignment.write(to)),
            ..ConfigMap::default()
        }
    }

    async fn delete(&self, seen: &Seen) -> kube::Result<()> {
        let params = swap(Some(seen.uid.clone()), Some(seen.resource_version.clone()));
        self.objects.delete(&self.object, &params).await?;
        Ok(())
    }

    /// Deletes a Lease that was not renewed, or is released, unless it has changed since.
    async fn expire(&self, roll: &mut Roll, expired: &Expired) -> kube::Result<()> {
        let params = swap(expired.uid.clone(), expired.resource_version.clone());
        match self.leases.delete(&expired.name, &params).await {
            Ok(_) => {
                tracing::info!(member = %expired.identity, "a replica is gone");
                roll.deleted(expired);
                Ok(())
            }
            // It was renewed, or somebody else deleted it.
            Err(Error::Api(status)) if matches!(status.code, 404 | 409) => {
                tracing::debug!(member = %expired.identity, "a lease has changed");
                match self.leases.get_opt(&expired.name).await? {
                    Some(lease) => _ = roll.see(lease, since_boot()),
                    None => roll.miss(&expired.identity, since_boot()),
                }
                Ok(())
            }
            Err(error) => Err(error),
        }
    }
}

/// A deletion of exactly this object.
fn swap(uid: Option<String>, resource_version: Option<String>) -> DeleteParams {
    DeleteParams {
        preconditions: Some(Preconditions {
            uid,
            resource_version,
        }),
        ..DeleteParams::default()
    }
}
