//! The dealer against a function as the API server, which has no Lease of a member.

use axum::http::{Request, Response};
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
        let none = json!({
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "LeaseList",
            "metadata": { "resourceVersion": "1" },
            "items": [],
        });
        Ok::<_, BoxError>(Response::new(Body::from(serde_json::to_vec(&none)?)))
    });
    Client::new(server, "default")
}

#[tokio::test]
async fn who_does_not_lead_shows_nothing_of_all_replicas() {
    let metrics = Metrics::default();
    let (leads, leading) = watch::channel(true);
    let client = server();
    let seen = Seen {
        name: "operator-shards".to_owned(),
        uid: "uid".to_owned(),
        resource_version: "1".to_owned(),
        assignment: Ok(Assignment::new(SLOTS)),
    };
    let (_assignment, seen) = watch::channel(Some(seen));
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
        leads: leading,
        seen,
        metrics: metrics.shards(),
        others: watch::channel(false).0,
        identity: "pod_1".to_owned(),
        namespace: "default".to_owned(),
        events: Api::namespaced(client, "default"),
    };
    let shown = async |expected: &str| {
        let is_shown = |text: String| text.lines().any(|line| line == expected);
        while !is_shown(metrics.text()) {
            sleep(Duration::from_millis(10)).await;
        }
    };
    let watched = async {
        shown("operator_shard_slots_unserved 64").await;
        leads.send_replace(false);
        shown("operator_shard_slots_unserved 0").await;
    };
    tokio::select! {
        watched = timeout(Duration::from_secs(10), watched) => watched.unwrap(),
        () = dealer.run() => unreachable!(),
    }
}
