//! The traces of an operator, as a collector receives them.

use std::{
    env,
    io::{BufRead, BufReader},
    net::TcpListener,
    process::{Child, ChildStderr, Command, Stdio},
    sync::{Arc, Mutex},
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};
use axum::{Router, body::Bytes, extract::State, http::HeaderMap, routing::post};
use clap::Parser;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Client, ResourceExt,
    api::{Patch, PatchParams},
};
use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest,
    common::v1::{KeyValue, any_value::Value},
    trace::v1::{Span, span::SpanKind, status::StatusCode},
};
use operator_runtime::{
    Action, Controller, Flags, Manager, ManagerOptions, Verb, WatchScope,
    envtest::{Cluster, NAMESPACE, eventually},
};
use prost::Message;
use serde_json::Value as Json;
use tokio::task::spawn_blocking;

use crate::widget::{Widget, WidgetSpec};

const OPTIONS: ManagerOptions = ManagerOptions {
    name: "traces.example.com",
    scope: WatchScope::Cluster,
};

/// Two calls, of which the second fails.
async fn reconcile(widget: Arc<Widget>, client: Arc<Client>) -> kube::Result<Action> {
    let client = Client::clone(&client);
    let maps: Api<ConfigMap> = Api::namespaced(client, &widget.namespace().unwrap_or_default());
    let map = ConfigMap {
        metadata: kube::core::ObjectMeta {
            name: Some(widget.name_any()),
            ..Default::default()
        },
        ..ConfigMap::default()
    };
    let params = PatchParams::apply("traces");
    maps.patch(&widget.name_any(), &params, &Patch::Apply(&map))
        .await?;
    tracing::info!("applied");
    maps.get("there-is-none").await?;
    Ok(Action::await_change())
}

/// The operator. The test runs this binary again, with its flags in the environment.
#[test]
fn operator() {
    let Ok(flags) = env::var("TEST_TRACED_OPERATOR") else {
        return;
    };
    let flags = Flags::parse_from(["operator"].into_iter().chain(flags.split(' ')));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(async {
        let manager = Manager::new(&OPTIONS, flags).await.unwrap();
        let client = manager.client();
        let controller = Controller::new("widgets", reconcile).needs::<ConfigMap>(&[Verb::Get]);
        manager.controllers(controller, client).run().await.unwrap();
    });
}

/// What the collector has received.
#[derive(Default)]
struct Received {
    services: Vec<String>,
    spans: Vec<Span>,
}

type Shared = Arc<Mutex<Received>>;

fn text(attributes: &[KeyValue], key: &str) -> Option<String> {
    let found = attributes.iter().find(|attribute| attribute.key == key)?;
    match found.value.as_ref()?.value.as_ref()? {
        Value::StringValue(text) => Some(text.clone()),
        Value::IntValue(number) => Some(number.to_string()),
        _ => None,
    }
}

/// OTLP over HTTP: <https://opentelemetry.io/docs/specs/otlp/#otlphttp>.
async fn receive(State(received): State<Shared>, headers: HeaderMap, body: Bytes) {
    assert_eq!(headers["content-type"], "application/x-protobuf");
    assert_eq!(headers["x-tenant"], "blue");
    let request = ExportTraceServiceRequest::decode(body).expect("protobuf");
    let mut received = received.lock().unwrap();
    for resource in request.resource_spans {
        let attributes = resource.resource.unwrap_or_default().attributes;
        received.services.extend(text(&attributes, "service.name"));
        let scopes = resource.scope_spans.into_iter();
        received.spans.extend(scopes.flat_map(|scope| scope.spans));
    }
}

fn collector() -> Result<(String, Shared)> {
    let received = Shared::default();
    let router = Router::new().route("/v1/traces", post(receive));
    let listener = TcpListener::bind("127.0.0.1:0")?;
    listener.set_nonblocking(true)?;
    let endpoint = format!("http://{}", listener.local_addr()?);
    let router = router.with_state(received.clone());
    let server = axum_server::from_tcp(listener)?;
    tokio::spawn(server.serve(router.into_make_service()));
    Ok((endpoint, received))
}

/// Ends the operator when dropped.
struct Operator(Child);

impl Drop for Operator {
    fn drop(&mut self) {
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

/// The first log line with the message.
fn line(stderr: ChildStderr, message: &str) -> Result<Json> {
    let lines = BufReader::new(stderr).lines().map_while(Result::ok);
    let mut lines = lines.filter_map(|line| serde_json::from_str::<Json>(&line).ok());
    let found = lines.find(|line| line["message"] == message);
    found.with_context(|| format!("the operator ended without the line `{message}`"))
}

#[tokio::test]
async fn a_collector_receives_a_reconcile_and_its_calls() -> Result<()> {
    let cluster = Cluster::start()?;
    cluster.install(crate::widget::crds()).await?;
    let api: Api<Widget> = Api::namespaced(cluster.client()?, NAMESPACE);
    let widget = Widget::new("traced", WidgetSpec::default());
    api.create(&Default::default(), &widget).await?;
    let (endpoint, received) = collector()?;

    let kubeconfig = cluster.control_plane().kubeconfig();
    let flags = format!(
        "--health-probe-bind-address=0 --metrics-bind-address=0 --log-format=json --leader-elect \
         --leader-elect-resource-namespace={NAMESPACE} --kubeconfig={}",
        kubeconfig.display()
    );
    let mut child = Command::new(env::current_exe()?)
        .args(["--exact", "traces::operator", "--nocapture"])
        .env("TEST_TRACED_OPERATOR", flags)
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
        .env("OTEL_EXPORTER_OTLP_HEADERS", "x-tenant=blue")
        .env("OTEL_BSP_SCHEDULE_DELAY", "200")
        .env_remove("RUST_LOG")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    let stderr = child.stderr.take().context("no stderr")?;
    let _operator = Operator(child);
    let line = spawn_blocking(|| line(stderr, "applied")).await??;
    let of_line = line["span"]["trace_id"].as_str().context("no trace_id")?;

    let id =
        |span: &Span| -> String { span.trace_id.iter().map(|it| format!("{it:02x}")).collect() };
    let spans = || -> Vec<Span> {
        let all = received.lock().unwrap().spans.clone();
        all.into_iter().filter(|span| id(span) == of_line).collect()
    };
    eventually(Duration::from_secs(20), async || {
        ensure!(
            spans().iter().any(|span| span.name == "reconcile"),
            "no reconcile"
        );
        Ok(())
    })
    .await?;
    let spans = spans();
    let reconcile = spans
        .iter()
        .find(|span| span.name == "reconcile")
        .context("no reconcile")?;
    ensure!(reconcile.parent_span_id.is_empty(), "it has a parent");
    for (key, value) in [
        ("controller", "widgets"),
        ("namespace", NAMESPACE),
        ("object", "traced"),
    ] {
        ensure!(
            text(&reconcile.attributes, key).as_deref() == Some(value),
            "{reconcile:#?}"
        );
    }
    let is_error = |span: &Span| {
        let status = span.status.as_ref().map(|status| status.code());
        status == Some(StatusCode::Error)
    };
    ensure!(
        is_error(reconcile),
        "the failed reconcile is no error: {reconcile:#?}"
    );
    let mut events = reconcile.events.iter();
    ensure!(
        events.any(|event| event.name == "applied"),
        "no event: {reconcile:#?}"
    );

    let call = |verb: &str, status: &str| {
        let mut calls = spans.iter().filter(|span| span.kind() == SpanKind::Client);
        let found = calls.find(|span| {
            let method = text(&span.attributes, "http.request.method");
            let path = text(&span.attributes, "url.path").unwrap_or_default();
            method.as_deref() == Some(verb)
                && path.contains("/configmaps/")
                && text(&span.attributes, "http.response.status_code").as_deref() == Some(status)
        });
        found.with_context(|| format!("no {verb} with {status}: {spans:#?}"))
    };
    let (patched, missing) = (call("PATCH", "201")?, call("GET", "404")?);
    for call in [patched, missing] {
        ensure!(call.parent_span_id == reconcile.span_id, "{call:#?}");
    }
    ensure!(!is_error(patched) && is_error(missing), "{spans:#?}");

    // The Lease is renewed outside of reconciles, and its calls are no traces.
    let received = received.lock().unwrap();
    let mut paths = received
        .spans
        .iter()
        .filter_map(|span| text(&span.attributes, "url.path"));
    ensure!(
        !paths.any(|path| path.contains("/leases")),
        "the Lease is traced"
    );
    ensure!(received.services.iter().all(|name| name == OPTIONS.name));
    Ok(())
}
