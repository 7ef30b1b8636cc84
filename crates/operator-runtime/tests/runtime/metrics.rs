//! The metrics endpoint with a real API server: authorization, format, and a certificate that changes.

use std::{
    env, fs,
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{self, Command},
    sync::{Arc, LazyLock},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use axum::http::{Request, header::CONTENT_TYPE};
use clap::Parser;
use kube::{
    Api, Client, Config,
    api::{Patch, PatchParams},
    client::Body,
};
use operator_runtime::{
    Action, Controller, Controllers, Error, Flags, Manager, ManagerOptions, WatchScope,
    envtest::{Cluster, NAMESPACE, free_port},
    prometheus_client::metrics::counter::Counter,
};
use rustls::{ClientConfig, ClientConnection, RootCertStore, pki_types::CertificateDer};
use tokio::{task::JoinHandle, time::sleep};

use crate::exposition::Exposition;
use crate::widget::{Widget, WidgetSpec};

const OPTIONS: ManagerOptions = ManagerOptions {
    name: "metrics.example.com",
    scope: WatchScope::Cluster,
};

/// The ServiceAccount of the operator, and those that may and may not read its metrics.
const MANAGER: &str = "manager";
const READER: &str = "reader";
const OTHER: &str = "other";

fn cluster() -> Result<&'static Cluster> {
    static CLUSTER: LazyLock<Result<Cluster>> = LazyLock::new(|| {
        let cluster = Cluster::start()?;
        let kubectl = |arguments: &[&str]| run(cluster.control_plane().kubectl().args(arguments));
        for name in [MANAGER, READER, OTHER] {
            kubectl(&["create", "serviceaccount", name])?;
        }
        // The roles of generated projects.
        let roles = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../templates/project/config/rbac/metrics_roles.yaml"
        );
        kubectl(&["create", "-f", roles])?;
        let resource = "--resource=*.test.example.com";
        kubectl(&[
            "create",
            "clusterrole",
            "widgets",
            "--verb=get,list,watch",
            resource,
        ])?;
        for (role, account) in [
            ("widgets", MANAGER),
            ("metrics-auth-role", MANAGER),
            ("metrics-reader", READER),
        ] {
            let (role, account) = (
                format!("--clusterrole={role}"),
                format!("--serviceaccount=default:{account}"),
            );
            kubectl(&["create", "clusterrolebinding", &role[14..], &role, &account])?;
        }
        Ok(cluster)
    });
    match &*CLUSTER {
        Ok(cluster) => Ok(cluster),
        Err(error) => bail!("{error:#}"),
    }
}

fn run(command: &mut Command) -> Result<String> {
    let output = command.output()?;
    let error = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?}: {error}");
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

fn token(account: &str) -> Result<String> {
    run(cluster()?
        .control_plane()
        .kubectl()
        .args(["create", "token", account]))
}

#[derive(Parser)]
struct Args {
    #[command(flatten)]
    manager: Flags,
}

/// A manager with these flags beside the metrics address, under its own ServiceAccount.
async fn manager(port: u16, flags: &[&str]) -> Result<Manager> {
    let control_plane = cluster()?.control_plane();
    let kubeconfig = control_plane.kubeconfig_for(&format!("manager-{port}"), &token(MANAGER)?)?;
    let kubeconfig = format!("--kubeconfig={}", kubeconfig.display());
    let address = format!("--metrics-bind-address=127.0.0.1:{port}");
    let own = [
        "operator",
        "--health-probe-bind-address=0",
        &address,
        &kubeconfig,
    ];
    let args = Args::try_parse_from(own.iter().chain(flags))?;
    Ok(Manager::new(&OPTIONS, args.manager).await?)
}

async fn reconcile(_: Arc<Widget>, _: Arc<()>) -> kube::Result<Action> {
    Ok(Action::await_change())
}

fn start(manager: Manager) -> JoinHandle<Result<(), Error>> {
    let mut controllers = Controllers::default();
    controllers.add(Controller::new("widgets", reconcile));
    tokio::spawn(manager.controllers(controllers, ()).run())
}

/// A client of the endpoint that trusts `root`, or any certificate.
fn scraper(port: u16, token: Option<&str>, root: Option<&CertificateDer>) -> Result<Client> {
    let mut config = Config::new(format!("https://localhost:{port}").parse()?);
    config.auth_info.token = token.map(|token| token.to_owned().into());
    config.accept_invalid_certs = root.is_none();
    config.root_cert = root.map(|root| vec![root.to_vec()]);
    config.default_retry = false;
    Ok(Client::try_from(config)?)
}

/// The status, the content type and the text of a response.
async fn get(client: &Client, path: &str, accept: &str) -> Result<(u16, String, String)> {
    let request = Request::get(path)
        .header("accept", accept)
        .body(Body::empty())?;
    let response = client.send(request).await?;
    let status = response.status().as_u16();
    let kind = response
        .headers()
        .get(CONTENT_TYPE)
        .map(|kind| kind.to_str());
    let kind = kind.transpose()?.unwrap_or_default().to_owned();
    let body = response.into_body().collect_bytes().await?;
    Ok((status, kind, String::from_utf8(body.to_vec())?))
}

/// The status, as soon as the server listens.
async fn status(client: &Client) -> Result<u16> {
    let begin = Instant::now();
    loop {
        match get(client, "/metrics", "*/*").await {
            Ok((status, ..)) => return Ok(status),
            Err(error) if begin.elapsed() > Duration::from_secs(10) => return Err(error),
            Err(_) => sleep(Duration::from_millis(20)).await,
        }
    }
}

const OPENMETRICS: &str = "application/openmetrics-text;version=1.0.0,text/plain;q=0.5";

/// The metrics of the two dashboards of kubebuilder's grafana plugin, with their labels.
const DASHBOARDS: [(&str, &[&str]); 12] = [
    ("controller_runtime_active_workers", &["controller"]),
    (
        "controller_runtime_reconcile_total",
        &["controller", "result"],
    ),
    ("controller_runtime_reconcile_errors_total", &["controller"]),
    ("workqueue_depth", &["name", "controller", "priority"]),
    (
        "workqueue_queue_duration_seconds_bucket",
        &["name", "controller", "le"],
    ),
    ("workqueue_adds_total", &["name", "controller"]),
    ("workqueue_unfinished_work_seconds", &["name", "controller"]),
    (
        "workqueue_work_duration_seconds_bucket",
        &["name", "controller", "le"],
    ),
    ("workqueue_retries_total", &["name", "controller"]),
    ("process_cpu_seconds_total", &[]),
    ("process_resident_memory_bytes", &[]),
    ("rest_client_requests_total", &["code", "method", "host"]),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_authorized_readers_get_metrics_that_parse() -> Result<()> {
    cluster()?.install(crate::widget::crds()).await?;
    let port = free_port()?;
    let manager = manager(port, &[]).await?;
    let made = Counter::<u64>::default();
    made.inc();
    manager.metrics(|registry| registry.register("widgets_made", "Widgets made", made));
    let operator = start(manager);

    let expected = [
        (None, 401),
        (Some("wrong".to_owned()), 401),
        (Some(token(OTHER)?), 403),
        (Some(token(READER)?), 200),
    ];
    for (token, code) in &expected {
        let client = scraper(port, token.as_deref(), None)?;
        ensure!(status(&client).await? == *code, "{code} is expected");
        // Later times from the cache.
        ensure!(status(&client).await? == *code, "{code} is expected again");
    }
    let client = scraper(port, expected[3].0.as_deref(), None)?;
    ensure!(get(&client, "/debug", "*/*").await?.0 == 404);

    let widget = Widget::new("any", WidgetSpec::default());
    let api: Api<Widget> = Api::namespaced(cluster()?.client()?, NAMESPACE);
    api.patch("any", &PatchParams::apply("test"), &Patch::Apply(&widget))
        .await?;
    let begin = Instant::now();
    let metrics = loop {
        let (_, kind, text) = get(&client, "/metrics", OPENMETRICS).await?;
        ensure!(
            kind.starts_with("application/openmetrics-text; version=1.0.0"),
            "{kind}"
        );
        let metrics = Exposition::parse(&text, true)?;
        let labels = [("controller", "widgets"), ("result", "success")];
        if metrics.value("controller_runtime_reconcile_total", &labels) == Some(1.0) {
            break metrics;
        }
        ensure!(
            begin.elapsed() < Duration::from_secs(10),
            "not reconciled:\n{text}"
        );
        sleep(Duration::from_millis(20)).await;
    };
    let (_, kind, text) = get(&client, "/metrics", "text/plain;version=0.0.4").await?;
    ensure!(kind.starts_with("text/plain; version=0.0.4"), "{kind}");
    for metrics in [metrics, Exposition::parse(&text, false)?] {
        for (name, labels) in DASHBOARDS {
            let (found, _) = metrics
                .series(name)
                .next()
                .with_context(|| format!("no {name}"))?;
            let found: Vec<_> = found.keys().map(String::as_str).collect();
            let mut labels = labels.to_vec();
            labels.sort_unstable();
            ensure!(found == labels, "{name}: {found:?}");
        }
        ensure!(metrics.value("widgets_made_total", &[]) == Some(1.0));
        let queue = [("name", "widgets"), ("controller", "widgets")];
        ensure!(metrics.value("workqueue_adds_total", &queue) >= Some(1.0));
        ensure!(metrics.value("workqueue_work_duration_seconds_count", &queue) >= Some(1.0));
        let url = cluster()?.control_plane().url();
        let host = url.trim_start_matches("https://");
        // Three TokenReviews, and two SubjectAccessReviews.
        let reviews = [("code", "201"), ("method", "POST"), ("host", host)];
        ensure!(
            metrics.value("rest_client_requests_total", &reviews) == Some(5.0),
            "{metrics:?}"
        );
    }
    operator.abort();
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mounted_certificate_may_change() -> Result<()> {
    let directory = Directory::new("mounted")?;
    let first = directory.mount("one")?;
    let port = free_port()?;
    let path = format!(
        "--metrics-cert-path={}",
        directory.0.join("..data").display()
    );
    let operator = start(manager(port, &[&path]).await?);
    // Seeing the certificate needs no token.
    let kept = scraper(port, None, Some(&first))?;
    ensure!(status(&kept).await? == 401);
    ensure!(
        alpn(port, &first)? == Some(b"http/1.1".to_vec()),
        "HTTP/2 is spoken"
    );

    let second = directory.mount("two")?;
    let begin = Instant::now();
    while get(&scraper(port, None, Some(&second))?, "/metrics", "*/*")
        .await
        .is_err()
    {
        ensure!(
            begin.elapsed() < Duration::from_secs(15),
            "it is not reloaded"
        );
        // The connection must not become idle for so long that the client drops it.
        ensure!(get(&kept, "/metrics", "*/*").await?.0 == 401);
        sleep(Duration::from_millis(200)).await;
    }
    // New connections fail for clients that trust only the first certificate; existing connections stay.
    let late = get(&scraper(port, None, Some(&first))?, "/metrics", "*/*").await;
    ensure!(late.is_err(), "the first certificate is still there");
    ensure!(get(&kept, "/metrics", "*/*").await?.0 == 401);
    operator.abort();
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn flags_of_kubebuilder() -> Result<()> {
    let (directory, port) = (Directory::new("flags")?, free_port()?);
    let certificate = directory.mount("one")?;
    fs::rename(
        directory.0.join("one/tls.crt"),
        directory.0.join("one/a.pem"),
    )?;
    fs::rename(
        directory.0.join("one/tls.key"),
        directory.0.join("one/b.pem"),
    )?;
    let path = format!("--metrics-cert-path={}", directory.0.join("one").display());
    let names = ["--metrics-cert-name=a.pem", "--metrics-cert-key=b.pem"];
    let flags = [
        &path,
        names[0],
        names[1],
        "--enable-http2",
        "--metrics-secure",
    ];
    let operator = start(manager(port, &flags).await?);
    ensure!(status(&scraper(port, None, Some(&certificate))?).await? == 401);
    ensure!(
        alpn(port, &certificate)? == Some(b"h2".to_vec()),
        "HTTP/2 is not spoken"
    );
    operator.abort();

    // Impossible settings: one line with the reason and the place.
    let taken = TcpListener::bind("127.0.0.1:0")?;
    let taken = (taken.local_addr()?.port(), taken);
    let insecure = "--metrics-secure=false".to_owned();
    let listen = format!("cannot listen on 127.0.0.1:{} for metrics: ", taken.0);
    let cases = [
        (
            free_port()?,
            path,
            "cannot use the certificate: `",
            "/one/tls.crt`: No such file",
        ),
        (taken.0, insecure, &listen, "Address already in use"),
    ];
    for (port, flag, what, why) in cases {
        let ended = start(manager(port, &[&flag]).await?).await?;
        let error = ended.err().context("it runs")?;
        let (error, causes) = (
            error.to_string(),
            anyhow::Error::from(error).chain().count(),
        );
        ensure!(error.contains(what) && error.contains(why), "{error}");
        ensure!(causes == 1 && !error.contains('\n'), "{error}");
    }
    Ok(())
}

/// The protocol that the server chooses from the usual offers.
fn alpn(port: u16, root: &CertificateDer<'static>) -> Result<Option<Vec<u8>>> {
    let mut roots = RootCertStore::empty();
    roots.add(root.clone())?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let mut config = config.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let mut connection = ClientConnection::new(Arc::new(config), "localhost".try_into()?)?;
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    while connection.is_handshaking() {
        connection.complete_io(&mut stream)?;
    }
    Ok(connection.alpn_protocol().map(<[u8]>::to_vec))
}

/// A directory that is removed with the test.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Result<Self> {
        let path = env::temp_dir().join(format!("metrics-{name}-{}", process::id()));
        fs::create_dir_all(&path)?;
        Ok(Self(path))
    }

    /// Issues a certificate and mounts it like a Secret: in a directory to which `..data` points.
    fn mount(&self, name: &str) -> Result<CertificateDer<'static>> {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
        let (data, link) = (self.0.join(name), self.0.join("..new"));
        fs::create_dir(&data)?;
        fs::write(data.join("tls.crt"), made.cert.pem())?;
        fs::write(data.join("tls.key"), made.signing_key.serialize_pem())?;
        std::os::unix::fs::symlink(Path::new(name), &link)?;
        fs::rename(link, self.0.join("..data"))?;
        Ok(made.cert.der().clone())
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        _ = fs::remove_dir_all(&self.0);
    }
}
