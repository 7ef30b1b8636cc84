//! Watches one object by name.

use std::{convert::Infallible, fmt::Debug, pin::pin};

use futures::StreamExt;
use kube::{
    Api, Resource,
    runtime::{
        utils::Backoff,
        watcher::{self, DefaultBackoff, Event, watcher},
    },
};
use serde::de::DeserializeOwned;
use tokio::time::sleep;

use crate::{
    cache::watch::is_too_late, client::watches::LONGEST, error::chain, webhook::repeated::Repeated,
};

/// Passes the object to `seen`, now and after each change; `None` while it does not exist. Passes errors of
/// the watch, too, which continues. A role for this object must grant `list` and `watch` by name.
pub(super) async fn follow<K>(
    api: Api<K>,
    name: &str,
    seen: impl Fn(Result<Option<K>, &str>),
) -> Infallible
where
    K: Resource + Clone + DeserializeOwned + Debug + Send + 'static,
{
    let config = watcher::Config::default()
        .fields(&format!("metadata.name={name}"))
        .timeout(LONGEST);
    let mut backoff = DefaultBackoff::default();
    let mut logged = Repeated::default();
    loop {
        let mut events = pin!(watcher(api.clone(), config.clone()));
        let mut listed = None;
        while let Some(event) = events.next().await {
            match event {
                Ok(Event::Init) => listed = None,
                Ok(Event::InitApply(object)) => listed = Some(object),
                Ok(Event::InitDone) => {
                    logged.end();
                    backoff.reset();
                    seen(Ok(listed.take()));
                }
                Ok(Event::Apply(object)) => {
                    backoff.reset();
                    seen(Ok(Some(object)));
                }
                Ok(Event::Delete(_)) => {
                    backoff.reset();
                    seen(Ok(None));
                }
                Err(error) => {
                    let text = chain(&error);
                    if logged.is_due(&text) {
                        tracing::warn!(name, error = text, "a watch failed, retrying");
                    }
                    seen(Err(&text));
                    sleep(backoff.next().unwrap_or_default()).await;
                    if is_too_late(&error) {
                        break;
                    }
                }
            }
        }
    }
}
