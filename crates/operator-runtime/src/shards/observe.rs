//! Watches the assignment and the Leases of the members.

use std::{collections::BTreeMap, fmt::Debug, pin::pin, time::Duration};

use futures::{Stream, StreamExt};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, ResourceExt,
    runtime::{
        WatchStreamExt,
        watcher::{Config, Event, watcher},
    },
};
use serde::de::DeserializeOwned;
use tokio::{
    sync::watch,
    time::{sleep, timeout},
};

use super::assignment::{Assignment, Unreadable};
use crate::{client::watches::LONGEST, error::chain};

/// The object with the assignment.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Seen {
    pub(super) name: String,
    pub(super) uid: String,
    pub(super) resource_version: String,
    pub(super) assignment: Result<Assignment, Unreadable>,
}

impl From<ConfigMap> for Seen {
    fn from(object: ConfigMap) -> Self {
        let uid = object.uid().unwrap_or_default();
        Self {
            assignment: Assignment::read(&uid, object.data.as_ref().unwrap_or(&BTreeMap::new())),
            resource_version: object.resource_version().unwrap_or_default(),
            name: object.name_any(),
            uid,
        }
    }
}

impl Seen {
    /// Whether a slot is on its way: what a silent watch hides costs time then.
    pub(super) fn is_moving(&self) -> bool {
        let assignment = self.assignment.as_ref();
        assignment.is_ok_and(|it| !it.slots(|phase| phase.to().is_some()).is_empty())
    }
}

/// Events of a type, for ever.
pub(super) fn events<K>(api: Api<K>, config: Config) -> impl Stream<Item = Event<K>> + Send
where
    K: kube::Resource + Clone + Debug + DeserializeOwned + Send + 'static,
{
    let events = watcher(api, config.timeout(LONGEST)).default_backoff();
    events.filter_map(async |event| match event {
        Ok(event) => Some(event),
        Err(error) => {
            tracing::debug!(
                error = chain(&error),
                "a watch of the shards failed, retrying"
            );
            None
        }
    })
}

/// Publishes the object whenever it changes; `None` if there is none. Runs until dropped.
///
/// While a slot is on its way, the object is also read every `period`.
pub(super) async fn assignment(
    api: Api<ConfigMap>,
    name: &str,
    period: Duration,
    seen: watch::Sender<Option<Seen>>,
) {
    let config = Config::default().fields(&format!("metadata.name={name}"));
    let mut events = pin!(events(api.clone(), config));
    let mut listed = None;
    let publish = |object: Option<ConfigMap>| {
        let new = object.map(Seen::from);
        seen.send_if_modified(|old| {
            let changed = *old != new;
            *old = new;
            changed
        });
    };
    loop {
        let moving = seen.borrow().as_ref().is_none_or(Seen::is_moving);
        tokio::select! {
            event = events.next() => match event {
                Some(Event::Init) => listed = None,
                Some(Event::InitApply(object)) => listed = Some(object),
                Some(Event::InitDone) => publish(listed.take()),
                Some(Event::Apply(object)) => publish(Some(object)),
                Some(Event::Delete(_)) => publish(None),
                None => return,
            },
            () = sleep(period), if moving => {
                // What the watch shows later may be older. Whether it is another object, the watch says.
                let is_same = |object: &ConfigMap| {
                    let seen = seen.borrow();
                    seen.as_ref().map(|seen| &seen.uid) == object.uid().as_ref()
                };
                if let Ok(Ok(Some(object))) = timeout(period, api.get_opt(name)).await
                    && is_same(&object)
                {
                    publish(Some(object));
                }
            }
        }
    }
}
