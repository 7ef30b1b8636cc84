//! Webhooks served from a developer's machine. While the operator runs there, the webhook configurations
//! point at it by URL, with the caBundle of a CA for this run.

mod redirect;
mod saved;

use std::{
    net::Ipv6Addr,
    time::{Duration, SystemTime},
};

use futures::future::{join_all, try_join_all};
use k8s_openapi::{ByteString, api::admissionregistration::v1::WebhookClientConfig};
use kube::Client;
use rustls::pki_types::ServerName;
use serde::Serialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{
    Environment, Target,
    issue::{Issued, issue},
};
use crate::{
    error::{Error, TaskError, chain},
    runnable::Runnable,
    server::probes::Readiness,
    webhook::{
        CONVERT,
        configuration::{mutating, validating},
    },
};
use redirect::Redirect;

/// Longer than any local run.
const LIFETIME: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// The name of the readiness check.
const CHECK: &str = "webhooks-from-here";

/// The URL and the CA of this machine's webhook server.
#[derive(Clone, Debug)]
struct Here {
    /// `https://HOST:PORT`
    url: String,
    ca: ByteString,
}

/// A certificate for `host`, and the task that points the API server at `host` for these webhooks until it
/// is stopped.
///
/// # Errors
/// If `host` is invalid.
pub(super) fn serve(
    host: &str,
    port: u16,
    targets: Vec<Target>,
    environment: &Environment,
) -> Result<(Issued, Runnable), Error> {
    let (here, issued) = Here::new(host, port)?;
    let redirect = |target| {
        let wanted = here.wanted(&target, environment)?;
        Ok(Redirect::new(target, wanted, here.clone()))
    };
    let redirects = targets.into_iter().map(redirect);
    let redirects = redirects
        .collect::<serde_json::Result<Vec<_>>>()
        .map_err(|error| Error::Webhooks(error.to_string()))?;
    // Not fenced: there is one local operator, with leadership or not.
    let client = environment.clients.unfenced.clone();
    let readiness = environment.readiness.clone();
    readiness.expect(CHECK);
    let task = Runnable::new("the local webhooks", false, |stop| async move {
        run(&redirects, &client, &readiness, &stop).await
    });
    Ok((issued, task))
}

/// Redirects, waits for the stop, and restores everything.
async fn run(
    redirects: &[Redirect],
    client: &Client,
    readiness: &Readiness,
    stop: &CancellationToken,
) -> Result<(), TaskError> {
    let begin = try_join_all(redirects.iter().map(|redirect| redirect.begin(client)));
    let begun = stop.run_until_cancelled(begin).await;
    if let Some(Ok(_)) = &begun {
        readiness.pass(CHECK);
        stop.cancelled().await;
    }
    let end = redirects.iter().map(|redirect| async move {
        if let Err(error) = redirect.end(client).await {
            let error = chain(&error);
            tracing::error!(
                error,
                "cannot restore {redirect}; deploy again to restore it"
            );
        }
    });
    join_all(end).await;
    match begun {
        Some(Err(error)) => Err(error.into()),
        _ => Ok(()),
    }
}

impl Here {
    fn new(host: &str, port: u16) -> Result<(Self, Issued), Error> {
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        ServerName::try_from(bare).map_err(|_| Error::WebhookHost(host.to_owned()))?;
        let authority = match bare.parse::<Ipv6Addr>() {
            Ok(address) => format!("[{address}]:{port}"),
            Err(_) => format!("{bare}:{port}"),
        };
        let issued = issue(&[bare.to_owned()], SystemTime::now(), LIFETIME);
        let issued = issued.map_err(|error| Error::SelfSigned(error.to_string()))?;
        let here = Self {
            url: format!("https://{authority}"),
            ca: ByteString(issued.ca.clone().into_bytes()),
        };
        Ok((here, issued))
    }

    /// The wanted content of a target: the webhooks of a configuration, or the conversion of a CRD.
    fn wanted(&self, target: &Target, environment: &Environment) -> serde_json::Result<Value> {
        let declarations = &environment.declarations;
        match target {
            Target::Mutating(name) => {
                let found = mutating(name, declarations, |path| self.client(path));
                webhooks(found.and_then(|found| found.webhooks))
            }
            Target::Validating(name) => {
                let found = validating(name, declarations, |path| self.client(path));
                webhooks(found.and_then(|found| found.webhooks))
            }
            Target::Definition(_) => Ok(json!({
                "strategy": "Webhook",
                "webhook": {
                    "clientConfig": self.client(CONVERT),
                    "conversionReviewVersions": ["v1"],
                },
            })),
        }
    }

    fn client(&self, path: &str) -> WebhookClientConfig {
        WebhookClientConfig {
            ca_bundle: Some(self.ca.clone()),
            url: Some(format!("{}{path}", self.url)),
            service: None,
        }
    }
}

fn webhooks<W: Serialize>(webhooks: Option<Vec<W>>) -> serde_json::Result<Value> {
    serde_json::to_value(webhooks.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts() {
        for (host, url) in [
            ("192.0.2.1", "https://192.0.2.1:9443/a"),
            ("2001:db8::1", "https://[2001:db8::1]:9443/a"),
            ("[2001:db8::1]", "https://[2001:db8::1]:9443/a"),
            ("laptop.example.com", "https://laptop.example.com:9443/a"),
        ] {
            let (here, issued) = Here::new(host, 9443).unwrap();
            let client = here.client("/a");
            assert_eq!(client.url.as_deref(), Some(url));
            assert_eq!(client.ca_bundle.unwrap().0, issued.ca.as_bytes());
        }
        for host in ["", "https://192.0.2.1", "192.0.2.1:9443", "a b", "a/b"] {
            let error = Here::new(host, 9443).unwrap_err().to_string();
            assert!(
                error.contains(&format!("`{host}` is not a host")),
                "{error}"
            );
        }
    }
}
