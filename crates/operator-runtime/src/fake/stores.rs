//! The stores of a fake API server.

use serde_json::Value;

use super::{
    objects::{Id, Objects},
    selector::Selection,
};
use crate::{
    cache::{Cache, Form, Key, Source},
    object::{ScopedResource, Selector},
};

/// The live watches of a fake's managers.
#[derive(Clone, Default)]
pub(super) struct Watched {
    caches: Vec<Cache>,
    kinds: Vec<(ScopedResource, Selector, Form)>,
}

impl Watched {
    pub(super) fn add(&mut self, cache: Cache) -> Self {
        self.caches.push(cache);
        self.clone()
    }

    pub(super) fn extend(&mut self, kinds: Vec<(ScopedResource, Selector, Form)>) -> Self {
        self.kinds.extend(kinds);
        self.clone()
    }

    /// Initializes every source. Their initial fill needs the objects, so the caller must not hold the
    /// lock.
    pub(super) fn prepare(self) {
        for cache in &self.caches {
            for (kind, selector, form) in &self.kinds {
                cache.source(kind, selector, form.clone(), false);
            }
        }
    }

    pub(super) fn show(&self, id: &Id, object: Option<&Value>) {
        for source in self.caches.iter().flat_map(Cache::sources) {
            if is_of(&source, id) {
                let selection = selection(&source);
                let object = object.filter(|object| selects(&source, &selection, id, object));
                let text = object.map(Value::to_string);
                source.show(&key(id), text.as_deref());
            }
        }
    }
}

pub(super) fn fill(source: &Source, objects: &Objects) {
    let selection = selection(source);
    let selected =
        |(id, object): &(&Id, &Value)| is_of(source, id) && selects(source, &selection, id, object);
    let found = objects.all().filter(selected);
    let found: Vec<_> = found
        .map(|(id, object)| (key(id), object.to_string()))
        .collect();
    source.fill(found.iter().map(|(key, text)| (key.clone(), &**text)));
}

fn is_of(source: &Source, (group, plural, ..): &Id) -> bool {
    let resource = &source.kind.resource;
    resource.group == *group && resource.plural == *plural
}

/// # Panics
/// If the API server would refuse the selector.
fn selection(source: &Source) -> Selection {
    let Selector { labels, fields, .. } = &source.selector;
    let text = |selector: &Option<String>| selector.clone().unwrap_or_default();
    let selection = Selection::parse(&text(labels), &text(fields));
    selection.unwrap_or_else(|refusal| panic!("a watch of {}: {}", source.kind, refusal.0.message))
}

fn selects(
    source: &Source,
    selection: &Selection,
    (.., namespace, _): &Id,
    object: &Value,
) -> bool {
    let namespaces = &source.selector.namespaces;
    let here = |namespace: &String| namespaces.is_empty() || namespaces.contains(namespace);
    namespace.as_ref().is_none_or(here) && selection.matches(object)
}

fn key((_, _, namespace, name): &Id) -> Key {
    Key::new(namespace.as_deref(), name)
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, time::Duration};

    use k8s_openapi::api::core::v1::{ConfigMap, Secret};
    use kube::{
        Api, ResourceExt,
        api::{DeleteParams, Patch, PatchParams, PostParams},
    };
    use serde::de::DeserializeOwned;
    use serde_json::{from_value, json};

    use crate::{
        apply::Applier,
        cache::{Store, StoreOptions},
        controller::{Controller, Watch},
        fake::Fake,
        manager::Manager,
        object::{ScopedResource, TypedObject},
    };

    #[tokio::test]
    async fn a_watch_that_is_found_ends_when_no_object_needs_it() {
        let fake = Fake::default();
        let watches = fake.manager().owns_dynamic::<ConfigMap>("config-maps");
        let [a, b] = ["a", "b"].map(|name| fake.insert(named::<ConfigMap>(name)));
        let secrets = || [ScopedResource::of::<Secret>()];
        let store = watches.set(&a, secrets()).unwrap().remove(0);
        let mut names = ["x", "y", "z"].into_iter();
        let mut seen = || {
            fake.insert(named::<Secret>(names.next().unwrap()));
            store.list().len()
        };
        assert_eq!(watches.set(&b, secrets()).unwrap().len(), 1);
        assert_eq!(seen(), 1);
        assert!(watches.set(&a, []).unwrap().is_empty());
        assert_eq!(seen(), 2, "the other object needs it");
        watches.set(&b, [ScopedResource::of::<ConfigMap>()]);
        assert_eq!(seen(), 2, "it has ended");
        let again = watches.set(&a, secrets()).unwrap().remove(0);
        assert_eq!(again.list().len(), 3);
    }

    fn named<K: DeserializeOwned>(name: &str) -> K {
        labelled(name, "none")
    }

    fn labelled<K: DeserializeOwned>(name: &str, app: &str) -> K {
        from_value(json!({ "metadata": { "name": name, "labels": { "app": app } } })).unwrap()
    }

    fn names<K: TypedObject>(store: &Store<K>) -> Vec<String> {
        store
            .list()
            .iter()
            .map(|object| object.name_any())
            .collect()
    }

    #[tokio::test]
    async fn stores_and_indexes_follow_each_change() -> kube::Result<()> {
        let fake = Fake::default();
        fake.insert(labelled::<ConfigMap>("a", "web"));
        fake.insert(named::<Secret>("s"));
        let store = fake.manager().store::<ConfigMap>();
        store.synced().await;
        let app = |object: &ConfigMap| vec![object.labels()["app"].clone()];
        let by_app = store.index(app);
        assert_eq!(
            (names(&store), by_app.get("web").len()),
            (vec!["a".into()], 1)
        );

        let api: Api<ConfigMap> = Api::default_namespaced(fake.client());
        api.create(&PostParams::default(), &labelled("b", "web"))
            .await?;
        assert_eq!((names(&store).len(), by_app.get("web").len()), (2, 2));
        let label = Patch::Merge(json!({ "metadata": { "labels": { "app": "other" } } }));
        api.patch("a", &PatchParams::default(), &label).await?;
        assert_eq!((by_app.get("web").len(), by_app.get("other").len()), (1, 1));
        api.delete("b", &DeleteParams::default()).await?;
        assert_eq!(
            (names(&store), by_app.get("web").len()),
            (vec!["a".into()], 0)
        );

        // An object with a finalizer stays until the finalizer is removed.
        let finalizers = |list: &[&str]| json!({ "metadata": { "finalizers": list } });
        let patch = Patch::Merge(finalizers(&["example.com/a"]));
        api.patch("a", &PatchParams::default(), &patch).await?;
        api.delete("a", &DeleteParams::default()).await?;
        let deleted = store.get(Some("default"), "a").unwrap();
        assert!(deleted.metadata.deletion_timestamp.is_some());
        api.patch("a", &PatchParams::default(), &Patch::Merge(finalizers(&[])))
            .await?;
        assert!(names(&store).is_empty());
        Ok(())
    }

    #[tokio::test]
    async fn a_store_holds_the_selected_objects() {
        let fake = Fake::default();
        let store = |options: StoreOptions<Secret>| fake.manager().store_with(options);
        let stores = [
            store(StoreOptions::new()),
            store(StoreOptions::new().labels("app in (web)")),
            store(StoreOptions::new().fields("type=kubernetes.io/tls")),
            store(StoreOptions::new().namespaces(["default"])),
            store(StoreOptions::new().transform(|secret: &mut Secret| secret.type_ = None)),
        ];
        for (name, namespace, app, type_) in [
            ("a", "default", "web", "Opaque"),
            ("b", "other", "web", "kubernetes.io/tls"),
            ("c", "default", "api", "kubernetes.io/tls"),
        ] {
            let mut secret = labelled::<Secret>(name, app);
            secret.metadata.namespace = Some(namespace.into());
            secret.type_ = Some(type_.into());
            fake.insert(secret);
        }
        let found = stores.each_ref().map(|store| names(store).join(""));
        // Sorted by namespace and name.
        assert_eq!(found, ["acb", "ab", "cb", "ac", "acb"]);
        let types =
            |store: &Store<Secret>| store.list().iter().filter(|s| s.type_.is_some()).count();
        assert_eq!(stores.each_ref().map(types), [3, 2, 2, 2, 0]);
        // The object no longer matches.
        fake.insert(labelled::<Secret>("a", "api"));
        assert_eq!(names(&stores[1]), ["b"]);
    }

    #[tokio::test]
    #[should_panic(expected = "a watch of secrets in v1: unable to parse requirement")]
    async fn an_invalid_selector_panics() {
        let options = StoreOptions::<Secret>::new().labels("app among (web)");
        Fake::default().manager().store_with(options);
    }

    async fn apply(applier: &Applier, owner: &ConfigMap) -> kube::Result<bool> {
        Ok(applier.owned(owner, named::<Secret>("child")).await?.sent)
    }

    async fn reconcile(_: Arc<ConfigMap>, _: Arc<()>) -> kube::Result<()> {
        Ok(())
    }

    fn controller() -> Controller<ConfigMap, ()> {
        Controller::external("test", reconcile)
    }

    #[tokio::test]
    async fn an_owned_object_is_sent_when_it_has_changed() -> kube::Result<()> {
        let fake = Fake::default();
        let owner = fake.insert(named::<ConfigMap>("owner"));
        let applier = fake.manager().applier();
        for _ in 0..2 {
            assert!(apply(&applier, &owner).await?, "the type is not watched");
        }
        fake.watch(controller().owns_with::<Secret>(Watch::new().labels("app=web")));
        for _ in 0..2 {
            assert!(apply(&applier, &owner).await?, "the watch does not show it");
        }
        let selecting = fake.manager();
        let some = StoreOptions::<Secret>::new().labels("app in (none)");
        selecting.store_with(some);
        assert!(apply(&selecting.applier(), &owner).await?);
        assert!(!apply(&selecting.applier(), &owner).await?, "it is shown");
        fake.watch(controller().owns::<Secret>());
        assert!(apply(&applier, &owner).await?);
        assert!(!apply(&applier, &owner).await?);

        let api: Api<Secret> = Api::default_namespaced(fake.client());
        let data = Patch::Merge(json!({ "stringData": { "key": "value" } }));
        api.patch("child", &PatchParams::default(), &data).await?;
        assert!(apply(&applier, &owner).await?, "the object has changed");
        assert!(!apply(&applier, &owner).await?);
        api.delete("child", &DeleteParams::default()).await?;
        assert!(apply(&applier, &owner).await?, "the object was deleted");
        assert!(!apply(&applier, &owner).await?);

        // Of later managers, too.
        let later = fake.manager().applier();
        assert!(apply(&later, &owner).await?);
        assert!(!apply(&later, &owner).await?);
        Ok(())
    }

    #[tokio::test]
    async fn the_clock_is_that_of_the_test() {
        let fake = Fake::default();
        let clock = Manager::clock(&fake.manager());
        fake.clock().set("2030-01-01T00:00:00Z".parse().unwrap());
        fake.clock().advance(Duration::from_secs(90));
        assert_eq!(clock.now().to_string(), "2030-01-01T00:01:30Z");
        let created = fake
            .insert(named::<Secret>("a"))
            .metadata
            .creation_timestamp;
        assert_eq!(created.unwrap().0, clock.now());
    }
}
