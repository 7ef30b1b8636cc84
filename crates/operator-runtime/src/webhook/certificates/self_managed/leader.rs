//! The leader's task: publishes the CAs, and rotates.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    future::pending,
    time::{Duration, SystemTime},
};

use futures::future::join_all;
use k8s_openapi::api::core::v1::Secret;
use tokio::{
    sync::watch::{self, Receiver},
    time::sleep,
};

use super::{
    super::{
        contents::Contents,
        follow::follow,
        publish::Seen,
        rotate::{Step, decide},
    },
    RETRY, SelfManaged, View,
};
use crate::{
    cache::paced, client::Clients, clock::since_boot, error::chain, webhook::repeated::Repeated,
};

/// The pause after publishing in a target, so that a client that keeps removing the caBundle causes no busy
/// loop.
const PAUSE: Duration = Duration::from_secs(1);

/// A target as its watch shows it, if it exists; `None` until that is known.
type Found = Option<Option<Seen>>;

impl SelfManaged {
    /// Publishes the CAs of the Secret wherever they are missing, and rotates.
    pub(super) async fn lead(&self, clients: &Clients, view: Receiver<View>) -> Infallible {
        let (found, targets) = watch::channel(vec![Found::None; self.targets.len()]);
        let follows = self.targets.iter().enumerate().map(|(index, target)| {
            let api = target.api(paced(clients.watches.clone()));
            let found = &found;
            follow(api, target.name(), move |object| {
                if let Ok(object) = object {
                    found.send_modify(|all| all[index] = Some(object));
                }
            })
        });
        let follows = async {
            match join_all(follows).await.pop() {
                Some(never) => never,
                None => pending().await,
            }
        };
        let work = Leader {
            own: self,
            clients,
            since: None,
            written: None,
            paused: BTreeMap::new(),
            logged: BTreeMap::new(),
        };
        tokio::select! {
            never = follows => never,
            never = work.run(view, targets) => never,
        }
    }
}

struct Leader<'a> {
    own: &'a SelfManaged,
    clients: &'a Clients,
    /// The contents that are published everywhere, and since when.
    since: Option<(Contents, Duration)>,
    /// The replaced version of the Secret, which is not replaced again until then.
    written: Option<(Option<String>, Duration)>,
    /// The targets that are paused, and until when.
    paused: BTreeMap<usize, Duration>,
    /// The logged messages of each target.
    logged: BTreeMap<usize, Repeated>,
}

impl Leader<'_> {
    async fn run(
        mut self,
        mut view: Receiver<View>,
        mut targets: Receiver<Vec<Found>>,
    ) -> Infallible {
        loop {
            let View { secret, held } = view.borrow_and_update().clone();
            let found = secret.flatten();
            let seen = targets.borrow_and_update().clone();
            let contents = found.as_ref().map(Contents::of).unwrap_or_default();
            let wait = match found {
                // A replica fills it.
                Some(secret) if !contents.is_empty() => {
                    let published = self.publish(&contents, &seen).await;
                    let next = self.rotate(secret, contents, published).await;
                    next.unwrap_or_else(|error| {
                        tracing::warn!(error, "keeping the webhook certificate");
                        RETRY
                    })
                }
                // A replica fills or restores it. Until then, the certificate that this replica holds is valid.
                _ => match self.publish(&held, &seen).await {
                    false if held.is_empty() => Duration::MAX,
                    false => PAUSE,
                    true => Duration::MAX,
                },
            };
            tokio::select! {
                _ = view.changed() => {}
                _ = targets.changed() => {}
                () = sleep(wait) => {}
            }
        }
    }

    /// Publishes the CAs wherever they are missing; returns whether none were missing.
    async fn publish(&mut self, contents: &Contents, seen: &[Found]) -> bool {
        let (own, bundle) = (self.own, contents.bundle());
        if bundle.is_empty() {
            return false;
        }
        let mut everywhere = true;
        for (index, (target, found)) in own.targets.iter().zip(seen).enumerate() {
            let Some(found) = found else {
                everywhere = false;
                continue;
            };
            // A missing target calls no webhook.
            let Some(object) = found else {
                self.log(index, "does not exist");
                continue;
            };
            let Some(patch) = object.patch(&own.service, &bundle) else {
                match object.calls(&own.service) {
                    true => _ = self.logged.remove(&index),
                    false => self.log(index, "does not call the webhooks' Service"),
                }
                continue;
            };
            everywhere = false;
            if self
                .paused
                .get(&index)
                .is_some_and(|until| *until > since_boot())
            {
                continue;
            }
            let pause = match target.publish(self.clients.calls.clone(), patch).await {
                Ok(()) => {
                    tracing::info!("published the CA of the webhooks in {target}");
                    PAUSE
                }
                // The watch shows the new state.
                Err(kube::Error::Api(status)) if status.is_conflict() => continue,
                Err(error) => {
                    self.log(index, &format!("lacks the CA: {}", chain(&error)));
                    RETRY
                }
            };
            self.paused.insert(index, since_boot() + pause);
        }
        everywhere
    }

    /// Logs a message about a target.
    fn log(&mut self, index: usize, text: &str) {
        if self.logged.entry(index).or_default().is_due(text) {
            tracing::warn!("{} {text}", self.own.targets[index]);
        }
    }

    /// Takes the next step; returns the delay until the following one, unless something changes.
    async fn rotate(
        &mut self,
        secret: Secret,
        contents: Contents,
        published: bool,
    ) -> Result<Duration, String> {
        let (own, now) = (self.own, SystemTime::now());
        let (hosts, periods) = (own.service.hosts(), &own.periods);
        let settled = self.settled(&contents, published);
        let version = secret.metadata.resource_version.clone();
        if let Some((written, until)) = &self.written
            && *written == version
            && *until > since_boot()
        {
            return Ok(until.saturating_sub(since_boot()));
        }
        let contents = match decide(&contents, &hosts, now, periods, settled) {
            // A target is not published yet, or paused.
            Step::Wait(time) if !published => return Ok(time.min(PAUSE)),
            Step::Wait(time) => return Ok(time),
            Step::Begin(reason) => {
                tracing::warn!(reason, "replacing the webhook certificate at once");
                Contents::begin(own.issue()?)
            }
            Step::Prepare(reason) => {
                tracing::info!(reason, "issuing the next webhook certificate");
                contents.prepare(own.issue()?, &hosts, now)
            }
            Step::Switch => {
                tracing::info!("switching to the next webhook certificate");
                contents.switch()
            }
            Step::Finish => {
                tracing::info!("dropping the CA of the previous webhook certificate");
                contents.finish(&hosts, now)
            }
        };
        own.write(&self.clients.calls, secret, &contents).await?;
        // The watch shows the write earlier.
        self.written = Some((version, since_boot() + RETRY));
        Ok(RETRY)
    }

    /// The time for which these contents have been published everywhere.
    fn settled(&mut self, contents: &Contents, published: bool) -> Option<Duration> {
        let now = since_boot();
        match &self.since {
            _ if !published => self.since = None,
            Some((known, _)) if known == contents => {}
            _ => self.since = Some((contents.clone(), now)),
        }
        let (_, since) = self.since.as_ref()?;
        Some(now.saturating_sub(*since))
    }
}
