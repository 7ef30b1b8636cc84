//! A client CA: admission webhooks answer the API server alone, which shows a certificate of this CA.

use std::{fs, path::Path, time::Duration};

use anyhow::{Context as _, Result, ensure};
use kube::api::PostParams;
use operator_runtime::envtest::{Cluster, Options, eventually, free_port};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, ExtendedKeyUsagePurpose, IsCa, KeyPair,
};
use tempfile::{TempDir, tempdir};

use super::{
    site::Site,
    tls::{Identity, post},
};
use crate::widget::{Widget, WidgetSpec};

/// A CA, and the certificate of a client that it signed, as PEM.
struct Issued {
    ca: String,
    client: Identity,
}

fn issue() -> Result<Issued> {
    let mut params = CertificateParams::new([])?;
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let ca = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
    let mut params = CertificateParams::new(["kube-apiserver".to_owned()])?;
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    let key = KeyPair::generate()?;
    let client = Identity {
        certificate: params.signed_by(&key, &ca)?.pem(),
        key: key.serialize_pem(),
    };
    Ok(Issued {
        ca: ca.pem(),
        client,
    })
}

/// A cluster whose API server shows `client` to the webhooks at `localhost:PORT`.
fn cluster(directory: &TempDir, client: &Identity, port: u16) -> Result<Cluster> {
    let file = |name: &str, text: &str| {
        let path = directory.path().join(name);
        fs::write(&path, text).map(|()| path)
    };
    let certificate = file("client.crt", &client.certificate)?;
    let key = file("client.key", &client.key)?;
    let kubeconfig = format!(
        "apiVersion: v1\nkind: Config\nusers:\n- name: localhost:{port}\n  user:\n    \
         client-certificate: {}\n    client-key: {}\n",
        certificate.display(),
        key.display()
    );
    let kubeconfig = file("webhooks.kubeconfig", &kubeconfig)?;
    let plugins = ["MutatingAdmissionWebhook", "ValidatingAdmissionWebhook"].map(|plugin| {
        format!(
            "- name: {plugin}\n  configuration:\n    apiVersion: apiserver.config.k8s.io/v1\n    \
             kind: WebhookAdmissionConfiguration\n    kubeConfigFile: {}\n",
            kubeconfig.display()
        )
    });
    let configuration = format!(
        "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n{}",
        plugins.concat()
    );
    let configuration = file("admission.yaml", &configuration)?;
    let flag = format!(
        "--admission-control-config-file={}",
        configuration.display()
    );
    Cluster::start_with(&Options {
        api_server_flags: vec![flag],
        ..Options::default()
    })
}

/// The status and the text of the answer to a review at `/convert` or at an admission path.
fn ask(port: u16, path: &str, bundle: &str, client: Option<&Identity>) -> Result<String> {
    let (version, kind) = match path {
        "/convert" => ("apiextensions.k8s.io/v1", "ConversionReview"),
        _ => ("admission.k8s.io/v1", "AdmissionReview"),
    };
    let body = format!(r#"{{"apiVersion":"{version}","kind":"{kind}","request":{{}}}}"#);
    post(port, path, bundle, client, &body)
}

#[tokio::test]
async fn only_clients_with_a_certificate_of_the_ca_are_admitted() -> Result<()> {
    let (first, second, directory) = (issue()?, issue()?, tempdir()?);
    let port = free_port()?;
    let cluster = cluster(&directory, &first.client, port)?;
    let site = Site::new(&cluster, "client-ca")?.with_conversion().await?;
    let file = directory.path().join("ca.crt");
    fs::write(&file, &first.ca)?;
    let mut operator = site.local_for("a", port, &file)?;
    operator.ready().await?;

    // The API server, for defaulting, validation, and the conversion, for which it has no certificate.
    site.admitted().await?;
    let widgets = cluster.api::<Widget>()?;
    let widget = Widget::new("converted", WidgetSpec::default());
    eventually(Duration::from_secs(30), async || {
        match widgets.create(&PostParams::default(), &widget).await {
            Err(kube::Error::Api(status)) if status.is_already_exists() => Ok(()),
            result => {
                result?;
                Ok(())
            }
        }
    })
    .await?;

    let bundles = site.bundles().await?;
    let bundle = bundles.first().context("a caBundle")?;
    let path = &site.path().await?;
    let answer = ask(port, path, bundle, None)?;
    ensure!(answer.starts_with("HTTP/1.1 403"), "{answer}");
    ensure!(answer.contains("`--webhook-client-ca` is set"), "{answer}");
    let answer = ask(port, "/unknown", bundle, None)?;
    ensure!(answer.starts_with("HTTP/1.1 403"), "{answer}");
    let answer = ask(port, "/convert", bundle, None)?;
    ensure!(!answer.starts_with("HTTP/1.1 403"), "{answer}");
    let answer = ask(port, path, bundle, Some(&first.client))?;
    ensure!(!answer.starts_with("HTTP/1.1 403"), "{answer}");
    // The handshake fails.
    ensure!(ask(port, path, bundle, Some(&second.client)).is_err());

    // The CA is replaced: the API server's certificate is that of a stranger now.
    fs::write(&file, "not a certificate")?;
    eventually(Duration::from_secs(30), async || {
        let logged = operator.log().contains("keeping the previous certificate");
        ensure!(logged, "{}", operator.log());
        Ok(())
    })
    .await?;
    ensure!(ask(port, path, bundle, Some(&first.client)).is_ok());
    fs::write(&file, &second.ca)?;
    eventually(Duration::from_secs(30), async || {
        ask(port, path, bundle, Some(&second.client)).map(drop)
    })
    .await?;
    ensure!(ask(port, path, bundle, Some(&first.client)).is_err());
    operator.stop().await
}

#[tokio::test]
async fn the_api_server_without_a_certificate_shows_the_reason() -> Result<()> {
    let (issued, directory) = (issue()?, tempdir()?);
    let site = Site::new(super::cluster()?, "stranger")?;
    let file = directory.path().join("ca.crt");
    fs::write(&file, &issued.ca)?;
    let port = free_port()?;
    let mut operator = site.local_for("a", port, &file)?;
    operator.ready().await?;
    let expected =
        "`--webhook-client-ca` is set: only clients with a certificate of this CA may ask";
    eventually(Duration::from_secs(30), async || {
        let error = site.create("good").await.err().context("it was admitted")?;
        ensure!(error.to_string().contains(expected), "{error}");
        Ok(())
    })
    .await?;
    operator.stop().await
}

#[tokio::test]
async fn a_ca_that_cannot_be_used_is_reported() -> Result<()> {
    let site = Site::new(super::cluster()?, "no-client-ca")?;
    let directory = tempdir()?;
    let empty = directory.path().join("empty.crt");
    fs::write(&empty, "")?;
    for (file, reason) in [
        (Path::new("/nowhere/ca.crt"), "No such file or directory"),
        (&empty, "holds no PEM certificate"),
    ] {
        let mut operator = site.local_for("a", free_port()?, file)?;
        let error = operator.ready().await.err().context("it is ready")?;
        let expected = format!(
            "cannot use the CA of `--webhook-client-ca`: `{}`: {reason}",
            file.display()
        );
        ensure!(error.to_string().contains(&expected), "{error}");
    }
    Ok(())
}
