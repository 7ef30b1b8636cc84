//! Changes by others to the Secret and to the configurations.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::ByteString;
use operator_runtime::envtest::free_port;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::{
    cluster,
    self_managed::until,
    site::{Site, kubectl},
};

#[tokio::test]
async fn a_removed_ca_bundle_is_restored() -> Result<()> {
    let site = Site::new(cluster()?, "publish")?;
    let mut operator = site.operator("a", site.port, None).await?;
    operator.ready().await?;
    site.admitted().await?;
    site.published().await?;
    let ca = site.secret("ca.crt").await?;

    // Applying the manifests again, server-side or client-side, keeps the caBundle.
    for arguments in [
        &["apply", "--server-side", "--force-conflicts", "-f", "-"][..],
        &["apply", "-f", "-"],
    ] {
        site.kubectl(arguments, &site.manifests)?;
        ensure!(
            site.bundles().await? == [&*ca, &*ca],
            "{arguments:?} takes the CA away"
        );
    }

    let [mutating, validating] = ["mutating", "validating"].map(|kind| {
        let name = site.name(&format!("{kind}-webhook-configuration"));
        (format!("{kind}webhookconfiguration"), name)
    });
    let remove = r#"[{"op": "remove", "path": "/webhooks/0/clientConfig/caBundle"}]"#;
    site.kubectl(
        &[
            "patch",
            &mutating.0,
            &mutating.1,
            "--type=json",
            "-p",
            remove,
        ],
        "",
    )?;
    site.published().await?;
    site.kubectl(&["delete", &validating.0, &validating.1], "")?;
    ensure!(site.bundles().await.is_err());
    site.apply(&site.manifests)?;
    site.published().await?;
    site.admitted().await?;
    ensure!(site.secret("ca.crt").await? == ca, "another CA was made");

    // A webhook that is no longer in the manifests is removed, although the operator has patched it.
    let mut parts = site.manifests.split("---\n");
    let part = parts.find(|part| part.contains("kind: Mutating"));
    let mut both: Value = serde_saphyr::from_str(part.context("no configuration")?)?;
    let mut second = both["webhooks"][0].clone();
    second["name"] = json!("second.configmap.v1.core.k8s.io");
    both["webhooks"] = json!([both["webhooks"][0], second]);
    site.apply(&both.to_string())?;
    site.published().await?;
    let names = "-o=jsonpath={.webhooks[*].name}";
    let names = || site.kubectl(&["get", &mutating.0, &mutating.1, names], "");
    ensure!(names()?.contains("second"), "{}", names()?);
    site.apply(&site.manifests)?;
    ensure!(!names()?.contains("second"), "{}", names()?);
    site.admitted().await
}

#[tokio::test]
async fn a_damaged_secret_is_repaired() -> Result<()> {
    let site = Site::new(cluster()?, "damage")?;
    let mut operator = site.operator("a", site.port, None).await?;
    operator.ready().await?;
    site.admitted().await?;
    for (patch, logged) in [
        (
            r#"{"data": {"tls.crt": "eA=="}}"#,
            "holds no PEM certificate",
        ),
        (r#"{"data": {"tls.key": null}}"#, "its key is not a PEM key"),
        (r#"{"data": {"ca.crt": "eA=="}}"#, "`ca.crt` holds no CA"),
        (
            r#"{"data": {"next.crt": "eA=="}}"#,
            "issuing the next webhook certificate",
        ),
        (r#"{"data": null}"#, "serving a new webhook certificate"),
    ] {
        let (before, log) = (site.secret("tls.crt").await?, operator.log().len());
        site.merge_into_secret(patch)?;
        let repaired = || Ok(operator.log()[log..].contains(logged));
        until(repaired, || {
            format!("{patch} {logged}: {}", &operator.log()[log..])
        })
        .await?;
        if logged.starts_with("issuing") {
            // The served certificate stays until the next one is trusted everywhere.
            ensure!(site.secret("tls.crt").await? == before);
            site.merge_into_secret(r#"{"data": {"next.crt": null, "next.key": null}}"#)?;
        } else {
            let begin = Instant::now();
            while site.secret("tls.crt").await? == before
                || site.secret("tls.key").await?.is_empty()
            {
                ensure!(
                    begin.elapsed() < Duration::from_secs(20),
                    "{patch}: {}",
                    operator.log()
                );
                sleep(Duration::from_millis(20)).await;
            }
        }
        site.published().await?;
        site.admitted().await?;
    }
    // Other keys of the Secret stay.
    site.merge_into_secret(r#"{"data": {"mine": "eA==", "tls.crt": "eA=="}}"#)?;
    site.published().await?;
    site.admitted().await?;
    ensure!(site.secret("mine").await? == "x");
    Ok(())
}

/// The Secret with its certificate, as soon as there is one.
async fn restored(site: &Site<'_>, log: impl Fn() -> String) -> Result<String> {
    let begin = Instant::now();
    loop {
        match site.secret("tls.crt").await {
            Ok(certificate) if !certificate.is_empty() => return Ok(certificate),
            _ => ensure!(begin.elapsed() < Duration::from_secs(60), "{}", log()),
        }
        sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn a_deleted_secret_is_restored() -> Result<()> {
    let site = Site::new(cluster()?, "deleted")?;
    let mut a = site.operator("a", site.port, None).await?;
    a.ready().await?;
    let mut b = site.operator("b", free_port()?, None).await?;
    b.ready().await?;
    site.admitted().await?;
    site.published().await?;
    let logs = || [a.log(), b.log()].concat();
    let (ca, certificate) = (site.secret("ca.crt").await?, site.secret("tls.crt").await?);
    let (secret, namespace) = (site.name("webhook-server-cert"), site.namespace);
    let delete = || {
        site.kubectl(&["delete", "secret", &secret, "-n", namespace], "")?;
        let name = site.name("validating-webhook-configuration");
        let remove = r#"[{"op": "remove", "path": "/webhooks/0/clientConfig/caBundle"}]"#;
        let patch = ["patch", "validatingwebhookconfiguration", &name];
        site.kubectl(&[&patch[..], &["--type=json", "-p", remove]].concat(), "")
    };
    let role = site.name("webhook-certificate-role");
    let allow = |verbs: &str| {
        let path = "/rules/0/verbs";
        let patch = format!(r#"[{{"op": "replace", "path": "{path}", "value": {verbs}}}]"#);
        let role = ["patch", "role", &role, "-n", namespace];
        site.kubectl(&[&role[..], &["--type=json", "-p", &patch]].concat(), "")
    };

    // The role allows to create the Secret by server-side apply, not by a POST.
    let account = site.name("controller-manager");
    let user = format!("--as=system:serviceaccount:{namespace}:{account}");
    let post = [
        "create", "secret", "generic", &secret, "-n", namespace, &user,
    ];
    let refused = site.kubectl(&post, "").err().context("a POST is allowed")?;
    ensure!(
        refused.to_string().contains("cannot create resource"),
        "{refused}"
    );
    delete()?;
    ensure!(
        restored(&site, logs).await? == certificate,
        "another certificate"
    );
    site.published().await?;
    site.admitted().await?;
    ensure!(site.secret("ca.crt").await? == ca, "another CA");
    let events = [
        "get",
        "events",
        "-n",
        namespace,
        "-o",
        "jsonpath={..reason}",
    ];
    let told = || Ok(site.kubectl(&events, "")?.contains("SecretMissing"));
    until(told, logs).await?;

    // Without permission to restore it, the CA stays published, and the state is named.
    allow(r#"["list", "patch", "update", "watch"]"#)?;
    delete()?;
    let missing = format!("Secret `{namespace}/{secret}` does not exist: cannot write");
    for operator in [&a, &b] {
        let named = || Ok(operator.answer("/readyz?verbose").contains(&missing));
        until(named, || operator.answer("/readyz?verbose")).await?;
        ensure!(operator.answer("/readyz").starts_with("HTTP/1.0 200"));
        ensure!(operator.log().contains(&missing), "{}", operator.log());
    }
    let begin = Instant::now();
    while site.bundles().await? != [&*ca, &*ca] {
        ensure!(begin.elapsed() < Duration::from_secs(30), "{}", logs());
        sleep(Duration::from_millis(50)).await;
    }
    site.admitted().await?;
    // A replica without the certificate is not ready, and says why.
    let mut c = site.operator("c", free_port()?, None).await?;
    let named = || Ok(c.answer("/readyz").contains(&missing));
    until(named, || c.answer("/readyz")).await?;
    allow(r#"["create", "list", "patch", "update", "watch"]"#)?;
    restored(&site, logs).await?;
    c.ready().await?;
    site.published().await?;
    site.admitted().await?;

    // Nobody holds it any more.
    for operator in [a, b, c] {
        operator.stop().await?;
    }
    delete()?;
    let mut operator = site.operator("d", site.port, None).await?;
    operator.ready().await?;
    site.published().await?;
    site.admitted().await
}

#[tokio::test]
async fn a_secret_of_cert_manager_is_taken_over() -> Result<()> {
    let host = "taken-webhook-service.taken.svc".to_owned();
    let made = rcgen::generate_simple_self_signed([host])?;
    let text = |pem: String| ByteString(pem.into_bytes());
    let data = json!({
        "tls.crt": text(made.cert.pem()),
        "tls.key": text(made.signing_key.serialize_pem()),
        "ca.crt": text(made.cert.pem()),
    });
    let metadata = json!({"name": "taken-webhook-server-cert", "namespace": "taken"});
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls", "metadata": metadata, "data": data,
    });
    kubectl(cluster()?, &["create", "namespace", "taken"], "")?;
    kubectl(cluster()?, &["create", "-f", "-"], &secret.to_string())?;

    let site = Site::new(cluster()?, "taken")?;
    let mut operator = site.operator("a", site.port, None).await?;
    operator.ready().await?;
    let switched = || Ok(operator.log().contains("switching to the next"));
    until(switched, || operator.log()).await?;
    site.published().await?;
    site.admitted().await?;
    // The certificate lacks a name; both CAs are published before the other is served.
    let log = operator.log();
    ensure!(log.matches("issuing the next").count() == 1, "{log}");
    ensure!(!log.contains("replacing"), "{log}");
    Ok(())
}

#[tokio::test]
async fn an_expired_certificate_is_named_and_replaced_at_once() -> Result<()> {
    let site = Site::new(cluster()?, "expired")?;
    let host = format!("{}.expired.svc", site.name("webhook-service"));
    let mut params = rcgen::CertificateParams::new(vec![host])?;
    params.not_before = rcgen::date_time_ymd(2024, 1, 1);
    params.not_after = rcgen::date_time_ymd(2024, 12, 31);
    let key = rcgen::KeyPair::generate()?;
    let certificate = params.self_signed(&key)?.pem();
    let text = |pem: &str| ByteString(pem.as_bytes().to_vec());
    let data = json!({"data": {
        "tls.crt": text(&certificate),
        "tls.key": text(&key.serialize_pem()),
        "ca.crt": text(&certificate),
    }});
    site.merge_into_secret(&data.to_string())?;
    let role = site.name("webhook-certificate-role");
    let allow = |verbs: &str| {
        let patch = format!(r#"[{{"op": "replace", "path": "/rules/0/verbs", "value": {verbs}}}]"#);
        let role = ["patch", "role", &role, "-n", site.namespace];
        site.kubectl(&[&role[..], &["--type=json", "-p", &patch]].concat(), "")
    };
    // Where it cannot be replaced, it is named.
    allow(r#"["list", "watch"]"#)?;
    let operator = site.operator("a", site.port, None).await?;
    let named = || {
        let answer = operator.answer("/readyz?verbose");
        Ok(answer.contains(
            "refuses the webhook certificate: invalid peer certificate: certificate expired",
        ))
    };
    until(named, || {
        operator.answer("/readyz?verbose") + &operator.log()
    })
    .await?;
    let error = site.create("good").await.err().context("it was admitted")?;
    ensure!(format!("{error:#}").contains("x509"), "{error:#}");
    // Then the ten minutes between the steps of a rotation are skipped.
    allow(r#"["create", "list", "patch", "update", "watch"]"#)?;
    site.admitted().await?;
    until(|| Ok(!named()?), || operator.answer("/readyz?verbose")).await?;
    ensure!(site.secret("tls.crt").await? != certificate);
    site.published().await
}
