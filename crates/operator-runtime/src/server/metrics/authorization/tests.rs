//! Tests against a function as the API server.

use std::sync::atomic::{AtomicUsize, Ordering};

use kube::client::Body;
use serde_json::{Value, json};
use tower::{BoxError, service_fn};

use super::*;

/// An API server that knows the tokens `reader` and `other`, of which only the first may read, and that
/// fails for `broken`; with the number of received reviews.
fn authorizer() -> (Authorizer, Arc<AtomicUsize>) {
    let reviews = Arc::new(AtomicUsize::new(0));
    let count = reviews.clone();
    let server = service_fn(move |request: axum::http::Request<Body>| {
        count.fetch_add(1, Ordering::Relaxed);
        async move {
            let body = request.into_body().collect_bytes().await?;
            let mut review: Value = serde_json::from_slice(&body)?;
            let spec = &review["spec"];
            if spec["token"] == "broken" {
                return Err(BoxError::from("no connection"));
            }
            review["status"] = match spec["token"].as_str() {
                Some(name @ ("reader" | "other")) => json!({ "authenticated": true, "user": {
                    "username": name, "groups": ["g"], "uid": "u", "extra": { "k": ["v"] },
                }}),
                Some(_) => json!({ "authenticated": false, "error": "invalid bearer token" }),
                None => json!({ "allowed": *spec == json!({
                    "user": "reader", "groups": ["g"], "uid": "u", "extra": { "k": ["v"] },
                    "nonResourceAttributes": { "path": "/metrics", "verb": "get" },
                })}),
            };
            let body = Body::from(serde_json::to_vec(&review)?);
            Ok(axum::http::Response::new(body))
        }
    });
    (Authorizer::new(Client::new(server, "default")), reviews)
}

#[tokio::test]
async fn only_authorized_users_may_read() {
    let (authorizer, _) = authorizer();
    let forbidden = |name: &str| Err(Refusal::Forbidden(name.to_owned()));
    let cases = [
        (Some("reader"), Method::GET, "/metrics", Ok(())),
        (
            Some("reader"),
            Method::POST,
            "/metrics",
            forbidden("reader"),
        ),
        (Some("reader"), Method::GET, "/debug", forbidden("reader")),
        (Some("other"), Method::GET, "/metrics", forbidden("other")),
        (
            Some("unknown"),
            Method::GET,
            "/metrics",
            Err(Refusal::Unauthenticated),
        ),
        (None, Method::GET, "/metrics", Err(Refusal::Unauthenticated)),
    ];
    for (token, method, path, expected) in cases {
        let found = authorizer.authorize(token, &method, path).await;
        assert_eq!(found, expected, "{token:?} {method} {path}");
    }
    let broken = authorizer
        .authorize(Some("broken"), &Method::GET, "/metrics")
        .await;
    let Err(Refusal::Unknown(error)) = broken else {
        panic!("{broken:?}");
    };
    assert!(
        error.contains("TokenReview") && error.contains("no connection"),
        "{error}"
    );
}

#[tokio::test]
async fn answers_are_remembered_and_failures_are_not() {
    let (authorizer, reviews) = authorizer();
    for (token, asked) in [("reader", 2), ("other", 2), ("unknown", 1), ("broken", 3)] {
        reviews.store(0, Ordering::Relaxed);
        for _ in 0..3 {
            _ = authorizer
                .authorize(Some(token), &Method::GET, "/metrics")
                .await;
        }
        assert_eq!(reviews.load(Ordering::Relaxed), asked, "{token}");
    }
}

#[test]
fn bearer_tokens() {
    let cases = [
        ("Bearer abc", Some("abc")),
        ("bearer  abc ", Some("abc")),
        ("Bearer ", None),
        ("Bearer", None),
        ("Basic abc", None),
        ("", None),
    ];
    for (value, token) in cases {
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, value.parse().unwrap());
        assert_eq!(bearer(&headers), token, "{value:?}");
    }
    assert_eq!(bearer(&HeaderMap::new()), None);
}

#[test]
fn refusals_say_no_more_than_they_should() {
    let cases = [
        (Refusal::Unauthenticated, 401, Some("Bearer")),
        (Refusal::Forbidden("a".to_owned()), 403, None),
        (Refusal::Unknown("secret".to_owned()), 500, None),
    ];
    for (refusal, status, challenge) in cases {
        let response = refusal.into_response();
        assert_eq!(response.status().as_u16(), status);
        let found = response.headers().get(WWW_AUTHENTICATE);
        assert_eq!(found.map(|value| value.to_str().unwrap()), challenge);
    }
}

/// Guesses do not become load for the API server, and a scraper does not queue behind them.
#[tokio::test]
async fn guessed_tokens_are_reviewed_a_few_at_a_time() {
    let (authorizer, _) = authorizer();
    let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let slow = {
        let (running, most, client) = (running.clone(), most.clone(), authorizer.client.clone());
        service_fn(move |request: axum::http::Request<Body>| {
            let (running, most, client) = (running.clone(), most.clone(), client.clone());
            async move {
                let now = running.fetch_add(1, Ordering::Relaxed) + 1;
                most.fetch_max(now, Ordering::Relaxed);
                tokio::time::sleep(Duration::from_millis(20)).await;
                let response = client.send(request).await;
                running.fetch_sub(1, Ordering::Relaxed);
                response.map_err(BoxError::from)
            }
        })
    };
    let authorizer = Arc::new(Authorizer::new(Client::new(slow, "default")));
    let read = |token: String| {
        let authorizer = authorizer.clone();
        async move {
            authorizer
                .authorize(Some(&token), &Method::GET, "/metrics")
                .await
        }
    };
    assert_eq!(read("reader".to_owned()).await, Ok(()));
    let guesses: Vec<_> = (0..2 * 1024)
        .map(|number| tokio::spawn(read(format!("guess-{number}"))))
        .collect();
    tokio::task::yield_now().await;
    // Its next review, as after a minute.
    *authorizer.users.lock() = Cache::default();
    *authorizer.decisions.lock() = Cache::default();
    let begin = Instant::now();
    assert_eq!(read("reader".to_owned()).await, Ok(()));
    assert!(
        begin.elapsed() < Duration::from_secs(1),
        "{:?}",
        begin.elapsed()
    );
    assert!(most.load(Ordering::Relaxed) <= STRANGERS + 1);
    guesses.iter().for_each(tokio::task::JoinHandle::abort);
}
