//! Calls through the proxy, to a real API server.

use anyhow::{Result, ensure};
use k8s_openapi::{api::core::v1::ConfigMap, api::core::v1::Namespace};
use kube::{
    Api, Config, ResourceExt as _,
    api::{DeleteParams, ListParams, ObjectMeta, Patch, PatchParams, PostParams},
    config::{KubeConfigOptions, Kubeconfig},
};
use operator_runtime::{NotLeading, envtest::Cluster};
use tower::{BoxError, service_fn};

use super::*;
use crate::{
    dependents::{Dependents, Key},
    marks,
    memory::{Find, Memory},
    owner::Owner,
    session::Kinds,
};

fn key() -> Key {
    (Some("default".to_owned()), "sample".to_owned())
}

fn permit(proxy: &Proxy, marks: bool) -> (Permission, Arc<Kinds>) {
    permit_with(proxy, marks, Arc::default())
}

fn permit_with(proxy: &Proxy, marks: bool, memory: Arc<Memory>) -> (Permission, Arc<Kinds>) {
    let kinds = Arc::<Kinds>::default();
    let session = Session {
        owner: Owner {
            api_version: "apps.example.com/v1".to_owned(),
            group: "apps.example.com".to_owned(),
            kind: "App".to_owned(),
            name: "sample".to_owned(),
            namespace: Some("default".to_owned()),
            uid: "11111111-2222-3333-4444-555555555555".to_owned(),
            controller: "apps-app".to_owned(),
        },
        marks,
        key: key(),
        dependents: Arc::<Dependents>::default(),
        kinds: kinds.clone(),
        memory,
    };
    (proxy.permit(session).unwrap(), kinds)
}

/// The client of a run.
async fn client(permission: &Permission) -> Result<Client> {
    let kubeconfig = Kubeconfig::from_yaml(&permission.kubeconfig)?;
    let mut config =
        Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    config.proxy_url = None;
    Ok(Client::try_from(config)?)
}

fn map(name: &str) -> ConfigMap {
    let metadata = ObjectMeta {
        name: Some(name.to_owned()),
        ..ObjectMeta::default()
    };
    ConfigMap {
        metadata,
        ..ConfigMap::default()
    }
}

fn is_marked(map: &ConfigMap) -> bool {
    let has_label = map.labels().get(marks::CONTROLLER).map(String::as_str) == Some("apps-app");
    assert_eq!(has_label, map.owner_references().len() == 1, "{map:?}");
    has_label
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_run_creates_is_its_owners_however_it_creates_it() -> Result<()> {
    let cluster = Cluster::start()?;
    let admin: Api<ConfigMap> = Api::namespaced(cluster.client()?, "default");
    let proxy = Proxy::start(cluster.client()?)?;
    let (permission, kinds) = permit(&proxy, true);
    let own: Api<ConfigMap> = Api::namespaced(client(&permission).await?, "default");
    let post = PostParams::default();
    ensure!(is_marked(&own.create(&post, &map("created")).await?));

    // By an apply, and by one more, which does not lose the marks.
    let apply = PatchParams::apply("role");
    for value in ["a", "b"] {
        let mut wanted = map("applied");
        wanted.data = Some([("key".to_owned(), value.to_owned())].into());
        let applied = own.patch("applied", &apply, &Patch::Apply(&wanted)).await?;
        ensure!(is_marked(&applied));
        ensure!(applied.data == wanted.data);
    }
    // A replacement that does not mention them, and a patch.
    let replaced = own.replace("created", &post, &map("created")).await?;
    ensure!(is_marked(&replaced));
    let patch = Patch::Merge(json!({ "data": { "key": "c" } }));
    let patched = own
        .patch("created", &PatchParams::default(), &patch)
        .await?;
    ensure!(is_marked(&patched));

    // What is somebody else's stays so.
    admin.create(&post, &map("foreign")).await?;
    let mut wanted = map("foreign");
    wanted.data = Some([("key".to_owned(), "d".to_owned())].into());
    let applied = own.patch("foreign", &apply, &Patch::Apply(&wanted)).await?;
    ensure!(!is_marked(&applied) && applied.data == wanted.data);
    ensure!(!is_marked(
        &own.replace("foreign", &post, &map("foreign")).await?
    ));

    // A cluster-scoped object gets annotations.
    let all: Api<Namespace> = Api::all(client(&permission).await?);
    let mut namespace = Namespace::default();
    namespace.metadata.name = Some("made".to_owned());
    let made = all.create(&post, &namespace).await?;
    ensure!(made.owner_references().is_empty());
    ensure!(
        made.annotations()[marks::PRIMARY] == "default/sample",
        "{made:?}"
    );
    ensure!(kinds.all().len() == 2, "{:?}", kinds.all());

    // A dry run creates nothing to watch, lists pass, and the API server's refusals come as they are.
    ensure!(own.list(&ListParams::default()).await?.items.len() >= 3);
    let refused = own.create(&post, &map("created")).await.unwrap_err();
    ensure!(refused.to_string().contains("already exists"), "{refused}");
    own.delete("created", &DeleteParams::default()).await?;
    ensure!(admin.get_opt("created").await?.is_none());

    // After the end of the run, its token is void.
    drop(permission);
    let refused = own.create(&post, &map("late")).await.unwrap_err();
    ensure!(refused.to_string().contains("has ended"), "{refused}");
    ensure!(admin.get_opt("late").await?.is_none());

    let (permission, _) = permit(&proxy, false);
    let unmarked: Api<ConfigMap> = Api::namespaced(client(&permission).await?, "default");
    ensure!(!is_marked(&unmarked.create(&post, &map("unmarked")).await?));
    Ok(())
}

/// What operator-sdk created: it has the owner reference, and not the label.
fn of_operator_sdk(name: &str) -> ConfigMap {
    let mut map = map(name);
    let owner = json!({
        "apiVersion": "apps.example.com/v1",
        "kind": "App",
        "name": "sample",
        "uid": "11111111-2222-3333-4444-555555555555",
    });
    map.metadata.owner_references = Some(vec![serde_json::from_value(owner).unwrap()]);
    map
}

#[tokio::test(flavor = "multi_thread")]
async fn what_operator_sdk_created_is_watched_once_a_run_reads_or_writes_it() -> Result<()> {
    let cluster = Cluster::start()?;
    let admin: Api<ConfigMap> = Api::namespaced(cluster.client()?, "default");
    let (post, merge) = (PostParams::default(), PatchParams::default());
    for name in ["read", "patched", "ending"] {
        admin.create(&post, &of_operator_sdk(name)).await?;
    }
    let spaces: Api<Namespace> = Api::all(cluster.client()?);
    let mut space: Namespace =
        serde_json::from_value(json!({ "metadata": { "name": "outside" } }))?;
    space.metadata.annotations = Some(
        [
            (marks::PRIMARY.to_owned(), "default/sample".to_owned()),
            (
                marks::PRIMARY_TYPE.to_owned(),
                "App.apps.example.com".to_owned(),
            ),
        ]
        .into(),
    );
    spaces.create(&post, &space).await?;
    let proxy = Proxy::start(cluster.client()?)?;
    let (permission, kinds) = permit(&proxy, true);
    let client = client(&permission).await?;
    let own: Api<ConfigMap> = Api::namespaced(client.clone(), "default");

    // A read, whose answer has the version that the label made: a replacement by it is no conflict.
    let read = own.get("read").await?;
    ensure!(is_marked(&read));
    own.replace("read", &post, &read).await?;
    // A merge that changes nothing.
    let nothing = Patch::Merge(json!({ "data": null }));
    let patched = own.patch("patched", &merge, &nothing).await?;
    ensure!(is_marked(&patched) && is_marked(&admin.get("patched").await?));
    let again = own.patch("patched", &merge, &nothing).await?;
    ensure!(again.resource_version() == patched.resource_version());
    let spaces: Api<Namespace> = Api::all(client.clone());
    let outside = spaces.get("outside").await?;
    ensure!(
        outside.labels()[marks::CONTROLLER] == "apps-app",
        "{outside:?}"
    );
    ensure!(kinds.all().len() == 2, "{:?}", kinds.all());

    // Somebody takes the label away. Nobody argues.
    let without = Patch::Merge(json!({ "metadata": { "labels": null } }));
    let taken = admin.patch("read", &merge, &without).await?;
    ensure!(own.get("read").await?.resource_version() == taken.resource_version());

    // What is somebody else's, what ends, and what is not there, stays as it is.
    admin.create(&post, &map("foreign")).await?;
    ensure!(!is_marked(&own.get("foreign").await?));
    ensure!(own.get_opt("missing").await?.is_none());
    let holding = Patch::Merge(json!({ "metadata": { "finalizers": ["example.com/hold"] } }));
    admin.patch("ending", &merge, &holding).await?;
    admin.delete("ending", &DeleteParams::default()).await?;
    ensure!(own.get("ending").await?.labels().is_empty());

    // Nor does anything happen without owner references.
    admin.create(&post, &of_operator_sdk("unmarked")).await?;
    let (permission, _) = permit(&proxy, false);
    let unmarked: Api<ConfigMap> = Api::namespaced(self::client(&permission).await?, "default");
    ensure!(unmarked.get("unmarked").await?.labels().is_empty());
    Ok(())
}

/// The answer to a plain call: whether it came from memory, and the version of the object.
async fn asked(client: &Client, path: &str, accept: &str) -> Result<(bool, Option<String>)> {
    let request = http::Request::get(path).header(header::ACCEPT, accept);
    let answer = client
        .send(request.body(ClientBody::from(Vec::new()))?)
        .await?;
    let is_hit = answer
        .headers()
        .get("x-cache")
        .is_some_and(|it| it == "HIT");
    let bytes = answer.into_body().collect_bytes().await?;
    let object: Value = serde_json::from_slice(&bytes)?;
    let version = object["metadata"]["resourceVersion"].as_str();
    ensure!(!is_hit || (object["kind"] == "ConfigMap" && object["apiVersion"] == "v1"));
    Ok((is_hit, version.map(str::to_owned)))
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_watched_is_read_from_memory_and_never_older_than_what_the_run_wrote() -> Result<()>
{
    const PATH: &str = "/api/v1/namespaces/default/configmaps/a";
    const JSON: &str = "application/json";
    let cluster = Cluster::start()?;
    let admin: Api<ConfigMap> = Api::namespaced(cluster.client()?, "default");
    let first = admin.create(&PostParams::default(), &map("a")).await?;
    // A watch that shows the objects that the test gives it.
    let shown = Arc::new(Mutex::new(first.clone()));
    let memory = Arc::<Memory>::default();
    let (kind, found) = (Target::of(PATH).unwrap().kind("ConfigMap"), shown.clone());
    let find: Find = Box::new(move |namespace, name| {
        let is_it = (namespace, name) == (Some("default"), "a");
        let object = serde_json::to_value(&*found.lock()).unwrap();
        is_it.then(|| Arc::new(serde_json::from_value(object).unwrap()))
    });
    memory.show(vec![(kind, find)]);
    let proxy = Proxy::start(cluster.client()?)?;
    let (permission, _) = permit_with(&proxy, true, memory.clone());
    let run = client(&permission).await?;
    let own: Api<ConfigMap> = Api::namespaced(run.clone(), "default");

    // As the Python client asks, and as kubectl does; but no table, and no version.
    for (query, accept, expected) in [
        ("", JSON, true),
        ("?fieldSelector=&labelSelector=", JSON, true),
        ("", "*/*", true),
        ("", "application/json;as=Table;v=v1;g=meta.k8s.io", false),
        ("?resourceVersion=0", JSON, false),
        ("?labelSelector=a%3Db", JSON, false),
    ] {
        let (is_hit, _) = asked(&run, &format!("{PATH}{query}"), accept).await?;
        ensure!(is_hit == expected, "{query} {accept}");
    }
    let (is_hit, version) = asked(&run, PATH, JSON).await?;
    ensure!(is_hit && version == first.resource_version());
    // Lists, and what is not watched, pass.
    let list = asked(&run, "/api/v1/namespaces/default/configmaps", JSON).await?;
    ensure!(!list.0);
    let other = "/api/v1/namespaces/default/configmaps/b";
    ensure!(!asked(&run, other, JSON).await?.0);

    // What the run wrote is read from the API server until the watch shows it.
    let patch = Patch::Merge(json!({ "data": { "key": "1" } }));
    let written = own.patch("a", &PatchParams::default(), &patch).await?;
    let through = asked(&run, PATH, JSON).await?;
    ensure!(through == (false, written.resource_version()));
    *shown.lock() = written.clone();
    ensure!(asked(&run, PATH, JSON).await? == (true, written.resource_version()));
    // A write that is tried, or refused, changes nothing.
    let tried = PatchParams {
        dry_run: true,
        ..PatchParams::default()
    };
    own.patch("a", &tried, &patch).await?;
    let wrong = Patch::Merge(json!({ "data": 1 }));
    ensure!(
        own.patch("a", &PatchParams::default(), &wrong)
            .await
            .is_err()
    );
    ensure!(asked(&run, PATH, JSON).await?.0);
    // Somebody else writes: what the watch shows is a moment late, as for any controller.
    let foreign = Patch::Merge(json!({ "data": { "key": "2" } }));
    let newer = admin.patch("a", &PatchParams::default(), &foreign).await?;
    ensure!(asked(&run, PATH, JSON).await? == (true, written.resource_version()));
    *shown.lock() = newer.clone();
    ensure!(asked(&run, PATH, JSON).await? == (true, newer.resource_version()));
    // A deletion, and another object of the name.
    own.delete("a", &DeleteParams::default()).await?;
    ensure!(asked(&run, PATH, JSON).await? == (false, None));
    let new = own.create(&PostParams::default(), &map("a")).await?;
    ensure!(asked(&run, PATH, JSON).await? == (false, new.resource_version()));
    *shown.lock() = new.clone();
    ensure!(asked(&run, PATH, JSON).await? == (true, new.resource_version()));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_of_an_operator_that_does_not_lead_writes_nothing() -> Result<()> {
    let fenced = |_: http::Request<ClientBody>| async {
        Err::<http::Response<ClientBody>, BoxError>(NotLeading.into())
    };
    let proxy = Proxy::start(Client::new(service_fn(fenced), "default"))?;
    let (permission, _) = permit(&proxy, true);
    let own: Api<ConfigMap> = Api::namespaced(client(&permission).await?, "default");
    let refused = own
        .create(&PostParams::default(), &map("a"))
        .await
        .unwrap_err();
    let kube::Error::Api(status) = &refused else {
        panic!("{refused:?}");
    };
    ensure!(
        status.code == 403 && status.message.contains(&NotLeading.to_string()),
        "{status:?}"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_without_the_token_of_a_run_is_refused() -> Result<()> {
    let never = |_: http::Request<ClientBody>| async {
        Err::<http::Response<ClientBody>, BoxError>("it was forwarded".into())
    };
    let proxy = Proxy::start(Client::new(service_fn(never), "default"))?;
    let (mut permission, _) = permit(&proxy, true);
    permission.kubeconfig = permission.kubeconfig.replace(&permission.token, "guess");
    let own: Api<ConfigMap> = Api::namespaced(client(&permission).await?, "default");
    let refused = own.get("a").await.unwrap_err();
    ensure!(refused.to_string().contains("has ended"), "{refused}");
    Ok(())
}
