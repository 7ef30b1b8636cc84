//! A cluster of the operator: its clients and its watches.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use kube::{Client, Config};
use parking_lot::{Mutex, MutexGuard};

use crate::{
    cache::{Cache, Source, Store, StoreOptions},
    client::{Clients, Fences},
    error::Error,
    metrics::Metrics,
    object::{ScopedResource, TypedObject},
};

/// A cluster of the operator. Clones are cheap.
#[derive(Clone)]
pub struct Cluster {
    pub(crate) clients: Clients,
    pub(crate) cache: Cache,
}

impl Cluster {
    pub(crate) fn new(
        config: Config,
        metrics: &Metrics,
        fences: &Fences,
        margin: Duration,
    ) -> Result<Self, Error> {
        Ok(Self {
            clients: Clients::new(config, metrics, fences, margin)?,
            cache: Cache::default(),
        })
    }

    /// A client with timeouts and without retries. Clones are cheap. With leader election, it writes only
    /// while this replica leads.
    pub fn client(&self) -> Client {
        self.clients.calls.clone()
    }

    /// A store of the objects of type `K` in this cluster. Create it before the manager runs, and grant the
    /// controllers that read it get, list and watch on the type.
    pub fn store<K: TypedObject>(&self) -> Store<K> {
        self.store_with(StoreOptions::new())
    }

    /// Like [`store`](Self::store), with [options](StoreOptions).
    pub fn store_with<K: TypedObject>(&self, options: StoreOptions<K>) -> Store<K> {
        let (kind, form) = (ScopedResource::of::<K>(), options.form());
        let StoreOptions {
            selector, optional, ..
        } = &options;
        let source = self.cache.source(&kind, selector, form, *optional);
        source.is_read();
        Store::new(source)
    }
}

/// The clusters by name; the operator's own has no name.
#[derive(Clone)]
pub(crate) struct Clusters {
    pub(crate) own: Cluster,
    others: Arc<Mutex<BTreeMap<&'static str, Cluster>>>,
}

impl Clusters {
    pub(crate) fn new(own: Cluster) -> Self {
        Self {
            own,
            others: Arc::default(),
        }
    }

    pub(crate) fn add(&self, name: &'static str, cluster: Cluster) {
        self.others().insert(name, cluster);
    }

    pub(crate) fn get(&self, name: Option<&'static str>) -> Result<Cluster, Error> {
        match name {
            None => Ok(self.own.clone()),
            Some(name) => self
                .others()
                .get(name)
                .cloned()
                .ok_or(Error::NoCluster(name)),
        }
    }

    /// The sources with readers, in all clusters.
    pub(crate) fn read(&self) -> Vec<Arc<Source>> {
        let others = self.others();
        let clusters = [&self.own].into_iter().chain(others.values());
        clusters.flat_map(|cluster| cluster.cache.read()).collect()
    }

    pub(crate) fn others(&self) -> MutexGuard<'_, BTreeMap<&'static str, Cluster>> {
        self.others.lock()
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{ConfigMap, Secret};

    use super::*;

    fn cluster(server: &str) -> Result<Cluster, Error> {
        let config = Config::new(server.parse().unwrap());
        Cluster::new(config, &Metrics::default(), &Fences::open(), Duration::MAX)
    }

    #[tokio::test]
    async fn clusters_are_found_by_their_names() {
        let clusters = Clusters::new(cluster("http://own").unwrap());
        clusters.add("other", cluster("http://other").unwrap());
        let other = clusters.get(Some("other")).unwrap();
        other.store::<ConfigMap>();
        assert_eq!(
            clusters.get(Some("other")).unwrap().cache.sources().len(),
            1
        );
        assert!(clusters.get(None).unwrap().cache.sources().is_empty());
        let missing = clusters.get(Some("missing")).err().unwrap();
        assert!(
            missing.to_string().contains("cluster `missing`"),
            "{missing}"
        );
    }

    #[tokio::test]
    async fn a_store_is_made_once_for_each_type() {
        let cluster = cluster("http://own").unwrap();
        for _ in 0..2 {
            assert!(cluster.store::<ConfigMap>().list().is_empty());
            assert!(cluster.store::<Secret>().get(Some("a"), "b").is_none());
        }
        assert_eq!(cluster.cache.sources().len(), 2);
    }
}
