//! Watches the assignment and the Leases of the members.

use std::{collections::BTreeMap, fmt::Debug, pin::pin, time::Duration};

use futures::{Stream, StreamExt, future::ready};
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

use super::{
    assignment::{Assignment, Unreadable},
    progress::Progress,
};
use crate::{client::watches::LONGEST, clock::since_boot, error::chain};

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

/// Events of a type, for ever; `fails` hears why there are none.
pub(super) fn events<K>(
    api: Api<K>,
    config: Config,
    fails: impl Fn(&str) + Send,
) -> impl Stream<Item = Event<K>> + Send
where
    K: kube::Resource + Clone + Debug + DeserializeOwned + Send + 'static,
{
    let events = watcher(api, config.timeout(LONGEST)).default_backoff();
    events.filter_map(move |event| {
        let event = event.map_err(|error| {
            let error = chain(&error);
            tracing::debug!(error, "a watch of the shards failed, retrying");
            fails(&error);
        });
        ready(event.ok())
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
    progress: Progress,
) {
    let config = Config::default().fields(&format!("metadata.name={name}"));
    let fails = |why: &str| progress.fails(why, since_boot());
    let mut events = pin!(events(api.clone(), config, fails));
    let mut listed = None;
    let publish = |object: Option<ConfigMap>| {
        let new = object.map(Seen::from);
        progress.hears(new.is_some());
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

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    };

    use http::{Request, Response};
    use kube::{Client, client::Body};
    use serde_json::json;
    use tower::{BoxError, service_fn};

    use super::*;

    #[tokio::test]
    async fn a_replica_that_may_not_read_the_assignment_is_not_ready() {
        let permitted = Arc::new(AtomicBool::new(false));
        let permits = permitted.clone();
        let server = service_fn(move |request: Request<Body>| {
            let permits = permits.load(Ordering::Relaxed);
            async move {
                let is_watch = request
                    .uri()
                    .query()
                    .is_some_and(|it| it.contains("watch="));
                let (code, body) = match permits {
                    true if is_watch => return std::future::pending().await,
                    true => (
                        200,
                        json!({
                            "apiVersion": "v1",
                            "kind": "ConfigMapList",
                            "metadata": { "resourceVersion": "1" },
                            "items": [],
                        }),
                    ),
                    false => (
                        403,
                        json!({
                            "kind": "Status",
                            "status": "Failure",
                            "message": "you may not",
                            "reason": "Forbidden",
                            "code": 403,
                        }),
                    ),
                };
                let body = Body::from(body.to_string().into_bytes());
                Ok::<_, BoxError>(Response::builder().status(code).body(body)?)
            }
        });
        let api = Api::namespaced(Client::new(server, "default"), "default");
        let progress = Progress::default();
        let (sender, _seen) = watch::channel(None);
        let verdict = || progress.verdict("a-shards", since_boot(), |_| String::new());
        let shown = async |expected: &str| {
            while !format!("{:?}", verdict()).contains(expected) {
                sleep(Duration::from_millis(10)).await;
            }
        };
        let watched = async {
            shown("Err(\"it has not read ConfigMap a-shards yet: ").await;
            shown("you may not").await;
            permitted.store(true, Ordering::Relaxed);
            shown("Ok(Some(\"no leader has written ConfigMap a-shards yet").await;
        };
        let period = Duration::from_secs(60);
        tokio::select! {
            () = assignment(api, "a-shards", period, sender, progress.clone()) => unreachable!(),
            watched = timeout(Duration::from_secs(20), watched) => watched.unwrap(),
        }
    }
}
