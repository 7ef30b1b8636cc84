//! Waits until the API server serves a type. A namespaced Role can only check that through discovery.

use std::time::Duration;

use kube::Client;
use tokio::time::{sleep, timeout};

use crate::{error::chain, object::ScopedResource};

/// The polling interval, so that a CRD installed after the operator is found soon.
pub(crate) const PERIOD: Duration = Duration::from_secs(2);
/// The polling interval for a type that may never be served.
pub(crate) const LONG_PERIOD: Duration = Duration::from_secs(10);
const TIMEOUT: Duration = Duration::from_secs(10);

/// Waits until the API server serves `kind`; reports each new reason for waiting to `waiting`.
pub(crate) async fn wait(client: &Client, kind: &ScopedResource, waiting: impl Fn(&str)) {
    let mut reported = String::new();
    loop {
        let reason = match serves(client, kind).await {
            Ok(true) => break,
            Ok(false) => "the API server does not serve it".to_owned(),
            Err(reason) => reason,
        };
        if reported != reason {
            tracing::warn!("waiting for {kind}: {reason}");
            waiting(&format!("waiting for {kind}: {reason}"));
            reported = reason;
        }
        sleep(PERIOD).await;
    }
    if !reported.is_empty() {
        tracing::info!("found {kind}");
    }
}

/// Whether the API server serves `kind`. The error says why it does not tell.
pub(crate) async fn serves(client: &Client, kind: &ScopedResource) -> Result<bool, String> {
    find(client, &kind.resource.api_version, &kind.resource.plural).await
}

/// Whether the API server serves a resource in an API version, such as `apps/v1`. The error says why it does not tell.
pub(crate) async fn find(client: &Client, version: &str, plural: &str) -> Result<bool, String> {
    let resources = async {
        match version.contains('/') {
            true => client.list_api_group_resources(version).await,
            false => client.list_core_api_resources(version).await,
        }
    };
    let offers = |name: &str| name == plural;
    match timeout(TIMEOUT, resources).await {
        Ok(Ok(list)) => Ok(list.resources.iter().any(|found| offers(&found.name))),
        Ok(Err(kube::Error::Api(status))) if status.code == 404 => Ok(false),
        Ok(Err(error)) => Err(chain(&error)),
        Err(_) => Err("the API server does not answer".to_owned()),
    }
}
