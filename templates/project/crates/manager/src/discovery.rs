//! Waiting until the API server offers a type, which a Role can ask only through discovery.

use std::time::Duration;

use kube::Client;
use tokio::time::{sleep, timeout};

use crate::{logs::chain, object::Type, probes::Readiness};

/// Between two questions, so that a CRD installed after the operator is found soon.
const PERIOD: Duration = Duration::from_secs(2);
const TIMEOUT: Duration = Duration::from_secs(10);

/// Returns when the API server offers all `types`; says once what it waits for.
pub(crate) async fn wait(
    client: &Client,
    controller: &'static str,
    types: &[Type],
    readiness: &Readiness,
) {
    for kind in types {
        let mut told = String::new();
        while let Err(reason) = find(client, kind).await {
            if told != reason {
                tracing::warn!(controller, "waiting for {kind}: {reason}");
                readiness.fail(controller, format!("waiting for {kind}"));
                told = reason;
            }
            sleep(PERIOD).await;
        }
        if !told.is_empty() {
            tracing::info!(controller, "found {kind}");
        }
    }
}

async fn find(client: &Client, kind: &Type) -> Result<(), String> {
    let resources = async {
        match kind.resource.api_version.contains('/') {
            true => {
                client
                    .list_api_group_resources(&kind.resource.api_version)
                    .await
            }
            false => {
                client
                    .list_core_api_resources(&kind.resource.api_version)
                    .await
            }
        }
    };
    match timeout(TIMEOUT, resources).await {
        Ok(Ok(list))
            if list
                .resources
                .iter()
                .any(|offered| offered.name == kind.resource.plural) =>
        {
            Ok(())
        }
        Ok(Ok(_)) => Err("the API server does not offer it".to_owned()),
        Ok(Err(kube::Error::Api(status))) if status.is_not_found() => {
            Err("the API server does not offer it".to_owned())
        }
        Ok(Err(error)) => Err(chain(&error)),
        Err(_) => Err("the API server does not answer".to_owned()),
    }
}
