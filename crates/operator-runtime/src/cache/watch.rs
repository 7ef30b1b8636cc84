//! The task that keeps a source in sync with the API server.

use std::{
    collections::BTreeSet,
    pin::pin,
    sync::{Arc, atomic::Ordering},
};

use futures::{
    StreamExt,
    future::{join_all, pending},
};
use kube::{
    Api, Client,
    runtime::{
        utils::Backoff,
        watcher::{self, DefaultBackoff, Event, watcher},
    },
};
use tokio::time::{sleep, timeout};

use super::{
    Form, Key, Source,
    entry::Raw,
    listing::{Listing, Next, SILENCE},
    paced,
};
use crate::{
    client::{discovery, watches::LONGEST},
    error::chain,
    server::probes::Readiness,
};

/// The settings for watching a cluster.
#[derive(Clone)]
pub(crate) struct Watching {
    pub(crate) client: Client,
    /// The namespaces; `None` means all.
    pub(crate) namespaces: Vec<Option<String>>,
    /// Whether it is the operator's own cluster: what another API server honours, nobody has tried.
    pub(crate) is_own: bool,
    pub(crate) readiness: Readiness,
    /// The name of the readiness check.
    pub(crate) check: String,
    /// Whether readiness waits until the source is filled, or only until its type is served.
    pub(crate) filled: bool,
}

impl Watching {
    /// Readiness fails if it waits for the objects, and only shows the reason otherwise: the list may need a
    /// conversion by this replica, which is asked when it is ready.
    fn is_unfilled(&self, reason: &str) {
        match self.filled {
            true => self.readiness.fail(&self.check, reason),
            false => self.readiness.pass_although(&self.check, reason),
        }
    }
}

impl Source {
    /// The name of the readiness check for this source, in the cluster of this name or in the operator's
    /// own.
    pub(crate) fn check(&self, cluster: Option<&str>) -> String {
        let resource = &self.kind.resource;
        let mut check = resource.plural.clone();
        for (mark, part) in [(".", Some(&*resource.group)), ("@", cluster)] {
            if let Some(part) = part.filter(|part| !part.is_empty()) {
                check.extend([mark, part]);
            }
        }
        check
    }

    /// Watches until dropped. Starts when the API server serves the type.
    pub(crate) async fn watch(self: Arc<Self>, watching: Watching) {
        loop {
            self.wait(&watching).await;
            self.follow(&watching).await;
        }
    }

    /// Waits until the API server serves the type. Meanwhile, an optional source is empty and counts as listed.
    async fn wait(&self, watching: &Watching) {
        while !self.required.load(Ordering::Relaxed) {
            match discovery::serves(&watching.client, &self.kind).await {
                Ok(true) => {
                    tracing::info!("found {}", self.kind);
                    return;
                }
                Ok(false) => {
                    if !self.is_filled() {
                        tracing::info!(
                            "the API server does not serve {}, which is optional",
                            self.kind
                        );
                    }
                    self.retain(None, &BTreeSet::new());
                    self.has_none();
                    self.unlisted.send_replace(Some(0));
                    watching.readiness.pass(&watching.check);
                }
                // The type may be served: what it holds stays.
                Err(reason) => tracing::debug!("asking for {}: {reason}", self.kind),
            }
            sleep(discovery::LONG_PERIOD).await;
        }
        discovery::wait(&watching.client, &self.kind, |reason| {
            self.is_hindered(reason);
            watching.readiness.fail(&watching.check, reason);
        })
        .await;
    }

    /// Lists and watches; an optional type as long as it is served.
    async fn follow(&self, watching: &Watching) {
        let chosen = &self.selector.namespaces;
        let namespaces = match self.kind.namespaced {
            true if chosen.is_empty() => watching.namespaces.clone(),
            true => chosen.iter().cloned().map(Some).collect(),
            false => vec![None],
        };
        self.begin(&namespaces);
        if !self.is_filled() {
            self.is_hindered(&format!("listing {}", self.kind));
            watching.is_unfilled(&format!("listing {}", self.kind));
            self.unlisted.send_replace(Some(namespaces.len()));
        }
        let listed = async {
            self.filled().await;
            watching.readiness.pass(&watching.check);
            pending().await
        };
        let tasks = namespaces.into_iter().map(|namespace| async move {
            match self.form() {
                Form::Metadata => self.keep::<true>(watching, namespace).await,
                Form::Objects(..) | Form::Transformed(..) => {
                    self.keep::<false>(watching, namespace).await;
                }
            }
        });
        tokio::select! {
            () = listed => {}
            _ = join_all(tasks) => {}
        }
    }

    /// Keeps the objects of a namespace in sync. Ends if the type is optional and no longer served.
    async fn keep<const METADATA: bool>(&self, watching: &Watching, namespace: Option<String>) {
        let decode = self.form().decode();
        let client = paced(watching.client.clone());
        let mut config = watcher::Config::default().timeout(LONGEST);
        config.label_selector = self.selector.labels.clone();
        config.field_selector = self.selector.fields.clone();
        let (mut first, mut listing) = (true, Listing::default());
        let mut kept = self.kept();
        let namespace = namespace.as_deref();
        // kube's own backoff would reset at each list, even if all of them fail.
        let mut backoff = DefaultBackoff::default();
        loop {
            if kept.renew().is_empty() {
                // This process has no share of the objects yet.
                self.shed(namespace, &kept);
                self.is_listed(&mut first);
                kept.changed().await;
                continue;
            }
            let client = match watching.is_own {
                true => kept.client(client.clone()),
                false => client.clone(),
            };
            let api: Api<Raw<METADATA>> = self.kind.api(client, namespace);
            let mut events = pin!(watcher(api, listing.config(config.clone())));
            // Whether a list has begun, and has ended.
            let (mut begun, mut complete) = (false, false);
            let mut listed = BTreeSet::new();
            loop {
                let next = async {
                    match listing.streams() && !complete {
                        true => timeout(SILENCE, events.next()).await.unwrap_or_default(),
                        false => events.next().await,
                    }
                };
                let event = tokio::select! {
                    biased;
                    grows = kept.changed() => {
                        self.shed(namespace, &kept);
                        if grows {
                            break;
                        }
                        continue;
                    }
                    event = next => event,
                };
                // A streamed list may fall silent, or begin again before its end.
                let stopped = match &event {
                    None => true,
                    Some(event) => matches!(event, Ok(Event::Init)) && begun && !complete,
                };
                let Some(event) = event.filter(|_| !stopped) else {
                    listing.fail(None);
                    break;
                };
                match event {
                    Ok(Event::Init) => {
                        (begun, complete) = (true, false);
                        listed.clear();
                    }
                    Ok(Event::InitApply(raw)) => {
                        let key = raw.key();
                        if let Some(entry) = kept.decode(raw, &decode) {
                            self.change(&key, Some(entry));
                            listed.insert(key);
                        }
                    }
                    Ok(Event::InitDone) => {
                        complete = true;
                        backoff.reset();
                        self.retain(namespace, &listed);
                        listed = BTreeSet::new();
                        self.listed(namespace, kept.slots());
                        self.is_listed(&mut first);
                    }
                    Ok(Event::Apply(raw)) => {
                        backoff.reset();
                        let key = raw.key();
                        self.change(&key, kept.decode(raw, &decode));
                    }
                    Ok(Event::Delete(raw)) => {
                        backoff.reset();
                        self.change(&raw.key(), None);
                    }
                    Err(error) if is_missing(&error) && !self.required.load(Ordering::Relaxed) => {
                        tracing::info!("the API server no longer serves {}", self.kind);
                        return;
                    }
                    Err(error) => {
                        let next = (!complete).then(|| listing.fail(Some(&error)));
                        if next == Some(Next::AtOnce) {
                            let (kind, error) = (&self.kind.resource.kind, chain(&error));
                            tracing::debug!(kind, namespace, error, "listing in another way");
                            break;
                        }
                        self.report(&error, namespace, first.then_some(watching));
                        sleep(backoff.next().unwrap_or_default()).await;
                        if next.is_some() || is_too_late(&error) {
                            break;
                        }
                    }
                }
            }
        }
    }

    /// One more namespace is listed for the first time.
    fn is_listed(&self, first: &mut bool) {
        if std::mem::take(first) {
            let count = |left: &mut Option<usize>| *left = left.map(|left| left.saturating_sub(1));
            self.unlisted.send_modify(count);
        }
    }

    /// Logs an error; before the first list, readiness tells it, too.
    fn report(&self, error: &watcher::Error, namespace: Option<&str>, unlisted: Option<&Watching>) {
        let (kind, text) = (&self.kind.resource.kind, chain(error));
        if is_normal(error) {
            tracing::info!(kind, namespace, error = text, "restarting a watch");
        } else {
            tracing::warn!(kind, namespace, error = text, "a watch failed, retrying");
        }
        if let Some(watching) = unlisted {
            let place = namespace.map(|name| format!(" of namespace {name}"));
            let place = place.unwrap_or_default();
            let reason = format!("cannot list {}{place}: {text}", self.kind);
            self.is_hindered(&reason);
            watching.is_unfilled(&reason);
        }
    }

    /// Removes objects that a list no longer contains: they were deleted while the watch was interrupted.
    pub(super) fn retain(&self, namespace: Option<&str>, listed: &BTreeSet<Key>) {
        let gone = |key: &Key| {
            !listed.contains(key) && (namespace.is_none() || key.namespace() == namespace)
        };
        for key in self.content.keys().iter().filter(|key| gone(key)) {
            self.change(key, None);
        }
    }
}

/// Whether the API server is reinitializing the storage of a type, as after a change of the CRD, for
/// example when conversion is enabled. It briefly serves nothing, and watches cannot resume.
fn is_normal(error: &watcher::Error) -> bool {
    let status = match error {
        watcher::Error::WatchError(status) => status,
        watcher::Error::WatchStartFailed(kube::Error::Api(status))
        | watcher::Error::InitialListFailed(kube::Error::Api(status)) => status,
        _ => return false,
    };
    let listed = !matches!(error, watcher::Error::InitialListFailed(_));
    (status.code == 410 && listed)
        || (status.code == 429 && status.message == "storage is (re)initializing")
}

/// Whether the API server does not serve the type.
fn is_missing(error: &watcher::Error) -> bool {
    match error {
        watcher::Error::WatchStartFailed(kube::Error::Api(status))
        | watcher::Error::InitialListFailed(kube::Error::Api(status)) => status.code == 404,
        _ => false,
    }
}

/// Whether the resource version of a watch has expired, so that the objects must be listed again. kube does so
/// if the stream reports the expiry; if the response does, kube would repeat the request forever.
pub(crate) fn is_too_late(error: &watcher::Error) -> bool {
    match error {
        watcher::Error::WatchStartFailed(kube::Error::Api(status)) => status.code == 410,
        watcher::Error::WatchError(status) => status.code == 410,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;
    use kube::api::ObjectMeta;

    use super::*;
    use crate::{
        cache::{Cache, Entry},
        object::{ScopedResource, Selector},
    };

    #[test]
    fn an_object_missing_in_a_list_is_deleted_in_its_namespace() {
        for (namespace, left) in [(Some("a"), "a/1 b/1 b/2"), (None, "a/1")] {
            let kind = ScopedResource::of::<ConfigMap>();
            let source =
                Cache::default().source(&kind, &Selector::default(), Form::Metadata, false);
            for (namespace, name) in [("a", "1"), ("a", "2"), ("b", "1"), ("b", "2")] {
                let metadata = ObjectMeta {
                    uid: Some("uid".to_owned()),
                    ..ObjectMeta::default()
                };
                let object = ConfigMap {
                    metadata,
                    ..ConfigMap::default()
                };
                let entry = Entry::Valid(Arc::new(object));
                source.change(&Key::new(Some(namespace), name), Some(entry));
            }
            source.retain(namespace, &BTreeSet::from([Key::new(Some("a"), "1")]));
            let keys = source.content.keys();
            let keys: Vec<_> = keys.iter().map(|key| format!("{key:?}")).collect();
            assert_eq!(keys.join(" "), left);
        }
    }
}
