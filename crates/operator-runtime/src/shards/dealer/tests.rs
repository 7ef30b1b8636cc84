//! The dealer against a function as the API server, which has no Lease of a member, and permits no write.

use axum::http::{Method, Request, Response, StatusCode};
use kube::{Client, client::Body};
use serde_json::json;
use tower::{BoxError, service_fn};

use super::*;
use crate::metrics::Metrics;

fn server() -> Client {
    let server = service_fn(|request: Request<Body>| async move {
        let query = request.uri().query().unwrap_or_default();
        if query.contains("watch=") {
            return std::future::pending().await;
        }
        let (code, answer) = if request.method() == Method::GET {
            let none = json!({
                "apiVersion": "coordination.k8s.io/v1",
                "kind": "LeaseList",
                "metadata": { "resourceVersion": "1" },
                "items": [],
            });
            (StatusCode::OK, none)
        } else {
            let refused = json!({
                "apiVersion": "v1",
                "kind": "Status",
                "metadata": {},
                "status": "Failure",
                "message": "configmaps is forbidden",
                "reason": "Forbidden",
                "code": 403,
            });
            (StatusCode::FORBIDDEN, refused)
        };
        let mut response = Response::new(Body::from(serde_json::to_vec(&answer)?));
        *response.status_mut() = code;
        Ok::<_, BoxError>(response)
    });
    Client::new(server, "default")
}

/// Deals until `done`, for at most ten seconds.
async fn deal(
    seen: Option<Seen>,
    leads: watch::Receiver<bool>,
    metrics: &Metrics,
    progress: &Progress,
    done: impl Future<Output = ()>,
) {
    let client = server();
    let (_assignment, seen) = watch::channel(seen);
    let dealer = Dealer {
        leases: Api::namespaced(client.clone(), "default"),
        objects: Api::namespaced(client.clone(), "default"),
        name: "operator".to_owned(),
        object: "operator-shards".to_owned(),
        timing: Timing {
            lease: Duration::from_secs(15),
            renew: Duration::from_secs(10),
            retry: Duration::from_millis(50),
            poll: Duration::from_secs(2),
        },
        limit: None,
        leads,
        seen,
        metrics: metrics.shards(),
        progress: progress.clone(),
        others: watch::channel(false).0,
        identity: "pod_1".to_owned(),
        namespace: "default".to_owned(),
        events: Api::namespaced(client, "default"),
    };
    tokio::select! {
        done = timeout(Duration::from_secs(10), done) => done.unwrap(),
        () = dealer.run() => unreachable!(),
    }
}

/// Waits until the metrics have this line.
async fn shown(metrics: &Metrics, expected: &str) {
    let is_shown = |text: String| text.lines().any(|line| line == expected);
    while !is_shown(metrics.text()) {
        sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn who_does_not_lead_shows_nothing_of_all_replicas() {
    let metrics = Metrics::default();
    let (leads, leading) = watch::channel(true);
    let seen = Seen {
        name: "operator-shards".to_owned(),
        uid: "uid".to_owned(),
        resource_version: "1".to_owned(),
        assignment: Ok(Assignment::new(SLOTS)),
    };
    let watched = async {
        shown(&metrics, "operator_shard_slots_unserved 64").await;
        leads.send_replace(false);
        shown(&metrics, "operator_shard_slots_unserved 0").await;
    };
    deal(Some(seen), leading, &metrics, &Progress::default(), watched).await;
}

#[tokio::test]
async fn a_leader_that_cannot_write_the_assignment_shows_it() {
    let (metrics, progress) = (Metrics::default(), Progress::default());
    let (_leads, leading) = watch::channel(true);
    progress.hears(false);
    let later = || since_boot() + Duration::from_secs(60);
    let verdict = || progress.verdict("operator-shards", later(), |_| String::new());
    let watched = async {
        shown(&metrics, "operator_shard_slots_unserved 64").await;
        let text = || verdict().unwrap().unwrap_or_default();
        while !text().starts_with("it leads, and cannot deal the slots for ") {
            sleep(Duration::from_millis(10)).await;
        }
        let text = text();
        assert!(text.contains("configmaps is forbidden"), "{text}");
    };
    deal(None, leading, &metrics, &progress, watched).await;
}
