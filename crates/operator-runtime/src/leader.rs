//! Leader election: the replica that holds a Lease is the leader.
//!
//! The rules are client-go's ([`decide`]), but leadership ends strictly: a leader may write until the renew
//! deadline, counted from the moment at which it *sent* the last successful renewal; others wait for a whole
//! lease duration from then on. The [`Fence`] enforces the deadline, whatever this task does.

mod birth;
mod config;
pub(crate) mod decide;
pub(crate) mod elector;
#[cfg(test)]
mod simulation;

use std::{collections::BTreeMap, pin::pin};

use futures::{
    FutureExt, Stream, StreamExt, TryStreamExt,
    stream::{self, BoxStream},
};
use k8s_openapi::{api::coordination::v1::Lease, jiff::Timestamp};
use kube::{
    Api, Client, ResourceExt,
    api::{PostParams, WatchEvent, WatchParams},
};
use tokio::{
    sync::watch,
    task::JoinHandle,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

pub(crate) use birth::Birth;
pub(crate) use config::{Candidate, Timing, names_a_member};
pub use config::{LeaderElectionFlags, ShardLimit};

use crate::{client::fence::Fence, clock::since_boot, error::chain};
use elector::{Answer, Call, Elector, Step};

/// Whether this process leads. Clones share the state.
#[derive(Clone, Debug)]
pub(crate) struct Leadership {
    leads: watch::Receiver<bool>,
    lost: CancellationToken,
}

impl Leadership {
    /// Leadership without election: always held.
    pub(crate) fn always() -> Self {
        Self {
            leads: watch::channel(true).1,
            lost: CancellationToken::new(),
        }
    }

    /// Waits until this process leads, possibly forever.
    pub(crate) async fn acquired(&self) {
        let mut leads = self.leads();
        if leads.wait_for(|leads| *leads).await.is_err() {
            std::future::pending().await
        }
    }

    /// Cancelled when this process led and may no longer write, except after [`Election::release`].
    pub(crate) fn lost(&self) -> &CancellationToken {
        &self.lost
    }

    /// Receives changes of leadership.
    pub(crate) fn leads(&self) -> watch::Receiver<bool> {
        self.leads.clone()
    }
}

/// The task of this process in the election.
#[derive(Debug)]
pub(crate) struct Election {
    leadership: Leadership,
    leave: CancellationToken,
    task: JoinHandle<()>,
}

impl Election {
    /// Joins the election. `client` must not be behind `fence`, which this task opens and closes.
    pub(crate) fn start(client: Client, candidate: Candidate, fence: Fence) -> Self {
        Self::with_notes(client, candidate, fence, None)
    }

    /// Like [`start`](Self::start); while it holds the Lease, this process also writes the notes on it.
    pub(crate) fn with_notes(
        client: Client,
        candidate: Candidate,
        fence: Fence,
        notes: Option<watch::Receiver<Notes>>,
    ) -> Self {
        let (sender, leads) = watch::channel(false);
        let (leave, lost) = (CancellationToken::new(), CancellationToken::new());
        let leadership = Leadership {
            leads,
            lost: lost.clone(),
        };
        let Candidate {
            lease,
            namespace,
            identity,
            timing,
            ..
        } = candidate;
        let task = Task {
            api: Api::namespaced(client, &namespace),
            name: lease,
            timing,
            elector: Elector::new(identity, timing),
            fence,
            leads: sender,
            holder: None,
            birth: Birth::default(),
            notes,
            leave: leave.clone(),
        };
        let task = tokio::spawn(async move {
            // The lease is no longer renewed, however the task ends.
            let lost = lost.drop_guard();
            if task.run().await == End::Left {
                lost.disarm();
            }
        });
        Self {
            leadership,
            leave,
            task,
        }
    }

    pub(crate) fn leadership(&self) -> Leadership {
        self.leadership.clone()
    }

    /// Releases the lease, so that another replica takes over at once. Call it after all work with
    /// leadership has ended: the fence closes.
    pub(crate) async fn release(self) {
        self.leave.cancel();
        // An error is a panic, which was logged already.
        _ = self.task.await;
    }
}

/// Labels and annotations of a Lease.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Notes {
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) annotations: BTreeMap<String, String>,
}

/// Waits for new notes, for ever if there are none.
async fn changed(notes: &mut Option<watch::Receiver<Notes>>) {
    if let Some(notes) = notes
        && notes.changed().await.is_ok()
    {
        return;
    }
    std::future::pending().await
}

#[derive(PartialEq, Eq)]
enum End {
    Lost,
    Left,
}

struct Task {
    api: Api<Lease>,
    name: String,
    timing: Timing,
    elector: Elector,
    fence: Fence,
    leads: watch::Sender<bool>,
    /// The last logged holder.
    holder: Option<String>,
    birth: Birth,
    notes: Option<watch::Receiver<Notes>>,
    leave: CancellationToken,
}

impl Task {
    async fn run(mut self) -> End {
        let mut changes: BoxStream<'static, Lease> = stream::pending().boxed();
        let leave = self.leave.clone();
        let mut leave = pin!(leave.cancelled().fuse());
        loop {
            let step = self.elector.step(since_boot(), Timestamp::now());
            self.publish();
            match step {
                Step::Call(call) => {
                    let reads = matches!(call, Call::Get);
                    let answer = self.call(call.clone()).await;
                    // Only the Lease of a member has an identity that nobody else may take up.
                    if self.notes.is_some() && self.birth.answer(&call, &answer) {
                        return End::Lost;
                    }
                    changes = match &answer {
                        Answer::Lease(lease) if reads => self.changes(lease).boxed(),
                        _ => stream::pending().boxed(),
                    };
                    self.elector.answer(answer, since_boot());
                }
                Step::Wait(until) => {
                    let leads = self.elector.leads_until().is_some();
                    tokio::select! {
                        () = sleep(until.saturating_sub(since_boot())) => {}
                        () = &mut leave => {
                            self.fence.close();
                            self.elector.leave(since_boot());
                        }
                        change = changes.next(), if !leads => match change {
                            Some(lease) => self.elector.see(lease, since_boot()),
                            None => changes = stream::pending().boxed(),
                        },
                        () = changed(&mut self.notes), if leads => self.elector.hurry(since_boot()),
                    }
                }
                Step::Lost => return End::Lost,
                Step::Left => return End::Left,
            }
        }
    }

    /// Makes one call. Its timeout ends with the leadership, so that the loss is noticed.
    async fn call(&mut self, call: Call) -> Answer {
        let params = PostParams::default();
        let left = self
            .elector
            .leads_until()
            .map(|until| until.saturating_sub(since_boot()));
        let limit = left.map_or(self.timing.call(), |left| left.min(self.timing.call()));
        let result = match call {
            Call::Get => timeout(limit, self.api.get(&self.name)).await,
            Call::Create(mut lease) => {
                lease.metadata.name = Some(self.name.clone());
                self.note(&mut lease);
                timeout(limit, self.api.create(&params, &lease)).await
            }
            Call::Replace(mut lease) => {
                self.note(&mut lease);
                timeout(limit, self.api.replace(&self.name, &params, &lease)).await
            }
        };
        let error = match result {
            Ok(Ok(lease)) => return Answer::Lease(Box::new(lease)),
            Ok(Err(kube::Error::Api(status))) if status.is_not_found() => return Answer::Missing,
            Ok(Err(kube::Error::Api(status))) if status.is_conflict() => return Answer::Conflict,
            Ok(Err(kube::Error::Api(status))) if status.is_already_exists() => {
                return Answer::Conflict;
            }
            Ok(Err(error)) => chain(&error),
            Err(_) => format!("no answer within {limit:?}"),
        };
        tracing::warn!(lease = %self.name, error, "cannot reach the lease, retrying");
        Answer::Failed
    }

    fn note(&mut self, lease: &mut Lease) {
        let Some(notes) = &mut self.notes else {
            return;
        };
        let notes = notes.borrow_and_update().clone();
        let labels = lease.metadata.labels.get_or_insert_default();
        labels.extend(notes.labels);
        let annotations = lease.metadata.annotations.get_or_insert_default();
        annotations.extend(notes.annotations);
    }

    /// The changes of the Lease after `lease`. The watch only speeds up the takeover after a release: it
    /// may end, stall or be forbidden, and the Lease is still read every retry period.
    fn changes(&self, lease: &Lease) -> impl Stream<Item = Lease> + Send + 'static {
        let version = lease.resource_version().unwrap_or_default();
        let params = WatchParams::default().fields(&format!("metadata.name={}", self.name));
        let api = self.api.clone();
        let open = async move { api.watch(&params, &version).await.map(Box::pin) };
        open.into_stream()
            .try_flatten()
            .filter_map(async |event| match event {
                Ok(WatchEvent::Added(lease) | WatchEvent::Modified(lease)) => Some(lease),
                Ok(_) => None,
                Err(error) => {
                    tracing::debug!(error = chain(&error), "cannot watch the lease");
                    None
                }
            })
    }

    /// Publishes the leadership to the rest of the process.
    fn publish(&mut self) {
        self.elector.guard(&self.fence);
        let leads = self.elector.leads_until().is_some();
        let change = |known: &mut bool| std::mem::replace(known, leads) != leads;
        if self.leads.send_if_modified(change) {
            let (lease, identity) = (&self.name, self.elector.identity());
            // The Lease of a member has notes, and only this member ever holds it.
            match (leads, self.notes.is_some()) {
                (true, false) => tracing::info!(lease, identity, "leading"),
                (false, false) => tracing::info!(lease, identity, "not leading any more"),
                (true, true) => tracing::info!(lease, identity, "sharing objects"),
                (false, true) => tracing::info!(lease, identity, "not sharing objects any more"),
            }
        }
        let holder = self.elector.holder();
        if self.holder.as_deref() != Some(holder) {
            self.holder = Some(holder.to_owned());
            if !holder.is_empty() && holder != self.elector.identity() {
                tracing::info!(lease = %self.name, holder, "another replica leads");
            }
        }
    }
}
