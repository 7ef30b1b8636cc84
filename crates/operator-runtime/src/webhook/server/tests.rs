//! Tests of the webhook server through its clients.

use std::{convert::Infallible, time::Duration};

use axum::{
    body::{Body, Bytes, to_bytes},
    http::{Method, Request},
};
use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::json;
use tower::ServiceExt;

use super::{entrance::ADMISSION, *};
use crate::{
    client::{Clients, Fences},
    server::probes::Readiness,
    webhook::{Change, Denied, MatchPolicy, Request as Asked, Webhook},
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

/// `make run` writes configurations from these declarations, `make manifests` from [`Webhooks::declarations`].
#[test]
fn declarations_match_those_in_the_manifests() {
    use crate::webhook::conversion::tests::types::{all, v1, v1alpha1, v2};
    async fn validate<K: Sync>(_: &Change<K>, _: &Asked, _: &()) -> Result<(), Denied> {
        Ok(())
    }
    let mut webhooks = Webhooks::default();
    webhooks.convert(all());
    webhooks.add(Webhook::<v1::Widget, _>::validating(validate));
    webhooks.add(Webhook::<v1alpha1::Widget, _>::validating(validate));
    webhooks.add(Webhook::<v2::Widget, _>::validating(validate));
    let exact = [Some(MatchPolicy::Exact); 3];
    let manifests = webhooks.declarations();
    let policies: Vec<_> = manifests.iter().map(|it| it.match_policy).collect();
    assert_eq!(policies, exact);
    let mut site = Site::default();
    site.add(webhooks, &Arc::new(()));
    let served = site.declarations();
    let policies: Vec<_> = served.iter().map(|it| it.match_policy).collect();
    assert_eq!(policies, exact);
}

/// Listing a converted type calls the webhook, so readiness would wait for itself.
#[test]
fn readiness_waits_only_for_types_without_conversion() {
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
        // The path of a newer replica.
        (Method::POST, "/b", json, &*review, 200),
        (Method::POST, "/b", json, "{}", 404),
        (Method::POST, "/convert", json, "{}", 404),
        (Method::GET, "/b", json, "", 405),
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
            let mut expected = json!({"uid": "u", "allowed": true});
            if path == "/b" {
                let warning = "allowed without its webhook: `/b` does not handle ConfigMap in this version of \
                               the operator";
                expected["warnings"] = json!([warning]);
            }
            assert_eq!(answer["response"], expected);
        }
    }
    let text = metrics.text();
    for (code, count) in [(200, 2), (400, 2), (415, 2)] {
        let labels = format!(r#"{{webhook="/a",code="{code}"}}"#);
        let line = format!("controller_runtime_webhook_requests_total{labels} {count}");
        assert!(text.contains(&line), "{line}\n{text}");
    }
}

/// All connections at their worst fit a generated Deployment, beside the memory of requests.
#[test]
fn connections_fit_the_memory_limit() {
    const MIB: usize = 1 << 20;
    // An operator without objects, after its start.
    let rest = 16 * MIB;
    for http2 in [false, true] {
        let connections = Limits::WEBHOOKS.worst(true, http2)
            + Limits::METRICS.worst(true, http2)
            + Limits::PROBES.worst(false, false);
        let requests = usize::try_from(crate::webhook::memory::DEFAULT).unwrap();
        let all = connections + requests + rest;
        assert!(all < 128 * MIB, "{} KiB", all / 1024);
    }
}

/// A request with this body.
fn posted(body: Body) -> Request<Body> {
    let request = Request::builder().header(CONTENT_TYPE, "application/json");
    request.body(body).unwrap()
}

const SMALL: Cost = Cost {
    most: 10,
    patience: Duration::from_secs(60),
};

#[tokio::test]
async fn a_body_has_its_own_limit() {
    let memory = Memory::new(1 << 20);
    for (length, announced, expected) in [
        (10, true, None),
        (10, false, None),
        (11, true, Some(413)),
        (11, false, Some(413)),
    ] {
        let text = "a".repeat(length);
        let whole = match announced {
            true => Body::from(text.clone()),
            false => Body::from_stream(futures::stream::iter([Ok::<_, Error>(text.clone())])),
        };
        let answer = body(posted(whole), SMALL, &memory).await;
        let status = answer.as_ref().err().map(|answer| answer.status().as_u16());
        assert_eq!(status, expected, "{length} {announced}");
        assert!(answer.map_or(true, |body| body.text == text.as_bytes()));
    }
    assert_eq!(memory.free(), 1 << 20);
}

/// The status, whether there is a `Retry-After`, and the text.
async fn refused(answer: Response) -> (u16, bool, String) {
    let (head, body) = answer.into_parts();
    let text = to_bytes(body, 1000).await.unwrap();
    let text = String::from_utf8(text.to_vec()).unwrap();
    let again = head.headers.contains_key(RETRY_AFTER);
    (head.status.as_u16(), again, text)
}

#[tokio::test]
async fn a_body_waits_for_memory_and_is_refused_after_a_while() {
    let mut cost = Cost {
        most: usize::MAX,
        patience: Duration::from_millis(100),
    };
    let memory = Memory::new(120 << 10);
    let text = "a".repeat(5 << 10);
    let first = body(posted(text.clone().into()), cost, &memory).await;
    let Whole { text: _, taken } = first.ok().unwrap();
    assert_eq!(memory.free(), 20 << 10);
    let second = body(posted(text.clone().into()), cost, &memory).await;
    let expected = "other requests use all of `--webhook-memory`";
    let answer = refused(second.err().unwrap()).await;
    assert_eq!(answer, (503, true, expected.to_owned()));
    cost.patience = Duration::from_secs(60);
    let later = async {
        tokio::task::yield_now().await;
        drop(taken);
    };
    let (second, ()) = tokio::join!(body(posted(text.clone().into()), cost, &memory), later);
    assert_eq!(second.ok().unwrap().text, text.as_bytes());

    let larger = body(posted("a".repeat(6 << 10).into()), cost, &memory).await;
    let (status, _, text) = refused(larger.err().unwrap()).await;
    let expected = "expected at most 5632 bytes, the limit that follows from `--webhook-memory`";
    assert_eq!((status, &*text), (413, expected));
}

#[tokio::test]
async fn slow_clients_do_not_keep_memory() {
    let mut memory = Memory::default();
    (memory.first, memory.slowest) = (Duration::from_millis(100), Duration::from_millis(100));
    let never = futures::stream::pending::<Result<Bytes, Infallible>>();
    let answer = body(posted(Body::from_stream(never)), ADMISSION, &memory).await;
    let answer = refused(answer.err().unwrap()).await;
    let expected = "the body is too slow: 0 bytes in 100ms".to_owned();
    assert_eq!(answer, (408, false, expected));
    let all = memory.free();

    let large = || "a".repeat(3 << 20);
    let whole = async || {
        body(posted(large().into()), ADMISSION, &memory)
            .await
            .ok()
            .unwrap()
    };
    let Whole { text, taken } = whole().await;
    let unread = accept(text, taken, &memory);
    assert!(memory.free() < all / 2);
    // Waits until the request is given up.
    let Whole { text, taken } = whole().await;
    let cut = to_bytes(unread.into_body(), usize::MAX).await.unwrap();
    assert!(cut.len() < 3 << 20);
    let read = accept(text, taken, &memory);
    assert_eq!(read.headers()[CONTENT_LENGTH], "3145728");
    let read = to_bytes(read.into_body(), usize::MAX).await.unwrap();
    assert_eq!(read, large());
    whole().await;
}

#[test]
fn an_invalid_declaration_is_reported() {
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
    let clients = Clients::new(config, &metrics, &Fences::open(), Duration::MAX).unwrap();
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
