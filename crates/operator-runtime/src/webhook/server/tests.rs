//! The webhooks as their clients see them.

use std::time::Duration;

use axum::{
    body::{Body, to_bytes},
    http::{Method, Request},
};
use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::json;
use tower::ServiceExt;

use super::*;
use crate::{
    client::{Clients, fence::Fence},
    server::probes::Readiness,
    webhook::{Change, Denied, Request as Asked, Webhook},
};

async fn allow(_: &Change<ConfigMap>, _: &Asked, _: &()) -> Result<(), Denied> {
    Ok(())
}

fn site(paths: &[&str]) -> Site {
    let mut webhooks = Webhooks::default();
    for path in paths {
        webhooks.add(Webhook::validating(allow).path(path));
    }
    let mut site = Site::default();
    site.add(webhooks, &Arc::new(()));
    site
}

/// A list of what is converted asks the webhook, and would wait for itself.
#[test]
fn readiness_waits_for_what_is_not_converted() {
    use clap::Parser;

    use crate::{object::ScopedResource, webhook::conversion::tests::types};
    #[derive(Parser)]
    struct Args {
        #[command(flatten)]
        webhooks: WebhookFlags,
    }
    let kinds = [
        ScopedResource::of::<ConfigMap>(),
        ScopedResource::of::<types::v1::Widget>(),
    ];
    let awaited = |site: &Site| kinds.each_ref().map(|kind| site.awaits(kind));
    let mut both = site(&["/a"]);
    assert_eq!(awaited(&both), [false, false], "it is not served");
    both.serve_as(Args::parse_from(["operator"]).webhooks);
    assert_eq!(awaited(&both), [true, true]);
    let mut webhooks = Webhooks::<()>::default();
    webhooks.convert(types::all());
    both.add(webhooks, &Arc::new(()));
    assert_eq!(awaited(&both), [true, false]);
}

#[tokio::test]
async fn only_reviews_that_are_posted_are_answered() {
    let metrics = Metrics::default();
    let router = site(&["/a"]).router(&metrics, Vec::new());
    let review = json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "u",
            "kind": {"group": "", "version": "v1", "kind": "ConfigMap"},
            "resource": {"group": "", "version": "v1", "resource": "configmaps"},
            "operation": "CREATE",
            "object": {"metadata": {}},
        },
    });
    let (review, json) = (review.to_string(), "application/json");
    for (method, path, kind, body, expected) in [
        (Method::POST, "/a", json, &*review, 200),
        (
            Method::POST,
            "/a?timeout=10s",
            "application/json; charset=utf-8",
            &*review,
            200,
        ),
        (Method::POST, "/a", json, "", 400),
        (Method::POST, "/a", json, "{}", 400),
        (Method::POST, "/a", "text/plain", &*review, 415),
        (Method::POST, "/a", "", &*review, 415),
        (Method::GET, "/a", json, "", 405),
        (Method::PUT, "/a", json, &*review, 405),
        (Method::POST, "/b", json, &*review, 404),
        (Method::POST, "/convert", json, &*review, 404),
    ] {
        let request = Request::builder().method(&method).uri(path);
        let request = request.header(CONTENT_TYPE, kind);
        let request = request.body(Body::from(body.to_owned())).unwrap();
        let response = router.clone().oneshot(request).await.unwrap();
        assert_eq!(response.status(), expected, "{method} {path} {kind} {body}");
        if expected == 200 {
            assert_eq!(response.headers()[CONTENT_TYPE], "application/json");
            let body = to_bytes(response.into_body(), 1000).await.unwrap();
            let answer: serde_json::Value = serde_json::from_slice(&body).unwrap();
            assert_eq!(answer["response"], json!({"uid": "u", "allowed": true}));
        }
    }
    let text = metrics.text();
    for (code, count) in [(200, 2), (400, 2), (415, 2)] {
        let labels = format!(r#"{{webhook="/a",code="{code}"}}"#);
        let line = format!("controller_runtime_webhook_requests_total{labels} {count}");
        assert!(text.contains(&line), "{line}\n{text}");
    }
}

#[tokio::test]
async fn a_body_has_a_most_of_its_own() {
    for (length, told, expected) in [
        (10, true, None),
        (10, false, None),
        (11, true, Some(413)),
        (11, false, Some(413)),
    ] {
        let text = "a".repeat(length);
        let whole = match told {
            true => Body::from(text.clone()),
            false => Body::from_stream(futures::stream::iter([Ok::<_, Error>(text.clone())])),
        };
        let request = Request::builder().header(CONTENT_TYPE, "application/json");
        let answer = body(request.body(whole).unwrap(), 10).await;
        let status = answer.as_ref().err().map(|answer| answer.status().as_u16());
        assert_eq!(status, expected, "{length} {told}");
        assert!(answer.map_or(true, |body| body == text));
    }
}

#[test]
fn what_cannot_be_served_is_told() {
    let error = site(&["/a", "/a"]).check().unwrap_err().to_string();
    assert!(error.contains("two webhooks have the path `/a`"), "{error}");
    assert!(site(&["/a{"]).check().is_err());
    assert!(site(&[]).is_empty() && !site(&["/a"]).is_empty());
}

#[tokio::test]
async fn webhooks_without_a_certificate_are_not_served() {
    #[derive(clap::Parser)]
    struct Args {
        #[command(flatten)]
        flags: WebhookFlags,
    }
    let args: Args = clap::Parser::parse_from(["operator"]);
    assert_eq!(args.flags.webhook_port, 9443);
    assert!(args.flags.enable_webhooks);
    let (metrics, readiness) = (Metrics::default(), Readiness::default());
    let config = kube::Config::new("http://127.0.0.1".parse().unwrap());
    let clients = Clients::new(config, &metrics, &Fence::open(), Duration::MAX).unwrap();
    let environment = Environment {
        clients: &clients,
        metrics: &metrics,
        readiness: &readiness,
        declarations: Vec::new(),
        conversions: &[],
    };
    let bound = Endpoint::Flags(Box::new(args.flags)).bind(environment, false);
    let error = bound.await.map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("--webhook-cert-path"), "{error}");
    assert!(!error.contains('\n'), "{error}");
}
