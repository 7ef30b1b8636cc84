//! The task of every replica: fills an empty Secret, and serves its certificate.

use std::{convert::Infallible, time::Duration};

use k8s_openapi::api::core::v1::Secret;
use tokio::sync::watch::Sender;

use super::{
    super::{
        contents::{Contents, Slot},
        follow::follow,
    },
    RETRY, SelfManaged, changed,
};
use crate::{cache::paced, client::Clients, server::certificate::Current};

impl SelfManaged {
    /// Sets `current` to the certificate of the Secret, now and after each change. Passes the Secret to
    /// `found`, and calls `ready` with the first certificate.
    pub(super) async fn serve(
        &self,
        clients: &Clients,
        found: &Sender<Option<Secret>>,
        current: &Current,
        ready: impl Fn(),
    ) -> Infallible {
        let secrets = self.secrets(&paced(clients.watches.clone()));
        let follow = follow(secrets, &self.secret, |secret| {
            if secret.is_none() {
                let (name, namespace) = (&self.secret, &self.service.namespace);
                tracing::warn!(
                    name,
                    namespace,
                    "the Secret for the webhook certificate does not exist"
                );
            }
            found.send_replace(secret);
        });
        let load = async {
            let (mut found, mut served, mut logged) = (found.subscribe(), None, None);
            loop {
                let secret = found.borrow_and_update().clone();
                let contents = secret.as_ref().map(Contents::of).unwrap_or_default();
                let mut wait = Duration::MAX;
                match (contents.certificate(Slot::Serving), secret) {
                    (Ok(certificate), _) => {
                        logged = None;
                        if served.as_ref() != Some(&certificate.cert) {
                            served = Some(certificate.cert.clone());
                            current.set(certificate);
                            ready();
                            tracing::info!("serving a new webhook certificate");
                        }
                    }
                    (Err(_), Some(secret)) if contents.is_empty() => {
                        if let Err(error) = self.fill(clients, secret).await {
                            tracing::warn!(error, "cannot issue the webhook certificate yet");
                            wait = RETRY;
                        }
                    }
                    (Err(_), None) => {}
                    // The leader repairs it.
                    (Err(error), Some(_)) => {
                        if logged.as_ref() != Some(&error) {
                            let name = &self.secret;
                            tracing::warn!(name, error, "the Secret holds no webhook certificate");
                            logged = Some(error);
                        }
                    }
                }
                changed(&mut found, wait).await;
            }
        };
        tokio::select! {
            never = follow => never,
            never = load => never,
        }
    }

    /// Issues the first certificate. If several replicas try, one succeeds, and the others see its
    /// certificate.
    async fn fill(&self, clients: &Clients, secret: Secret) -> Result<(), String> {
        let contents = Contents::begin(self.issue()?);
        self.write(&clients.unfenced, secret, &contents).await
    }
}
