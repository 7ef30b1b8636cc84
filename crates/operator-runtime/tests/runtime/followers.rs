//! Work without leadership: it writes in followers, too, and reads no unfilled store.

use std::{fs, net::SocketAddr, path::Path, sync::Arc, time::Duration};

use anyhow::{Context as _, Result, ensure};
use axum::{Router, routing::get};
use clap::Parser;
use k8s_openapi::{
    api::{
        authorization::v1::SelfSubjectAccessReview,
        coordination::v1::Lease,
        core::v1::{ConfigMap, Event},
    },
    apimachinery::pkg::apis::meta::v1::MicroTime,
    jiff::Timestamp,
};
use kube::{
    Api, Client, Config, Resource, ResourceExt,
    api::PostParams,
    runtime::events::{self, EventType, Recorder},
};
use operator_runtime::{
    Action, Applier, Controller, Controllers, Flags, Manager, ManagerOptions, NotLeading, Store,
    WatchScope,
    envtest::{Cluster, eventually, free_port},
    webhook::{Change, Denied, Request, Webhook, Webhooks},
};
use serde_json::{Value, from_value, json};
use tokio::time::{sleep, timeout};

use crate::widget::{Widget, WidgetSpec};

const OPTIONS: ManagerOptions = ManagerOptions {
    name: "followers.example.com",
    scope: WatchScope::Cluster,
};

#[derive(Parser)]
struct Args {
    #[command(flatten)]
    manager: Flags,
}

/// Everything that writes, as in a project's operator.
#[derive(Clone)]
struct Context {
    client: Client,
    applier: Applier,
    recorder: Recorder,
}

impl Context {
    fn of(manager: &Manager) -> Self {
        Self {
            client: manager.client(),
            applier: manager.applier(),
            recorder: manager.recorder(),
        }
    }

    /// Applies a ConfigMap, creates a review, and publishes an event.
    async fn write(&self, name: &str) -> kube::Result<()> {
        let object = json!({ "metadata": { "name": name, "namespace": "default" } });
        let object: ConfigMap = from_value(object).map_err(kube::Error::SerdeError)?;
        self.applier.apply(&object).await?;
        let spec = json!({ "resourceAttributes": { "verb": "get", "resource": "pods" } });
        let review: SelfSubjectAccessReview =
            from_value(json!({ "spec": spec })).map_err(kube::Error::SerdeError)?;
        let api = Api::all(self.client.clone());
        api.create(&PostParams::default(), &review).await?;
        let event = events::Event {
            type_: EventType::Normal,
            reason: "Written".to_owned(),
            note: None,
            action: name.to_owned(),
            secondary: None,
        };
        self.recorder.publish(&event, &object.object_ref(&())).await
    }
}

async fn validate(_: &Change<Widget>, _: &Request, context: &Context) -> Result<(), Denied> {
    let written = context.write("webhook").await;
    written.map_err(|error| Denied::forbidden(error.to_string()))
}

async fn reconcile(widget: Arc<Widget>, context: Arc<Context>) -> kube::Result<Action> {
    context.write(&widget.name_any()).await?;
    Ok(Action::await_change())
}

/// Another replica leads, for as long as this test takes.
async fn lead(client: &Client) -> Result<()> {
    let lease = json!({
        "metadata": { "name": OPTIONS.name, "namespace": "default" },
        "spec": {
            "holderIdentity": "another",
            "leaseDurationSeconds": 3600,
            "renewTime": MicroTime(Timestamp::now()),
        },
    });
    let api: Api<Lease> = Api::namespaced(client.clone(), "default");
    api.create(&PostParams::default(), &from_value(lease)?)
        .await?;
    Ok(())
}

/// The webhook server of an operator for widgets, and its client.
pub struct Endpoint {
    /// The operator's flags for the server.
    pub flags: [String; 2],
    client: Client,
}

impl Endpoint {
    /// On a port of its own, with a certificate in a new directory.
    pub fn new(directory: &Path) -> Result<Self> {
        fs::create_dir(directory)?;
        let certificate = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
        let key = certificate.signing_key.serialize_pem();
        fs::write(directory.join("tls.crt"), certificate.cert.pem())?;
        fs::write(directory.join("tls.key"), key)?;
        let port = free_port()?;
        let mut config = Config::new(format!("https://localhost:{port}").parse()?);
        config.root_cert = Some(vec![certificate.cert.der().to_vec()]);
        config.default_retry = false;
        config.proxy_url = None;
        let flags = [
            format!("--webhook-cert-path={}", directory.display()),
            format!("--webhook-port={port}"),
        ];
        let client = Client::try_from(config)?;
        Ok(Self { flags, client })
    }

    /// Sends a review as the API server would; returns the response.
    pub async fn review(&self) -> Result<Value> {
        let review = json!({
            "apiVersion": "admission.k8s.io/v1",
            "kind": "AdmissionReview",
            "request": {
                "uid": "u",
                "kind": { "group": "test.example.com", "version": "v1", "kind": "Widget" },
                "resource": { "group": "test.example.com", "version": "v1", "resource": "widgets" },
                "operation": "CREATE",
                "object": Widget::new("asked", WidgetSpec::default()),
            },
        });
        let request = http::Request::post("/validate-test-example-com-v1-widget")
            .header("content-type", "application/json")
            .body(review.to_string().into_bytes())?;
        Ok(self.client.request(request).await?)
    }
}

/// An operator in this process, on ports of its own.
struct Replica {
    webhook: Endpoint,
    own: u16,
    flags: Flags,
}

impl Replica {
    /// With these flags beside its ports and its certificate.
    fn new(cluster: &Cluster, flags: &[&str]) -> Result<Self> {
        let kubeconfig = cluster.control_plane().kubeconfig();
        let webhook = Endpoint::new(&kubeconfig.with_file_name("webhook"))?;
        let (own, health) = (free_port()?, free_port()?);
        let given = [
            "operator".to_owned(),
            format!("--kubeconfig={}", kubeconfig.display()),
            format!("--health-probe-bind-address=127.0.0.1:{health}"),
        ];
        let given = given.iter().chain(&webhook.flags).map(String::as_str);
        let flags = Args::parse_from(given.chain(flags.iter().copied())).manager;
        Ok(Self {
            webhook,
            own,
            flags,
        })
    }
}

#[tokio::test]
async fn a_follower_writes_without_leadership() -> Result<()> {
    let cluster = Cluster::start()?;
    cluster.install(crate::widget::crds()).await?;
    let client = cluster.client()?;
    lead(&client).await?;
    let widgets: Api<Widget> = Api::namespaced(client.clone(), "default");
    let widget = Widget::new("controller", WidgetSpec::default());
    widgets.create(&PostParams::default(), &widget).await?;

    let election = [
        "--leader-elect",
        "--leader-elect-resource-namespace=default",
    ];
    let replica = Replica::new(&cluster, &election)?;
    let manager = Manager::new(&OPTIONS, replica.flags.clone()).await?;
    let context = Context::of(&manager);
    let mut everywhere = Controllers::default();
    everywhere.add(Controller::new("everywhere", reconcile).without_leadership());
    let mut hooks = Webhooks::default();
    hooks.add(Webhook::validating(validate));
    let (task, server) = (context.clone(), context.clone());
    let answer = async move || {
        server
            .write("server")
            .await
            .map_err(|error| error.to_string())
    };
    let address = SocketAddr::from(([127, 0, 0, 1], replica.own));
    let manager = manager
        .controllers(everywhere, context.clone())
        .webhooks(hooks, context.clone())
        .serve("own", address, Router::new().route("/", get(answer)))
        .task_without_leadership("task", |stop| async move {
            task.write("task").await?;
            stop.cancelled().await;
            Ok(())
        });
    let running = tokio::spawn(manager.run());

    let asked = async {
        let api: Api<ConfigMap> = Api::namespaced(client.clone(), "default");
        // They start by themselves.
        for name in ["controller", "task"] {
            while api.get_opt(name).await?.is_none() {
                sleep(Duration::from_millis(20)).await;
            }
        }
        let answer = replica.webhook.review().await?;
        ensure!(answer["response"]["allowed"] == true, "{answer}");
        let own = Config::new(format!("http://127.0.0.1:{}", replica.own).parse()?);
        let request = http::Request::get("/").body(Vec::new())?;
        Client::try_from(own)?.request_text(request).await?;
        for name in ["webhook", "server"] {
            api.get(name).await?;
        }
        let events: Api<Event> = Api::namespaced(client.clone(), "default");
        for name in ["controller", "server", "task", "webhook"] {
            let about = |event: &Event| event.involved_object.name.as_deref() == Some(name);
            while !events.list(&Default::default()).await?.iter().any(about) {
                sleep(Duration::from_millis(20)).await;
            }
        }
        anyhow::Ok(())
    };
    timeout(Duration::from_secs(30), asked)
        .await
        .context("a follower does not write")??;

    // Other users of the same client wait for the lease.
    let error = context.write("outside").await.unwrap_err();
    ensure!(
        matches!(&error, kube::Error::Service(error) if error.is::<NotLeading>()),
        "{error}"
    );
    running.abort();
    Ok(())
}

/// Denies everything until the store has the widget `there`.
async fn is_known(_: &Change<Widget>, _: &Request, widgets: &Store<Widget>) -> Result<(), Denied> {
    match widgets.get(Some("default"), "there") {
        Some(_) => Ok(()),
        None => Err(Denied::forbidden("there is no widget")),
    }
}

#[tokio::test]
async fn a_webhook_answers_only_after_its_stores_are_filled() -> Result<()> {
    let cluster = Cluster::start()?;
    let replica = Replica::new(&cluster, &[])?;
    let manager = Manager::new(&OPTIONS, replica.flags.clone()).await?;
    let widgets = manager.store::<Widget>();
    let mut hooks = Webhooks::default();
    hooks.add(Webhook::validating(is_known));
    let running = tokio::spawn(manager.webhooks(hooks, widgets.clone()).run());

    // The type is not installed yet.
    let early = async {
        loop {
            match replica.webhook.review().await {
                Ok(answer) => anyhow::bail!("the webhook answers too early: {answer}"),
                Err(error) if format!("{error:?}").contains("not ready yet") => return Ok(error),
                // The server does not listen yet.
                Err(_) => sleep(Duration::from_millis(20)).await,
            }
        }
    };
    let early = format!("{:?}", timeout(Duration::from_secs(30), early).await??);
    let expected = "not ready yet: listing widgets in test.example.com/v1";
    ensure!(early.contains(expected), "{early}");

    cluster.install(crate::widget::crds()).await?;
    let api: Api<Widget> = Api::namespaced(cluster.client()?, "default");
    let there = Widget::new("there", WidgetSpec::default());
    api.create(&PostParams::default(), &there).await?;
    timeout(Duration::from_secs(30), widgets.synced()).await?;
    // The list that filled the store may be older than the widget.
    eventually(Duration::from_secs(30), async || {
        let answer = replica.webhook.review().await?;
        ensure!(answer["response"]["allowed"] == true, "{answer}");
        Ok(())
    })
    .await?;
    running.abort();
    Ok(())
}
