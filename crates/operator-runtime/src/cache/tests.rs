use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use serde_json::json;

use super::*;

fn source(cache: &Cache, form: Form) -> Arc<Source> {
    cache.source(
        &ScopedResource::of::<ConfigMap>(),
        &Selector::default(),
        form,
        false,
    )
}

fn entry(uid: &str, version: &str) -> Entry {
    let object = json!({ "metadata": { "uid": uid, "resourceVersion": version } });
    let object: ConfigMap = serde_json::from_value(object).unwrap();
    Entry::Valid(Arc::new(object))
}

#[test]
fn equal_requests_share_a_source() {
    let cache = Cache::default();
    let metadata = source(&cache, Form::Metadata);
    // Whole objects also serve a reader of metadata.
    let objects = source(&cache, Form::of::<ConfigMap>());
    assert!(Arc::ptr_eq(&metadata, &objects));
    assert!(Arc::ptr_eq(&objects, &source(&cache, Form::Metadata)));
    assert!(Arc::ptr_eq(
        &objects,
        &source(&cache, Form::of::<ConfigMap>())
    ));
    assert!(!Arc::ptr_eq(&objects, &source(&cache, Form::dynamic())));

    let labels = Some("app=web".to_owned());
    let some = Selector {
        labels,
        ..Selector::default()
    };
    let some = cache.source(
        &ScopedResource::of::<ConfigMap>(),
        &some,
        Form::Metadata,
        false,
    );
    let others = cache.source(
        &ScopedResource::of::<Secret>(),
        &Selector::default(),
        Form::Metadata,
        false,
    );
    assert_eq!(cache.sources().len(), 4);
    let web = ObjectMeta {
        labels: Some([("app".to_owned(), "web".to_owned())].into()),
        ..ObjectMeta::default()
    };
    let shown = |kind, object: &ObjectMeta| cache.showing(kind, object);
    let is = |found: Option<Arc<Source>>, source| found.is_some_and(|it| Arc::ptr_eq(&it, source));
    // All objects, also if a selector fits.
    assert!(is(shown(&some.kind, &web), &objects));
    assert!(is(shown(&others.kind, &web), &others));
}

#[test]
fn a_selector_shows_the_objects_that_it_selects() {
    let (cache, kind) = (Cache::default(), ScopedResource::of::<ConfigMap>());
    let selector = Selector {
        labels: Some("app=web".to_owned()),
        ..Selector::default()
    };
    let some = cache.source(&kind, &selector, Form::Metadata, false);
    let labelled = |app: &str| ObjectMeta {
        labels: Some([("app".to_owned(), app.to_owned())].into()),
        ..ObjectMeta::default()
    };
    let shown = cache.showing(&kind, &labelled("web"));
    assert!(shown.is_some_and(|shown| Arc::ptr_eq(&shown, &some)));
    assert!(cache.showing(&kind, &labelled("api")).is_none());
    let transform = Form::transformed(|_: &mut ConfigMap| {});
    let (cache, kind) = (Cache::default(), ScopedResource::of::<ConfigMap>());
    cache.source(&kind, &selector, transform, false);
    assert!(cache.showing(&kind, &labelled("web")).is_none());
}

#[test]
fn handlers_see_what_changed_even_if_one_panics() {
    let source = source(&Cache::default(), Form::of::<ConfigMap>());
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let log = seen.clone();
    source.subscribe(Box::new(|_| panic!("as it must not")));
    source.subscribe(Box::new(move |change| {
        let part = |meta: Option<&ObjectMeta>| {
            meta.and_then(|meta| meta.resource_version.clone())
                .unwrap_or_default()
        };
        let line = format!("{}>{}", part(change.before()), part(change.after()));
        log.lock().push(line);
    }));
    let key = Key::new(Some("ns"), "a");
    for new in [
        Some(entry("u", "1")),
        Some(entry("u", "1")),
        Some(entry("u", "2")),
        // Deleted and recreated, both unseen.
        Some(entry("v", "3")),
        None,
        None,
    ] {
        source.change(&key, new);
    }
    assert_eq!(*seen.lock(), [">1", "1>2", "2>", ">3", "3>"]);
}
