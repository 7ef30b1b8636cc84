//! A certificate that changes under load.

use std::{
    fs,
    net::TcpStream,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use anyhow::{Context, Result, ensure};
use clap::Parser;
use k8s_openapi::{
    ByteString,
    api::{
        admissionregistration::v1::{
            RuleWithOperations, ValidatingWebhook, ValidatingWebhookConfiguration,
            WebhookClientConfig,
        },
        core::v1::ConfigMap,
    },
};
use kube::{
    Api, Client, Config,
    api::{ObjectMeta, PostParams},
};
use operator_runtime::{
    Flags, Manager,
    envtest::free_port,
    webhook::{Change, Denied, Request, Webhook, Webhooks},
};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned,
    pki_types::{CertificateDer, ServerName},
};
use serde_json::{Value, from_value, json};
use tokio_util::sync::CancellationToken;

use crate::webhooks::{OPTIONS, cluster, hooks::label, until};

/// A certificate authority, and a volume with its last certificate.
struct Volume {
    issuer: Issuer<'static, KeyPair>,
    ca: CertificateDer<'static>,
    pem: String,
    directory: PathBuf,
}

impl Volume {
    fn new(directory: PathBuf) -> Result<Self> {
        _ = fs::remove_dir_all(&directory);
        fs::create_dir_all(&directory)?;
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate()?;
        let ca = params.self_signed(&key)?;
        for file in ["tls.crt", "tls.key"] {
            symlink(Path::new("..data").join(file), directory.join(file))?;
        }
        Ok(Self {
            ca: ca.der().clone(),
            pem: ca.pem(),
            issuer: Issuer::new(params, key),
            directory,
        })
    }

    /// Issues a certificate, and replaces the last one as a Secret volume does.
    fn issue(&self, name: &str) -> Result<CertificateDer<'static>> {
        let key = KeyPair::generate()?;
        let params = CertificateParams::new(vec!["127.0.0.1".to_owned()])?;
        let certificate = params.signed_by(&key, &self.issuer)?;
        let data = self.directory.join(name);
        fs::create_dir(&data)?;
        fs::write(data.join("tls.crt"), certificate.pem())?;
        fs::write(data.join("tls.key"), key.serialize_pem())?;
        let new = self.directory.join("..new");
        symlink(name, &new)?;
        fs::rename(new, self.directory.join("..data"))?;
        Ok(certificate.der().clone())
    }

    /// The certificate of new connections.
    fn presented(&self, port: u16) -> Result<CertificateDer<'static>> {
        let mut roots = RootCertStore::empty();
        roots.add(self.ca.clone())?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let name = ServerName::try_from("127.0.0.1")?;
        let connection = ClientConnection::new(Arc::new(config), name)?;
        let mut stream = StreamOwned::new(connection, TcpStream::connect(("127.0.0.1", port))?);
        stream.conn.complete_io(&mut stream.sock)?;
        let presented = stream.conn.peer_certificates().context("a certificate")?;
        Ok(presented[0].clone().into_owned())
    }
}

#[derive(Parser)]
struct Args {
    #[command(flatten)]
    manager: Flags,
}

async fn allow(_: &Change<ConfigMap>, _: &Request, asked: &AtomicUsize) -> Result<(), Denied> {
    asked.fetch_add(1, Ordering::Relaxed);
    Ok(())
}

/// The counts of a load.
#[derive(Default)]
struct Load {
    done: AtomicUsize,
    failed: AtomicUsize,
    stop: CancellationToken,
}

impl Load {
    /// Repeats a request until the stop.
    async fn repeat<Fut>(self: Arc<Self>, what: impl Fn() -> Fut)
    where
        Fut: Future<Output = Result<()>>,
    {
        while !self.stop.is_cancelled() {
            match what().await {
                Ok(()) => _ = self.done.fetch_add(1, Ordering::Relaxed),
                Err(error) => {
                    self.failed.fetch_add(1, Ordering::Relaxed);
                    eprintln!("{error:#}");
                }
            }
        }
    }
}

/// Writes the webhook configuration, with the volume's CA as caBundle.
async fn configure(url: String, ca: &str) -> Result<()> {
    let configuration = ValidatingWebhookConfiguration {
        metadata: ObjectMeta {
            name: Some("rotation".to_owned()),
            ..ObjectMeta::default()
        },
        webhooks: Some(vec![ValidatingWebhook {
            admission_review_versions: vec!["v1".to_owned()],
            client_config: WebhookClientConfig {
                ca_bundle: Some(ByteString(ca.as_bytes().to_vec())),
                url: Some(url),
                ..WebhookClientConfig::default()
            },
            name: "rotation.test.example.com".to_owned(),
            object_selector: Some(label("webhook", "rotation")),
            rules: Some(vec![RuleWithOperations {
                api_groups: Some(vec![String::new()]),
                api_versions: Some(vec!["v1".to_owned()]),
                operations: Some(vec!["CREATE".to_owned()]),
                resources: Some(vec!["configmaps".to_owned()]),
                scope: None,
            }]),
            side_effects: "None".to_owned(),
            ..ValidatingWebhook::default()
        }]),
    };
    let api = Api::all(cluster()?.client()?);
    api.create(&PostParams::default(), &configuration).await?;
    Ok(())
}

/// A dry-run ConfigMap through the API server.
async fn through_the_api_server(client: Client) -> Result<()> {
    let metadata = json!({"generateName": "r-", "labels": {"webhook": "rotation"}});
    let object: ConfigMap = from_value(json!({ "metadata": metadata }))?;
    let params = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    let api: Api<ConfigMap> = Api::default_namespaced(client);
    api.create(&params, &object).await?;
    Ok(())
}

/// A few reviews through a connection of their own.
async fn through_a_new_connection(config: Config) -> Result<()> {
    let client = Client::try_from(config)?;
    for _ in 0..3 {
        let review = json!({
            "apiVersion": "admission.k8s.io/v1",
            "kind": "AdmissionReview",
            "request": {
                "uid": "u",
                "kind": {"group": "", "version": "v1", "kind": "ConfigMap"},
                "resource": {"group": "", "version": "v1", "resource": "configmaps"},
                "operation": "CREATE",
                "object": {"metadata": {"name": "a"}},
            },
        });
        let request = http::Request::post("/validate--v1-configmap");
        let request = request.header("content-type", "application/json");
        let request = request.body(review.to_string().into_bytes())?;
        let answer: Value = client.request(request).await?;
        ensure!(answer["response"]["allowed"] == true, "{answer}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_certificate_changes_under_load_and_no_request_fails() -> Result<()> {
    let volume = Volume::new(PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("rotation"))?;
    let first = volume.issue("1")?;
    let port = free_port()?;

    let control_plane = cluster()?.control_plane();
    let token = control_plane
        .kubectl()
        .args(["create", "token", OPTIONS.name])
        .output()?;
    let kubeconfig = String::from_utf8(token.stdout)?;
    let kubeconfig = control_plane.kubeconfig_for("rotation", kubeconfig.trim())?;
    let args = Args::parse_from([
        "operator",
        "--health-probe-bind-address=0",
        &format!("--kubeconfig={}", kubeconfig.display()),
        &format!("--webhook-port={port}"),
        &format!("--webhook-cert-path={}", volume.directory.display()),
    ]);
    let manager = Manager::new(&OPTIONS, args.manager).await?;
    let mut webhooks = Webhooks::default();
    webhooks.add(Webhook::validating(allow));
    let asked = Arc::new(AtomicUsize::new(0));
    let operator = tokio::spawn(manager.webhooks(webhooks, asked.clone()).run());

    let url = format!("https://127.0.0.1:{port}");
    until("the webhook is served", async || {
        Ok(volume.presented(port).is_ok())
    })
    .await?;
    configure(format!("{url}/validate--v1-configmap"), &volume.pem).await?;
    let client = cluster()?.client()?;
    until("the API server asks", async || {
        through_the_api_server(client.clone()).await?;
        Ok(asked.load(Ordering::Relaxed) > 0)
    })
    .await?;

    let mut direct = Config::new(url.parse()?);
    direct.root_cert = Some(vec![volume.ca.to_vec()]);
    direct.proxy_url = None;
    let [asking, connecting] = [(); 2].map(|()| Arc::new(Load::default()));
    let mut tasks = Vec::new();
    for _ in 0..2 {
        let client = client.clone();
        let ask = move || through_the_api_server(client.clone());
        tasks.push(tokio::spawn(asking.clone().repeat(ask)));
        let config = direct.clone();
        let connect = move || through_a_new_connection(config.clone());
        tasks.push(tokio::spawn(connecting.clone().repeat(connect)));
    }
    let mut last = first;
    for name in ["2", "3"] {
        ensure!(volume.presented(port)? == last);
        let next = volume.issue(name)?;
        let shown = async || Ok(volume.presented(port)? == next);
        until("the new certificate is presented", shown).await?;
        last = next;
    }
    for load in [&asking, &connecting] {
        load.stop.cancel();
    }
    for task in tasks {
        task.await?;
    }
    operator.abort();
    let [done, failed] = [
        |load: &Load| load.done.load(Ordering::Relaxed),
        |load: &Load| load.failed.load(Ordering::Relaxed),
    ];
    let (requests, connections) = (done(&asking), done(&connecting));
    println!(
        "2 rotations: {requests} requests through the API server, {connections} new connections, {} and {} failed",
        failed(&asking),
        failed(&connecting),
    );
    ensure!(failed(&asking) + failed(&connecting) == 0);
    ensure!(requests > 100 && connections > 100);
    ensure!(asked.load(Ordering::Relaxed) >= requests + 3 * connections);
    Ok(())
}
