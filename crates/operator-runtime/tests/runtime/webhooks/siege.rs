//! The attacks of `make siege` on the webhooks, without times: whatever strangers hold, the API server gets its answers.

use std::{
    io::{Read, Write},
    net::TcpStream,
    sync::Arc,
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::{
    admissionregistration::v1::ValidatingWebhookConfiguration, core::v1::ConfigMap,
};
use kube::{Api, Client, api::PostParams};
use operator_runtime::{
    Controllers, ManagerOptions, WatchScope,
    webhook::{Change, Denied, Request, Webhook, Webhooks},
};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned,
    pki_types::{CertificateDer, ServerName, pem::PemObject},
};
use serde_json::{from_value, json};

use crate::webhooks::{cluster, gadget, hooks::label};

const NAME: &str = "sieged";

async fn allow(_: &Change<ConfigMap>, _: &Request, _: &()) -> Result<(), Denied> {
    Ok(())
}

type Tls = StreamOwned<ClientConnection, TcpStream>;

/// A connection that stays open.
type Held = Box<dyn Send>;

/// The webhook server as strangers see it.
struct Target {
    host: String,
    port: u16,
    tls: Arc<ClientConfig>,
}

impl Target {
    async fn find(client: &Client) -> Result<Self> {
        let api: Api<ValidatingWebhookConfiguration> = Api::all(client.clone());
        let configuration = api.get(&format!("{NAME}-validating")).await?;
        let mut webhooks = configuration.webhooks.unwrap_or_default();
        let config = webhooks.pop().context("no webhook")?.client_config;
        let url: http::Uri = config.url.context("no URL")?.parse()?;
        let mut roots = RootCertStore::empty();
        let ca = config.ca_bundle.context("no CA")?;
        roots.add(CertificateDer::from_pem_slice(&ca.0)?)?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self {
            host: url.host().context("no host")?.to_owned(),
            port: url.port_u16().context("no port")?,
            tls: Arc::new(tls),
        })
    }

    /// Sends bytes without TLS. The server may close the connection meanwhile.
    fn plain(&self, bytes: &[u8]) -> Result<Held> {
        let mut stream = TcpStream::connect((&*self.host, self.port))?;
        _ = stream.write_all(bytes);
        Ok(Box::new(stream))
    }

    /// Sends the begin of a request over TLS.
    fn secret(&self, head: &str, body: usize) -> Result<Tls> {
        let tcp = TcpStream::connect((&*self.host, self.port))?;
        tcp.set_write_timeout(Some(Duration::from_millis(500)))?;
        let name = ServerName::try_from(self.host.clone())?;
        let mut stream = StreamOwned::new(ClientConnection::new(self.tls.clone(), name)?, tcp);
        _ = stream.write_all(head.as_bytes());
        _ = stream.write_all(&vec![b'a'; body]);
        _ = stream.flush();
        Ok(stream)
    }
}

/// A body is announced, and half of it sent at most.
fn announce(length: usize) -> String {
    format!(
        "POST /sieged HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    )
}

async fn create(client: &Client, name: &str) -> Result<()> {
    let object: ConfigMap =
        from_value(json!({"metadata": {"name": name, "labels": {NAME: "yes"}}}))?;
    let api: Api<ConfigMap> = Api::default_namespaced(client.clone());
    api.create(&PostParams::default(), &object).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn strangers_who_hold_what_they_can_do_not_stop_a_review() -> Result<()> {
    let options = ManagerOptions {
        name: NAME,
        scope: WatchScope::Cluster,
    };
    let mut webhooks = Webhooks::default();
    webhooks.add(
        Webhook::validating(allow)
            .object_selector(label(NAME, "yes"))
            .path("/sieged"),
    );
    let controllers = Controllers::default();
    let _operator = cluster()?.run(&options, gadget::crds(), controllers, webhooks, |_| ())?;
    let client = cluster()?.client()?;
    create(&client, "sieged-before").await?;
    let target = Arc::new(Target::find(&client).await?);

    type Attack = fn(&Target) -> Result<Held>;
    let hello = |target: &Target| target.plain(b"\x16\x03\x01\x40\x00\x01\x00\xea\x60");
    let attacks: [(&str, usize, Attack); 5] = [
        ("announced", 30, |target| {
            Ok(Box::new(target.secret(&announce(3_300_000), 0)?))
        }),
        ("half-read", 10, |target| {
            Ok(Box::new(target.secret(&announce(3_300_000), 1_600_000)?))
        }),
        ("headers", 20, |target| {
            let head = "GET / HTTP/1.1\r\nx: ";
            Ok(Box::new(target.secret(head, 400_000)?))
        }),
        ("byte", 600, |target| target.plain(b"G")),
        ("handshake", 600, hello),
    ];
    for (name, count, attack) in attacks {
        let attacked = target.clone();
        let attack = move || {
            (0..count)
                .map(|_| attack(&attacked))
                .collect::<Result<Vec<_>>>()
        };
        let attacker = tokio::task::spawn_blocking(attack);
        for number in 0..5 {
            let object = format!("sieged-{name}-{number}");
            create(&client, &object)
                .await
                .with_context(|| object.clone())?;
        }
        let held = attacker.await??;
        let object = format!("sieged-{name}-then");
        create(&client, &object)
            .await
            .with_context(|| object.clone())?;
        drop(held);
    }

    // A body that never comes is given up, and the client gets the reason.
    let mut slow = target.secret(&announce(10), 0)?;
    let mut answer = [0; 12];
    slow.sock.set_read_timeout(Some(Duration::from_secs(10)))?;
    slow.read_exact(&mut answer)?;
    ensure!(
        &answer == b"HTTP/1.1 408",
        "{}",
        String::from_utf8_lossy(&answer)
    );
    Ok(())
}
