//! The memory of an operator that more is asked of than fits.

use std::{
    env, fs,
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use axum::body::{Body, Bytes};
use clap::Parser;
use futures::{StreamExt, future::try_join_all};
use http::{Request, StatusCode, header::CONTENT_TYPE};
use kube::{Client, Config};
use operator_runtime::{
    Flags, Manager,
    envtest::{eventually, free_port},
};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use serde_json::json;
use tokio::time::sleep;

use super::{
    setup::{OPTIONS, webhooks},
    types::conversion,
};

const MIB: usize = 1 << 20;

/// MiB for requests: enough for a conversion of 8 MiB.
const MEMORY: usize = 18;

#[derive(Parser)]
struct Args {
    #[command(flatten)]
    manager: Flags,
}

/// An operator that converts. The test runs this binary again, with its flags in the environment.
#[test]
fn operator() {
    let Ok(flags) = env::var("TEST_CONVERSION_FLAGS") else {
        return;
    };
    let args = Args::parse_from(["operator"].into_iter().chain(flags.split(' ')));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let result: Result<()> = runtime.block_on(async {
        let manager = Manager::new(&OPTIONS, args.manager).await?;
        Ok(manager.webhooks(webhooks(conversion()), ()).run().await?)
    });
    result.unwrap();
}

/// The operator as a process, and a client that trusts it.
struct Operator {
    child: Child,
    client: Client,
}

impl Operator {
    async fn start() -> Result<Self> {
        let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("conversion-memory");
        fs::create_dir_all(&directory)?;
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(["127.0.0.1".to_owned()])?;
        fs::write(directory.join("tls.crt"), cert.pem())?;
        fs::write(directory.join("tls.key"), signing_key.serialize_pem())?;
        // It asks no API server.
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
        let port = free_port()?;
        let flags = format!(
            "--webhook-memory={MEMORY}Mi --health-probe-bind-address=0 --webhook-port={port} --webhook-cert-path={} --kubeconfig={}",
            directory.display(),
            kubeconfig.display()
        );
        let child = Command::new(env::current_exe()?)
            .args(["--exact", "conversion::memory::operator", "--nocapture"])
            .env("TEST_CONVERSION_FLAGS", flags)
            .stdout(Stdio::null())
            .spawn()?;
        let mut config = Config::new(format!("https://127.0.0.1:{port}").parse()?);
        config.root_cert = Some(vec![cert.der().to_vec()]);
        config.proxy_url = None;
        let operator = Self {
            child,
            client: Client::try_from(config)?,
        };
        let ask = async || operator.convert(review(1, 10)).await;
        eventually(Duration::from_secs(30), ask).await?;
        Ok(operator)
    }

    /// The status, and how long the answer is.
    async fn convert(&self, review: Bytes) -> Result<(StatusCode, usize)> {
        let request = Request::post("/convert").header(CONTENT_TYPE, "application/json");
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

    /// The most memory that it ever had, in bytes.
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

/// A review of so many objects, each of so many bytes.
fn review(objects: usize, bytes: usize) -> Bytes {
    let widget = json!({
        "apiVersion": "test.example.com/v1alpha1",
        "kind": "Widget",
        "metadata": {"name": "a", "namespace": "default"},
        "spec": {"title": "t".repeat(bytes)},
    });
    let review = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "ConversionReview",
        "request": {
            "uid": "u",
            "desiredAPIVersion": "test.example.com/v1",
            "objects": vec![widget; objects],
        },
    });
    review.to_string().into()
}

/// 20 pages of 7.5 MiB are 150 MiB, and their answers as much again.
#[tokio::test]
async fn twenty_clients_do_not_end_the_operator() -> Result<()> {
    let operator = Operator::start().await?;
    let before = operator.peak()?;
    let page = review(500, 15 * MIB / 2 / 500);
    let ask = async || {
        // As the API server does.
        loop {
            match operator.convert(page.clone()).await? {
                (StatusCode::OK, length) => return anyhow::Ok(length),
                (StatusCode::SERVICE_UNAVAILABLE, _) => sleep(Duration::from_secs(1)).await,
                (status, _) => anyhow::bail!("{status}"),
            }
        }
    };
    let answers = try_join_all((0..20).map(|_| ask())).await?;
    ensure!(
        answers.iter().all(|length| *length > 7 * MIB),
        "{answers:?}"
    );
    let more = operator.peak()? - before;
    println!(
        "{} MiB more than the {} MiB at start",
        more / MIB,
        before / MIB
    );
    // What the connections themselves take up comes on top.
    ensure!(more < (MEMORY + 32) * MIB, "{} MiB", more / MIB);

    let (status, _) = operator.convert(review(500, 9 * MIB / 500)).await?;
    ensure!(status == StatusCode::PAYLOAD_TOO_LARGE, "{status}");
    Ok(())
}
