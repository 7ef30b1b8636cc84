//! What every replica does: fill the Secret if nobody has, and serve what it holds.

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
    /// Gives `current` the certificate of the Secret, now and whenever it changes. Tells `found` what
    /// the Secret is, and is `ready` with the first certificate.
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
                    "there is no such Secret for the webhook certificate"
                );
            }
            found.send_replace(secret);
        });
        let load = async {
            let (mut found, mut served, mut told) = (found.subscribe(), None, None);
            loop {
                let secret = found.borrow_and_update().clone();
                let contents = secret.as_ref().map(Contents::of).unwrap_or_default();
                let mut wait = Duration::MAX;
                match (contents.certificate(Slot::Serving), secret) {
                    (Ok(certificate), _) => {
                        told = None;
                        if served.as_ref() != Some(&certificate.cert) {
                            served = Some(certificate.cert.clone());
                            current.set(certificate);
                            ready();
                            tracing::info!("serving a new webhook certificate");
                        }
                    }
                    (Err(_), Some(secret)) if contents.is_empty() => {
                        if let Err(error) = self.fill(clients, secret).await {
                            tracing::warn!(error, "the webhook certificate is not there yet");
                            wait = RETRY;
                        }
                    }
                    (Err(_), None) => {}
                    // The leader mends it.
                    (Err(error), Some(_)) => {
                        if told.as_ref() != Some(&error) {
                            let name = &self.secret;
                            tracing::warn!(name, error, "the Secret holds no webhook certificate");
                            told = Some(error);
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

    /// Makes the first certificate. Of several replicas that try, one does, and the others see its.
    async fn fill(&self, clients: &Clients, secret: Secret) -> Result<(), String> {
        let contents = Contents::begin(self.issue()?);
        self.write(&clients.unfenced, secret, &contents).await
    }
}
