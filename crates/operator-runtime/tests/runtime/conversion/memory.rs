//! The memory of an overloaded operator.

use std::{
    env, fs,
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use axum::body::{Body, Bytes};
use clap::Parser;
use futures::{StreamExt, TryStreamExt, future::try_join_all, stream};
use http::{Request, StatusCode, header::CONTENT_TYPE};
use k8s_openapi::{
    ByteString,
    api::admissionregistration::v1::ValidatingWebhookConfiguration,
    apiextensions_apiserver::pkg::apis::apiextensions::v1::{
        CustomResourceConversion, WebhookClientConfig, WebhookConversion,
    },
};
use kube::{
    Api, Client, Config, CustomResourceExt,
    api::{ListParams, PostParams},
};
use operator_runtime::{
    CrdError, Flags, Manager,
    envtest::{Cluster, NAMESPACE, eventually, free_port},
    webhook::{Change, Denied, Request as Asked, Webhook},
};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use serde_json::{Value, from_value, json};
use tokio::{runtime::Runtime, time::sleep};

use super::{
    setup::{OPTIONS, webhooks, widget, widgets},
    types::{conversion, crds, v1},
};

const MIB: usize = 1 << 20;

#[derive(Parser)]
struct Args {
    #[command(flatten)]
    manager: Flags,
}

/// The converting operator. The test runs this binary again, with its flags in the environment.
#[test]
fn operator() {
    let Ok(flags) = env::var("TEST_CONVERSION_FLAGS") else {
        return;
    };
    let args = Args::parse_from(["operator"].into_iter().chain(flags.split(' ')));
    let runtime = Runtime::new().unwrap();
    let result: Result<()> = runtime.block_on(async {
        let manager = Manager::new(&OPTIONS, args.manager).await?;
        let mut webhooks = webhooks(conversion());
        webhooks.add(Webhook::<v1::Widget, ()>::validating(validate));
        Ok(manager.webhooks(webhooks, ()).run().await?)
    });
    result.unwrap();
}

async fn validate(_: &Change<v1::Widget>, _: &Asked, _: &()) -> Result<(), Denied> {
    Ok(())
}

/// The operator as a process, and a client that trusts it.
struct Operator {
    child: Child,
    client: Client,
    config: Config,
    /// The endpoint for the API server.
    endpoint: WebhookClientConfig,
}

impl Operator {
    /// Starts it with this memory for requests.
    async fn start(memory: &str) -> Result<Self> {
        let port = free_port()?;
        let directory =
            PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("conversion-{port}"));
        fs::create_dir_all(&directory)?;
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(["127.0.0.1".to_owned()])?;
        fs::write(directory.join("tls.crt"), cert.pem())?;
        fs::write(directory.join("tls.key"), signing_key.serialize_pem())?;
        // It makes no calls.
        let kubeconfig = directory.join("kubeconfig");
        let text = json!({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "a", "cluster": {"server": "http://127.0.0.1:1"}}],
            "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
            "users": [{"name": "a", "user": {}}],
            "current-context": "a",
        });
        fs::write(&kubeconfig, text.to_string())?;
        let flags = format!(
            "--webhook-memory={memory} --health-probe-bind-address=0 --webhook-port={port} --webhook-cert-path={} --kubeconfig={}",
            directory.display(),
            kubeconfig.display()
        );
        let child = Command::new(env::current_exe()?)
            .args(["--exact", "conversion::memory::operator", "--nocapture"])
            .env("TEST_CONVERSION_FLAGS", flags)
            .stdout(Stdio::null())
            .spawn()?;
        let url = format!("https://127.0.0.1:{port}");
        let endpoint = WebhookClientConfig {
            ca_bundle: Some(ByteString(cert.pem().into_bytes())),
            url: Some(format!("{url}/convert")),
            service: None,
        };
        let mut config = Config::new(url.parse()?);
        config.root_cert = Some(vec![cert.der().to_vec()]);
        config.proxy_url = None;
        let operator = Self {
            child,
            client: Client::try_from(config.clone())?,
            config,
            endpoint,
        };
        let ask = async || operator.convert(review(1, 10)).await;
        eventually(Duration::from_secs(30), ask).await?;
        Ok(operator)
    }

    /// The status and the length of the response.
    async fn convert(&self, review: Bytes) -> Result<(StatusCode, usize)> {
        self.ask("/convert", review).await
    }

    async fn ask(&self, path: &str, review: Bytes) -> Result<(StatusCode, usize)> {
        let request = Request::post(path).header(CONTENT_TYPE, "application/json");
        let request = request.body(kube::client::Body::from(review))?;
        let response = self.client.send(request).await?;
        let status = response.status();
        let mut parts = Body::new(response.into_body()).into_data_stream();
        let mut length = 0;
        while let Some(part) = parts.next().await {
            length += part?.len();
        }
        Ok((status, length))
    }

    /// The peak memory in bytes.
    fn peak(&self) -> Result<usize> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let line = line.context("no VmHWM")?.trim().trim_end_matches(" kB");
        Ok(line.parse::<usize>()? * 1024)
    }
}

impl Drop for Operator {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// A review with a number of objects, each with a number of bytes.
fn review(objects: usize, bytes: usize) -> Bytes {
    let widget = json!({
        "apiVersion": "test.example.com/v1alpha1",
        "kind": "Widget",
        "metadata": {"name": "a", "namespace": "default"},
        "spec": {"title": "t".repeat(bytes)},
    });
    of("v1", &vec![widget; objects]).to_string().into()
}

fn of(desired: &str, objects: &[Value]) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "ConversionReview",
        "request": {
            "uid": "u",
            "desiredAPIVersion": format!("test.example.com/{desired}"),
            "objects": objects,
        },
    })
}

const VALIDATE: &str = "/validate-test-example-com-v1-widget";

/// The memory limit of a Pod.
const POD: usize = 128 * MIB;

/// Sends a review as the API server does; returns the length of the response.
async fn converted(operator: &Operator, review: &Bytes) -> Result<usize> {
    loop {
        match operator.convert(review.clone()).await? {
            (StatusCode::OK, length) => return Ok(length),
            (StatusCode::SERVICE_UNAVAILABLE, _) => sleep(Duration::from_secs(1)).await,
            (status, _) => anyhow::bail!("{status}"),
        }
    }
}

/// 20 pages of 7.5 MiB are 150 MiB, with responses of the same size. A page of 40 MiB takes no
/// more memory, though less than a tenth of it fits at once. A larger one would not be converted in 20 s by a debug build on a busy machine.
#[tokio::test(flavor = "multi_thread")]
async fn pages_of_any_size_do_not_end_the_operator() -> Result<()> {
    let operator = Operator::start("72Mi").await?;
    let before = operator.peak()?;
    for (clients, bytes) in [(20, 15 << 10), (1, 80 << 10)] {
        let page = review(500, bytes);
        let answers = (0..clients).map(|_| converted(&operator, &page));
        let answers = try_join_all(answers).await?;
        let whole = answers.iter().all(|length| *length > 500 * bytes);
        ensure!(whole, "{answers:?}");
        let peak = operator.peak()?;
        println!(
            "{clients} of {bytes}: {} MiB, {} at start",
            peak / MIB,
            before / MIB
        );
        ensure!(peak < POD, "{} MiB", peak / MIB);
    }
    Ok(())
}

/// Any client may send objects that take 300 times the memory of their text.
#[tokio::test(flavor = "multi_thread")]
async fn hostile_objects_do_not_end_the_operator() -> Result<()> {
    let operator = Operator::start("72Mi").await?;
    for count in [3_000, 300_000] {
        let widget = json!({
            "apiVersion": "test.example.com/v1",
            "kind": "Widget",
            "metadata": {"name": "a", "namespace": "default"},
            "spec": {"displayName": "a", "unknown": vec![json!({"a": 0}); count]},
        });
        let review = Bytes::from(of("v1alpha1", &[widget]).to_string());
        try_join_all((0..20).map(|_| converted(&operator, &review))).await?;
        let peak = operator.peak()?;
        println!("{count}: {} MiB", peak / MIB);
        ensure!(peak < POD, "{} MiB", peak / MIB);
    }
    let resource = json!({"group": "test.example.com", "version": "v1", "resource": "widgets"});
    let mut review = json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "u",
            "kind": {"group": "test.example.com", "version": "v1", "kind": "Widget"},
            "resource": resource,
            "operation": "CREATE",
            "object": widget("v1", "a", &json!({"displayName": "a"}))?,
        },
    });
    for (options, expected) in [(1, StatusCode::OK), (300_000, StatusCode::BAD_REQUEST)] {
        review["request"]["options"] = vec![json!({"a": 0}); options].into();
        let text = Bytes::from(review.to_string());
        let answers = (0..20).map(|_| operator.ask(VALIDATE, text.clone()));
        let statuses = try_join_all(answers).await?;
        let peak = operator.peak()?;
        println!("options: {} MiB", peak / MIB);
        ensure!(peak < POD, "{} MiB", peak / MIB);
        let statuses: Vec<_> = statuses.into_iter().map(|(status, _)| status).collect();
        ensure!(statuses.contains(&expected), "{statuses:?}");
    }
    Ok(())
}

/// 500 objects of 100 KiB, through a real API server, which sends one object per review and ends a list after 60 s.
#[tokio::test(flavor = "multi_thread")]
async fn a_list_of_50_mib_is_converted() -> Result<()> {
    const OBJECTS: usize = 500;
    let operator = Operator::start("72Mi").await?;
    let cluster = Cluster::start()?;
    let mut crds = crds("v1alpha1")?;
    for crd in &mut crds {
        crd.spec.conversion = Some(CustomResourceConversion {
            strategy: "Webhook".to_owned(),
            webhook: Some(WebhookConversion {
                client_config: Some(operator.endpoint.clone()),
                conversion_review_versions: vec!["v1".to_owned()],
            }),
        });
    }
    cluster.install(anyhow::Ok(crds)).await?;
    let old = widgets(&cluster, "v1alpha1", NAMESPACE)?;
    let title = "t".repeat(100 << 10);
    let create = |index| {
        let (old, title) = (&old, &title);
        async move {
            let widget = widget(
                "v1alpha1",
                &format!("w-{index}"),
                &json!({ "title": title }),
            )?;
            old.create(&PostParams::default(), &widget).await?;
            anyhow::Ok(())
        }
    };
    let created = stream::iter((0..OBJECTS).map(create)).buffer_unordered(10);
    created.try_collect::<()>().await?;
    let all = widgets(&cluster, "v1", NAMESPACE)?
        .list(&ListParams::default())
        .await?;
    ensure!(all.items.len() == OBJECTS);
    ensure!(
        all.items
            .iter()
            .all(|widget| widget.data["spec"]["displayName"] == *title)
    );
    let peak = operator.peak()?;
    println!("{} MiB", peak / MIB);
    ensure!(peak < POD, "{} MiB", peak / MIB);
    Ok(())
}

/// A client that does not read its responses loses their memory to others.
#[tokio::test(flavor = "multi_thread")]
async fn an_unread_response_stops_no_write() -> Result<()> {
    let operator = Operator::start("1Mi").await?;
    let cluster = Cluster::start()?;
    cluster
        .install(Ok::<_, CrdError>(vec![v1::Widget::crd()]))
        .await?;
    let WebhookClientConfig { ca_bundle, url, .. } = operator.endpoint.clone();
    let url = url.unwrap_or_default().replace("/convert", VALIDATE);
    let configuration: ValidatingWebhookConfiguration = from_value(json!({
        "metadata": {"name": "memory"},
        "webhooks": [{
            "name": "validate.widget.v1.test.example.com",
            "clientConfig": {"url": url, "caBundle": ca_bundle},
            "rules": [{
                "apiGroups": ["test.example.com"], "apiVersions": ["v1"],
                "operations": ["CREATE"], "resources": ["widgets"],
            }],
            "sideEffects": "None", "admissionReviewVersions": ["v1"],
        }],
    }))?;
    let configurations: Api<ValidatingWebhookConfiguration> = Api::all(cluster.client()?);
    configurations
        .create(&PostParams::default(), &configuration)
        .await?;
    let widgets = widgets(&cluster, "v1", NAMESPACE)?;
    let create = async |name: &str| {
        let widget = widget("v1", name, &json!({ "displayName": "a" }))?;
        anyhow::Ok(widgets.create(&PostParams::default(), &widget).await)
    };
    // Until the first call.
    sleep(Duration::from_secs(2)).await;
    create("before").await??;
    let mut unread = Vec::new();
    for number in 0..5 {
        let request = Request::post("/convert").header(CONTENT_TYPE, "application/json");
        let request = request.body(kube::client::Body::from(review(4_000, 10_000)))?;
        let client = Client::try_from(operator.config.clone())?;
        let response = client.send(request).await?;
        ensure!(response.status() == StatusCode::OK, "{}", response.status());
        unread.push(response);
        let begin = Instant::now();
        create(&format!("w-{number}")).await??;
        let took = begin.elapsed();
        ensure!(took < Duration::from_secs(5), "{took:?}");
    }
    Ok(())
}
