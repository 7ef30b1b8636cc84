//! Responses of the webhook server to clients other than the API server.

use anyhow::{Context, Result, ensure};
use axum::body::{Body, to_bytes};
use http::{Method, Request, header::CONTENT_TYPE};
use k8s_openapi::api::admissionregistration::v1::ValidatingWebhookConfiguration;
use kube::{
    Api, Client, Config,
    api::{DynamicObject, PostParams},
    core::ApiResource,
};
use operator_runtime::envtest::NAMESPACE;
use serde_json::{Value, from_slice, from_value, json};

use crate::webhooks::{OPTIONS, cluster, gadget::Gadget};

/// A client of the webhooks with the API server's trust.
async fn webhooks() -> Result<Client> {
    let api: Api<ValidatingWebhookConfiguration> = Api::all(cluster()?.client()?);
    let name = format!("{}-validating", OPTIONS.name);
    let webhooks = api.get(&name).await?.webhooks.context("webhooks")?;
    let config = webhooks
        .into_iter()
        .next()
        .context("a webhook")?
        .client_config;
    let url: http::Uri = config.url.context("an URL")?.parse()?;
    let address = format!("https://{}", url.authority().context("a host")?);
    let mut client = Config::new(address.parse()?);
    let ca = config.ca_bundle.context("a certificate authority")?;
    client.root_cert = Some(vec![rustls_der(&ca.0)?]);
    client.proxy_url = None;
    Ok(Client::try_from(client)?)
}

fn rustls_der(pem: &[u8]) -> Result<Vec<u8>> {
    use rustls::pki_types::{CertificateDer, pem::PemObject};
    Ok(CertificateDer::from_pem_slice(pem)?.to_vec())
}

const PATH: &str = "/mutate-test-example-com-v1-gadget";

/// A review of a new gadget with a color of this many bytes.
fn review(version: &str, bytes: usize) -> String {
    let object = json!({
        "apiVersion": "test.example.com/v1",
        "kind": "Gadget",
        "metadata": {"name": "a"},
        "spec": {"color": "r".repeat(bytes)},
    });
    let review = json!({
        "kind": "AdmissionReview",
        "apiVersion": version,
        "request": {
            "uid": "u",
            "kind": {"group": "test.example.com", "version": "v1", "kind": "Gadget"},
            "resource": {"group": "test.example.com", "version": "v1", "resource": "gadgets"},
            "operation": "CREATE",
            "object": object,
        },
    });
    review.to_string()
}

#[tokio::test]
async fn reviews_that_cannot_be_answered_are_refused() -> Result<()> {
    const MIB: usize = 1024 * 1024;
    const V1: &str = "admission.k8s.io/v1";
    let client = webhooks().await?;
    let (json, good) = ("application/json", review(V1, 10));
    let half = good[..good.len() / 2].to_owned();
    for (what, method, path, kind, body, expected) in [
        ("good", Method::POST, PATH, json, good.clone(), 200),
        (
            "another version",
            Method::POST,
            PATH,
            json,
            review("admission.k8s.io/v1beta1", 10),
            400,
        ),
        ("truncated", Method::POST, PATH, json, half, 400),
        ("empty", Method::POST, PATH, json, String::new(), 400),
        (
            "malformed",
            Method::POST,
            PATH,
            json,
            good.replace(':', ";"),
            400,
        ),
        (
            "for another webhook",
            Method::POST,
            "/mutate--v1-pod",
            json,
            good.clone(),
            200,
        ),
        (
            "at another path",
            Method::POST,
            "/mutate",
            json,
            good.clone(),
            200,
        ),
        (
            "another method",
            Method::GET,
            PATH,
            json,
            String::new(),
            405,
        ),
        ("no JSON", Method::POST, PATH, "application/yaml", good, 415),
        (
            "large",
            Method::POST,
            PATH,
            json,
            review(V1, 3 * MIB + 1),
            200,
        ),
        (
            "as large as can be",
            Method::POST,
            PATH,
            json,
            review(V1, 3 * MIB),
            200,
        ),
        (
            "too large",
            Method::POST,
            PATH,
            json,
            review(V1, 4 * MIB),
            413,
        ),
    ] {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(CONTENT_TYPE, kind);
        let request = request.body(kube::client::Body::from(body.into_bytes()))?;
        let response = client
            .send(request)
            .await
            .with_context(|| what.to_owned())?;
        ensure!(response.status() == expected, "{what}: {response:?}");
        if expected == 200 {
            let body = to_bytes(Body::new(response.into_body()), usize::MAX).await?;
            let answer: Value = from_slice(&body)?;
            let answer = &answer["response"];
            ensure!(answer["uid"] == "u", "{what}: {answer}");
            ensure!(answer["allowed"] == true, "{what}: {answer}");
            // As during a rollout.
            let warned = answer["warnings"].to_string().contains("does not handle");
            ensure!(warned == what.contains(" another "), "{what}: {answer}");
        }
    }
    Ok(())
}

/// The API server's own limit.
#[tokio::test]
async fn an_object_of_almost_three_mebibytes_gets_its_defaults() -> Result<()> {
    let resource = ApiResource::erase::<Gadget>(&());
    let api: Api<DynamicObject> = Api::namespaced_with(cluster()?.client()?, NAMESPACE, &resource);
    let object: DynamicObject = from_value(json!({
        "apiVersion": "test.example.com/v1",
        "kind": "Gadget",
        "metadata": {"name": "large"},
        "spec": {"color": "r".repeat(3 * 1024 * 1024 - 1000)},
    }))?;
    // It does not fit into etcd.
    let params = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    let created = api.create(&params, &object).await?;
    ensure!(created.data["spec"]["size"] == 1);
    Ok(())
}
