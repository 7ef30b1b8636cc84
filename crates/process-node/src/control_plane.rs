//! etcd, kube-apiserver and kube-controller-manager. One that ends is started again, so that a test may kill it.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use anyhow::{Context, Result, bail};
use kube::{Client, Config, config::Kubeconfig};
use tokio::{process::Command, time::sleep};

use crate::network::{GATEWAY, SERVICES};

/// The port of the API server, in the network namespace of the machine.
pub(crate) const PORT: u16 = 6443;

const ETCD: &[&str] = &[
    "--data-dir=etcd",
    "--listen-client-urls=unix://client.sock",
    "--advertise-client-urls=unix://client.sock",
    "--listen-peer-urls=unix://peer.sock",
    "--initial-advertise-peer-urls=unix://peer.sock",
    "--initial-cluster=default=unix://peer.sock",
    // A process that is killed loses nothing that it wrote.
    "--unsafe-no-fsync",
];

const API_SERVER: &[&str] = &[
    "--etcd-servers=unix://client.sock",
    "--bind-address=0.0.0.0",
    "--tls-cert-file=ca.crt",
    "--tls-private-key-file=tls.key",
    "--token-auth-file=tokens.csv",
    "--authorization-mode=RBAC",
    "--service-account-issuer=https://kubernetes.default.svc",
    "--service-account-key-file=sa.pub",
    "--service-account-signing-key-file=sa.key",
    "--allow-privileged=true",
];

const CONTROLLER_MANAGER: &[&str] = &[
    "--kubeconfig=kubeconfig",
    "--service-account-private-key-file=sa.key",
    "--root-ca-file=ca.crt",
    "--use-service-account-credentials=true",
    "--leader-elect=false",
    "--secure-port=0",
];

/// Starts the control plane from `binaries` in `directory`, and returns a client of its administrator.
///
/// # Errors
/// If a binary is missing, or the API server is not ready within a minute.
pub(crate) async fn start(binaries: &Path, directory: &Path) -> Result<Client> {
    for name in [
        "etcd",
        "kube-apiserver",
        "kube-controller-manager",
        "kubectl",
    ] {
        if !binaries.join(name).is_file() {
            bail!("`{}` holds no `{name}`", binaries.display());
        }
    }
    write_keys(directory)?;
    let own = [
        format!("--secure-port={PORT}"),
        format!("--advertise-address={GATEWAY}"),
        format!("--service-cluster-ip-range={SERVICES}"),
    ];
    let api_server = API_SERVER
        .iter()
        .copied()
        .chain(own.iter().map(String::as_str));
    supervise(binaries.join("etcd"), ETCD.iter().copied(), directory);
    supervise(binaries.join("kube-apiserver"), api_server, directory);
    let kubeconfig = Kubeconfig::read_from(directory.join("kubeconfig"))?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &Default::default()).await?;
    let client = Client::try_from(config)?;
    for _ in 0..600 {
        let ready = http::Request::get("/readyz").body(Vec::new())?;
        if client.request_text(ready).await.is_ok() {
            supervise(
                binaries.join("kube-controller-manager"),
                CONTROLLER_MANAGER.iter().copied(),
                directory,
            );
            return Ok(client);
        }
        sleep(Duration::from_millis(100)).await;
    }
    let log = fs::read_to_string(directory.join("kube-apiserver.log")).unwrap_or_default();
    bail!("the API server is not ready:\n{log}")
}

/// Runs a program, again each time that it ends. Its output and its process ID are files in `directory`.
fn supervise<'a>(program: PathBuf, arguments: impl Iterator<Item = &'a str>, directory: &Path) {
    let arguments: Vec<String> = arguments.map(str::to_owned).collect();
    let directory = directory.to_owned();
    tokio::spawn(async move {
        loop {
            if let Err(error) = run(&program, &arguments, &directory).await {
                eprintln!("process-node: {error:#}");
            }
            sleep(Duration::from_millis(200)).await;
        }
    });
}

async fn run(program: &Path, arguments: &[String], directory: &Path) -> Result<()> {
    let name = program.file_name().context("no program")?.to_string_lossy();
    let log = File::options()
        .append(true)
        .create(true)
        .open(directory.join(format!("{name}.log")))?;
    let mut child = Command::new(program)
        .args(arguments)
        .current_dir(directory)
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .spawn()
        .with_context(|| format!("cannot start {name}"))?;
    let id = child.id().unwrap_or_default();
    fs::write(directory.join(format!("{name}.pid")), id.to_string())?;
    child.wait().await?;
    Ok(())
}

/// One certificate is its own CA. The keys live as long as the machine.
fn write_keys(directory: &Path) -> Result<()> {
    let first_service = SERVICES.replace(".0/16", ".1");
    let names = [
        "127.0.0.1",
        GATEWAY,
        &first_service,
        "kubernetes.default.svc",
        "localhost",
    ];
    let tls = rcgen::generate_simple_self_signed(names.map(str::to_owned))?;
    let tokens = rcgen::KeyPair::generate()?;
    let admin = format!("{:032x}", fastrand::u128(..));
    let file = |name: &str, text: &str| fs::write(directory.join(name), text);
    file("ca.crt", &tls.cert.pem())?;
    file("tls.key", &tls.signing_key.serialize_pem())?;
    file("sa.key", &tokens.serialize_pem())?;
    file("sa.pub", &tokens.public_key_pem())?;
    file(
        "tokens.csv",
        &format!("{admin},admin,admin,system:masters\n"),
    )?;
    let ca = directory.join("ca.crt");
    file(
        "kubeconfig",
        &format!(
            "apiVersion: v1
kind: Config
clusters:
- name: processes
  cluster: {{server: \"https://127.0.0.1:{PORT}\", certificate-authority: {ca:?}}}
users:
- name: admin
  user: {{token: {admin:?}}}
contexts:
- name: admin
  context: {{cluster: processes, user: admin}}
current-context: admin
"
        ),
    )?;
    Ok(())
}
