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
    owner::Owner,
    session::Kinds,
};

fn key() -> Key {
    (Some("default".to_owned()), "sample".to_owned())
}

fn permit(proxy: &Proxy, marks: bool) -> (Permission, Arc<Kinds>) {
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
        status.code == 403 && status.message.contains("leader"),
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
