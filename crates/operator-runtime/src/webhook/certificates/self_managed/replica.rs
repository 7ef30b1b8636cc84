//! The task of every replica: serves the certificate of the Secret, fills an empty Secret, and restores a
//! deleted one.

use std::{
    convert::Infallible,
    time::{Duration, SystemTime},
};

use k8s_openapi::api::core::v1::{ObjectReference, Secret};
use kube::{
    Resource,
    runtime::events::{Event, EventType, Recorder, Reporter},
};
use rustls::pki_types::CertificateDer;
use tokio::sync::watch::Sender;

use super::{
    super::{
        contents::{Contents, Slot},
        follow::follow,
        publish::MANAGER,
    },
    CHECK, RETRY, SelfManaged, View, changed,
};
use crate::{
    cache::paced,
    client::Clients,
    clock::since_boot,
    server::{certificate::Current, probes::Readiness},
    webhook::repeated::Repeated,
};

/// The longest interval between checks of the served certificate.
const CHECKED: Duration = Duration::from_secs(60);

impl SelfManaged {
    /// Sets `current` to the certificate of the Secret, now and after each change. Passes the Secret to
    /// `view`. The replica is ready with the first certificate; until then, `readiness` has the reason.
    pub(super) async fn serve(
        &self,
        clients: &Clients,
        view: &Sender<View>,
        current: &Current,
        readiness: &Readiness,
    ) -> Infallible {
        let secrets = self.secrets(&paced(clients.watches.clone()));
        let follow = follow(secrets, &self.secret, |found| match found {
            Ok(secret) => view.send_modify(|view| view.secret = Some(secret)),
            // A replica that has seen the Secret keeps what it serves.
            Err(error) if view.borrow().secret.is_none() => readiness.fail(CHECK, error),
            Err(_) => {}
        });
        let reporter = Reporter {
            controller: MANAGER.to_owned(),
            instance: std::env::var("HOSTNAME").ok(),
        };
        let replica = Replica {
            own: self,
            clients,
            view,
            current,
            readiness,
            recorder: Recorder::new(clients.unfenced.clone(), reporter),
            served: None,
            missing: None,
            logged: Repeated::default(),
        };
        tokio::select! {
            never = follow => never,
            never = replica.run() => never,
        }
    }
}

struct Replica<'a> {
    own: &'a SelfManaged,
    clients: &'a Clients,
    view: &'a Sender<View>,
    current: &'a Current,
    readiness: &'a Readiness,
    recorder: Recorder,
    /// The served certificate.
    served: Option<Vec<CertificateDer<'static>>>,
    /// Since when the Secret is known to be missing.
    missing: Option<Duration>,
    logged: Repeated,
}

impl Replica<'_> {
    async fn run(mut self) -> Infallible {
        let mut seen = self.view.subscribe();
        loop {
            let View { secret, held } = seen.borrow_and_update().clone();
            let wait = match secret {
                None => Duration::MAX,
                Some(None) => self.restore(&held).await,
                Some(Some(secret)) => {
                    self.missing = None;
                    self.load(secret).await
                }
            };
            changed(&mut seen, wait).await;
        }
    }

    /// Serves the certificate of the Secret. Returns the time until the next attempt.
    async fn load(&mut self, secret: Secret) -> Duration {
        let contents = Contents::of(&secret);
        let error = match contents.certificate(Slot::Serving) {
            Ok(certificate) => {
                if self.served.as_ref() != Some(&certificate.cert) {
                    self.served = Some(certificate.cert.clone());
                    self.current.set(certificate);
                    tracing::info!("serving a new webhook certificate");
                }
                let new = |view: &mut View| {
                    let new = view.held != contents;
                    view.held = contents;
                    new
                };
                self.view.send_if_modified(new);
                return self.check().await;
            }
            Err(error) => error,
        };
        let name = &self.own.secret;
        if contents.is_empty() {
            // If several replicas try, one succeeds, and the others see its certificate.
            let issued = self.own.issue().map(Contents::begin);
            let filled = match issued {
                Ok(contents) => {
                    let client = &self.clients.unfenced;
                    self.own.write(client, secret, &contents).await
                }
                Err(error) => Err(error),
            };
            if let Err(error) = filled {
                let text = format!("cannot issue the webhook certificate yet: {error}");
                self.report("CertificateNotIssued", &text).await;
                return RETRY;
            }
        } else {
            // The leader repairs it.
            let text = format!("Secret `{name}` holds no webhook certificate: {error}");
            self.report("InvalidCertificate", &text).await;
        }
        Duration::MAX
    }

    /// Names a served certificate that the API server refuses, for example because it has expired. The leader
    /// replaces it, if it may. Returns the time until the next check.
    async fn check(&mut self) -> Duration {
        let (hosts, contents) = (self.own.service.hosts(), self.view.borrow().held.clone());
        match contents.verify(Slot::Serving, &hosts, SystemTime::now()) {
            Ok(()) => {
                self.logged.end();
                self.readiness.pass(CHECK);
            }
            Err(error) => {
                let text = format!("the API server refuses the webhook certificate: {error}");
                self.report("InvalidCertificate", &text).await;
            }
        }
        self.own.periods.tick().min(CHECKED)
    }

    /// Restores the deleted Secret. Returns the time until the next attempt.
    async fn restore(&mut self, held: &Contents) -> Duration {
        let (name, namespace) = (&self.own.secret, &self.own.service.namespace);
        let missing = format!("Secret `{namespace}/{name}` does not exist");
        let since = *self.missing.get_or_insert_with(since_boot);
        // A replica that holds its contents comes first. Without them, an empty Secret is enough: it is
        // filled like that of the manifests.
        if held.is_empty() && since_boot().saturating_sub(since) < RETRY {
            self.report("SecretMissing", &missing).await;
            return RETRY;
        }
        let restored = self.own.restore(&self.clients.unfenced, held).await;
        let text = match restored {
            Ok(()) => format!("{missing}: restored"),
            Err(error) => format!("{missing}: {error}"),
        };
        self.report("SecretMissing", &text).await;
        RETRY
    }

    /// Names a state in readiness, and once a minute in the log and in an event of the Secret.
    async fn report(&mut self, reason: &str, text: &str) {
        match self.served {
            // It still serves a certificate.
            Some(_) => self.readiness.pass_although(CHECK, text),
            None => self.readiness.fail(CHECK, text),
        }
        if !self.logged.is_due(text) {
            return;
        }
        tracing::warn!(reason, "{text}");
        let secret = ObjectReference {
            api_version: Some(Secret::api_version(&()).into_owned()),
            kind: Some(Secret::kind(&()).into_owned()),
            name: Some(self.own.secret.clone()),
            namespace: Some(self.own.service.namespace.clone()),
            ..ObjectReference::default()
        };
        let event = Event {
            type_: EventType::Warning,
            reason: reason.to_owned(),
            note: Some(text.to_owned()),
            action: "ServeWebhooks".to_owned(),
            secondary: None,
        };
        if let Err(error) = self.recorder.publish(&event, &secret).await {
            tracing::debug!(%error, "cannot write an event of the Secret");
        }
    }
}
