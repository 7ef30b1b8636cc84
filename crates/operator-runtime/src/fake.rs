//! An in-memory fake API server, so that a reconcile test takes milliseconds.
//!
//! ```
//! # use k8s_openapi::api::core::v1::ConfigMap;
//! # use kube::{Api, api::{ObjectMeta, Patch, PatchParams}};
//! # use operator_runtime::fake::Fake;
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let fake = Fake::default();
//! let name = Some("a".to_owned());
//! fake.insert(ConfigMap { metadata: ObjectMeta { name, ..Default::default() }, ..Default::default() });
//!
//! // The code under test gets the client.
//! let api: Api<ConfigMap> = Api::default_namespaced(fake.client());
//! let patch = Patch::Merge(serde_json::json!({ "data": { "key": "value" } }));
//! api.patch("a", &PatchParams::default(), &patch).await?;
//!
//! let object: ConfigMap = fake.get("a").expect("it was inserted");
//! assert_eq!(object.data.unwrap()["key"], "value");
//! assert_eq!(fake.writes()[0].to_string(), "patch configmaps default/a");
//! # Ok(())
//! # }
//! ```
//!
//! The fake implements resource versions, generations, finalizers and the status subresource like the API
//! server. An eviction deletes the Pod. Stores and indexes of its [manager](Fake::manager) show each change
//! without delay.
//!
//! The fake has no schemas: nothing is validated, defaulted or pruned, a server-side apply replaces lists
//! and removes nothing, only an object with a spec has a generation, and a field selector may name any
//! field. There are no watches, no admission, no permissions, no disruption budgets, and no garbage
//! collection. Test code that depends on those features with an integration test.

mod context;
mod metadata;
mod objects;
mod patch;
mod refusal;
pub(crate) mod request;
#[cfg(feature = "conversion")]
mod round_trip;
#[cfg(any(feature = "conversion", feature = "envtest"))]
pub(crate) mod schema;
mod selector;
mod stores;

use std::{
    collections::{BTreeSet, VecDeque},
    fmt,
    sync::Arc,
};

use axum::body::{Body, to_bytes};
use http::{Response, Uri, header};
use kube::{Client, Config, client};
use parking_lot::{Mutex, MutexGuard};
use serde_json::{Value, json};
use tower::{BoxError, service_fn};

pub use self::context::MakeContext;
#[cfg(feature = "conversion")]
pub use self::round_trip::{convert, round_trip};
use self::{
    objects::{Answer, Id, Objects},
    patch::Format,
    refusal::Refusal,
    selector::Selection,
    stores::Watched,
};
use crate::{
    clock::Clock,
    controller::Controllers,
    manager::{Manager, ManagerOptions, WatchScope},
    object::{ObjectScope, ScopedResource, TypedObject, Verb},
};
pub use request::RecordedRequest;

/// The default namespace of the clients, and of objects without a namespace.
pub const NAMESPACE: &str = "default";

/// A fake API server. Clones share its state.
#[derive(Clone, Default)]
pub struct Fake(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    objects: Objects,
    requests: Vec<RecordedRequest>,
    failures: VecDeque<u16>,
    watched: Watched,
    /// The types that it does not serve, by group and plural.
    missing: BTreeSet<(String, String)>,
}

impl Fake {
    /// A client of this server. It belongs to the tokio runtime in which it is created.
    pub fn client(&self) -> Client {
        let fake = self.clone();
        let service = service_fn(move |request| fake.clone().answer(request));
        Client::new(service, NAMESPACE)
    }

    /// A manager of this server, to build a context from. Its stores hold this server's objects, without
    /// delay and without requests. It cannot run.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub fn manager(&self) -> Manager {
        let server = Uri::from_static("http://fake.invalid");
        let options = ManagerOptions {
            name: "fake.example.com",
            scope: WatchScope::Cluster,
        };
        let through = |_| self.client();
        let manager = Manager::with_config(&options, Config::new(server), &[], None, through);
        let mut manager = manager.expect("a manager of nothing");
        let state = Arc::downgrade(&self.0);
        let cache = manager.cache();
        cache.fill_by(Box::new(move |source| {
            if let Some(state) = state.upgrade() {
                stores::fill(source, &state.lock().objects);
            }
        }));
        let watched = self.state().watched.add(cache);
        watched.prepare();
        let fake = self.clone();
        manager.prune_everything(Arc::new(move |uid| fake.state().objects.controlled_by(uid)));
        let fake = self.clone();
        let served = move |kind: &ScopedResource| {
            let of = (kind.resource.group.clone(), kind.resource.plural.clone());
            !fake.state().missing.contains(&of)
        };
        manager.with_served(served).with_clock(self.clock())
    }

    /// Watches the types that these controllers watch and own, for every manager of this server.
    ///
    /// An [`Applier`](crate::Applier) skips an unchanged object only if its type is watched. Without the
    /// watch, it sends the object each time, here and in the operator.
    ///
    /// # Panics
    /// If the operator would not start, for example because of a predicate over another type than its
    /// watch.
    pub fn watch<C>(&self, controllers: impl Into<Controllers<C>>) {
        let kinds = controllers.into().watches();
        let kinds = kinds.unwrap_or_else(|error| panic!("{error}"));
        let watched = self.state().watched.extend(kinds);
        watched.prepare();
    }

    /// Does not serve the type `K` from now on: requests are answered 404, and
    /// [`Manager::serves`](crate::Manager::serves) says so in managers that are made afterwards. By default, every type
    /// is served.
    pub fn without<K: TypedObject>(&self) {
        let of = (K::group(&()).into_owned(), K::plural(&()).into_owned());
        self.state().missing.insert(of);
    }

    /// The clock of the managers and of this server, which a test may set.
    pub fn clock(&self) -> Clock {
        self.state().objects.clock.clone()
    }

    /// The context of an operator, built from a [manager](Self::manager) as in `main`, with the defaults of
    /// the operator's own flags.
    ///
    /// # Panics
    /// If the context function fails, and outside a tokio runtime.
    pub async fn context<C, M>(&self, make: impl MakeContext<C, M>) -> C {
        let made = make.make(&self.manager()).await;
        made.unwrap_or_else(|error| panic!("cannot build the context: {error}"))
    }

    /// Inserts an object unchanged, including its status, or replaces the one of the same name. Returns it
    /// with the API server's metadata. This is not a request.
    ///
    /// # Panics
    /// If `object` has no name, or does not deserialize from its own JSON.
    pub fn insert<K: TypedObject>(&self, object: K) -> K {
        let name = object.meta().name.as_deref();
        let id = id::<K>(object.meta().namespace.as_deref(), name.expect("a name"));
        let mut state = self.state();
        let object = state.objects.seed(id, json!(object));
        state.publish();
        drop(state);
        serde_json::from_value(object).expect("what was serialized")
    }

    /// The current object, in [`NAMESPACE`] if the type is namespaced. This is not a request.
    ///
    /// # Panics
    /// If the object does not decode as `K`.
    pub fn get<K: TypedObject>(&self, name: &str) -> Option<K> {
        let object = self.state().objects.find(&id::<K>(None, name))?.clone();
        Some(serde_json::from_value(object).expect("an object of this type"))
    }

    /// Every request so far.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.state().requests.clone()
    }

    /// The write [requests](Self::requests), including the failed ones.
    pub fn writes(&self) -> Vec<RecordedRequest> {
        let mut requests = self.requests();
        requests.retain(|request| !Verb::READ.contains(&request.verb));
        requests
    }

    /// Answers the next request with this HTTP status and changes nothing. A further call applies to the
    /// request after that.
    pub fn fail_next(&self, status: u16) {
        self.state().failures.push_back(status);
    }

    async fn answer(
        self,
        request: http::Request<client::Body>,
    ) -> Result<Response<client::Body>, BoxError> {
        let (head, body) = request.into_parts();
        let body = to_bytes(Body::new(body), usize::MAX).await?;
        let body = match body.is_empty() {
            true => Value::Null,
            false => serde_json::from_slice(&body)?,
        };
        let answer = match RecordedRequest::read(&head.method, &head.uri) {
            Some(request) => {
                let mut state = self.state();
                let answer = state.handle(request, &head, body);
                state.publish();
                answer
            }
            None => Err(Refusal::new(404, "the fake serves resources only")),
        };
        let (code, body) = answer.unwrap_or_else(|refusal| (refusal.0.code, refusal.into_json()));
        let response = Response::builder().status(code);
        let response = response.header(header::CONTENT_TYPE, "application/json");
        Ok(response.body(client::Body::from(body.to_string().into_bytes()))?)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock()
    }
}

impl State {
    /// Publishes changes to the stores.
    fn publish(&mut self) {
        for id in self.objects.changes() {
            self.watched.show(&id, self.objects.find(&id));
        }
    }

    fn handle(
        &mut self,
        request: RecordedRequest,
        head: &http::request::Parts,
        body: Value,
    ) -> Answer {
        self.requests.push(request.clone());
        if let Some(code) = self.failures.pop_front() {
            return Err(Refusal::new(code, "the test requested this failure"));
        }
        let is_missing = self
            .missing
            .contains(&(request.group.clone(), request.resource.clone()));
        if is_missing || !is_served(&request) {
            let message = "the server could not find the requested resource";
            return Err(Refusal::new(404, message));
        }
        let selection = Selection::read(&head.uri)?;
        let objects = &mut self.objects;
        match request.verb {
            Verb::Get => objects.get(&request),
            Verb::List => objects.list(&request, &selection),
            Verb::Create if request.subresource.is_some() => objects.evict(&request, &body),
            Verb::Create => objects.create(&request, body),
            Verb::Update => objects.replace(&request, body),
            Verb::Patch => {
                let content_type = head.headers.get(header::CONTENT_TYPE);
                let content_type = content_type.and_then(|value| value.to_str().ok());
                objects.patch(
                    &request,
                    Format::of(content_type.unwrap_or_default())?,
                    body,
                )
            }
            Verb::Delete => objects.delete(&request, &body),
            Verb::DeleteCollection => objects.delete_collection(&request, &selection, &body),
            Verb::Watch => Err(Refusal::new(405, "the fake has no watches")),
            // No request has these verbs.
            Verb::Bind | Verb::Escalate | Verb::Impersonate | Verb::Use => {
                Err(Refusal::new(405, "this verb exists only in RBAC"))
            }
        }
    }
}

impl fmt::Debug for Fake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.requests()).finish()
    }
}

/// Whether the fake has the subresource of a request, if it names one.
fn is_served(request: &RecordedRequest) -> bool {
    match request.subresource.as_deref() {
        None => true,
        Some("status") => request.verb != Verb::Create,
        Some("eviction") => request.verb == Verb::Create && request.resource == "pods",
        Some(_) => false,
    }
}

fn id<K: TypedObject>(namespace: Option<&str>, name: &str) -> Id {
    let namespaced = <K::Scope as ObjectScope>::NAMESPACED;
    let namespace = namespaced.then(|| namespace.unwrap_or(NAMESPACE).to_owned());
    let (group, plural) = (K::group(&()).into_owned(), K::plural(&()).into_owned());
    (group, plural, namespace, name.to_owned())
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::{
        core::v1::{ConfigMap, Node, Pod},
        events::v1::Event,
    };
    use kube::{
        Api,
        api::{EvictParams, Patch, PatchParams, WatchParams},
    };

    use super::*;

    fn config_map(metadata: Value) -> ConfigMap {
        serde_json::from_value(json!({ "metadata": metadata })).unwrap()
    }

    #[tokio::test]
    async fn inserted_objects_need_no_request() {
        let fake = Fake::default();
        let inserted = fake.insert(config_map(json!({ "name": "a", "uid": "given" })));
        assert_eq!(inserted.metadata.namespace.as_deref(), Some(NAMESPACE));
        assert_eq!(inserted.metadata.uid.as_deref(), Some("given"));
        assert!(inserted.metadata.creation_timestamp.is_some());
        assert_eq!(fake.get("a"), Some(inserted));
        assert_eq!(fake.get::<Event>("a"), None);
        assert!(fake.requests().is_empty());

        let node = json!({ "metadata": { "name": "n" }, "spec": {}, "status": { "phase": "x" } });
        let node: Node = fake.insert(serde_json::from_value(node).unwrap());
        assert_eq!(node.metadata.generation, Some(1));
        let api: Api<Node> = Api::all(fake.client());
        assert_eq!(api.get("n").await.unwrap(), node);
    }

    #[tokio::test]
    async fn calls_fail_on_request() {
        let fake = Fake::default();
        fake.insert(config_map(json!({ "name": "a" })));
        let api: Api<ConfigMap> = Api::default_namespaced(fake.client());
        fake.fail_next(409);
        fake.fail_next(403);
        let label = Patch::Merge(json!({ "metadata": { "labels": { "x": "y" } } }));
        let error = api.patch("a", &PatchParams::default(), &label).await;
        assert!(matches!(error, Err(kube::Error::Api(status)) if status.is_conflict()));
        let error = api.get("a").await;
        assert!(matches!(error, Err(kube::Error::Api(status)) if status.is_forbidden()));
        assert_eq!(api.get("a").await.unwrap().metadata.labels, None);
        let requests: Vec<_> = fake.requests().iter().map(ToString::to_string).collect();
        let get = "get configmaps default/a";
        assert_eq!(requests, ["patch configmaps default/a", get, get]);
        assert_eq!(fake.writes().len(), 1);
    }

    #[tokio::test]
    async fn an_eviction_deletes_a_pod() {
        let fake = Fake::default();
        for finalizers in [json!([]), json!(["a/b"])] {
            let metadata = json!({ "name": "web", "finalizers": finalizers });
            let pod = json!({ "metadata": metadata });
            fake.insert::<Pod>(serde_json::from_value(pod).unwrap());
            let api: Api<Pod> = Api::default_namespaced(fake.client());
            let evicted = api.evict("web", &EvictParams::default()).await;
            assert!(evicted.unwrap().is_success());
            let left = fake.get::<Pod>("web");
            let has_ended = |pod: Pod| pod.metadata.deletion_timestamp.is_some();
            assert_eq!(
                left.map(has_ended),
                (finalizers != json!([])).then_some(true)
            );
        }
        let writes: Vec<_> = fake.writes().iter().map(ToString::to_string).collect();
        assert_eq!(writes, ["create pods/eviction default/web"; 2]);
    }

    #[tokio::test]
    async fn there_are_no_watches() {
        let api: Api<Node> = Api::all(Fake::default().client());
        let watch = api.watch(&WatchParams::default(), "0").await;
        assert!(matches!(watch.err(), Some(kube::Error::Api(status)) if status.code == 405));
    }
}
