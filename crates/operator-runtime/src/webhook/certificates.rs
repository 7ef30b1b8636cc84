//! The source of the webhook certificate: files, a Secret that the operator manages, or a certificate
//! generated for a developer's machine.

mod contents;
mod flags;
mod follow;
mod issue;
mod local;
mod publish;
mod rotate;
mod self_managed;
mod verify;

use crate::{
    client::{Clients, pod_namespace},
    error::Error,
    metrics::Metrics,
    runnable::Runnable,
    server::{certificate::Certificate, probes::Readiness},
};

pub use flags::CertificateFlags;
use publish::{Service, Target};
pub(crate) use rotate::Periods;
use self_managed::SelfManaged;

use super::{
    Conversion, WebhookFlags,
    declaration::{Declaration, Purpose},
};

/// The services that issuing and publishing a certificate needs.
pub(crate) struct Environment<'a> {
    pub(crate) clients: &'a Clients,
    pub(crate) metrics: &'a Metrics,
    pub(crate) readiness: &'a Readiness,
    pub(crate) declarations: Vec<&'a Declaration>,
    pub(crate) conversions: &'a [Conversion],
}

/// The certificate that the flags select, and the tasks that keep it valid.
///
/// # Errors
/// If the flags select none, or if it cannot be read or issued.
pub(crate) async fn certificate(
    flags: WebhookFlags,
    environment: Environment<'_>,
) -> Result<(Certificate, Vec<Runnable>), Error> {
    let files = flags.files();
    let targets = targets(&flags.certificates, &environment);
    if let Some(secret) = flags.certificates.webhook_secret {
        let namespace = flags.certificates.pod_namespace;
        let namespace = namespace.or_else(pod_namespace);
        let service = Service {
            name: flags.certificates.webhook_service,
            namespace: namespace.ok_or(Error::NoPodNamespace)?,
        };
        let certificate = Certificate::set_by_others();
        let own = SelfManaged {
            secret,
            service,
            targets,
            periods: flags.certificates.periods,
        };
        let (current, readiness) = (certificate.current(), environment.readiness.clone());
        let tasks = own.tasks(environment.clients, current, readiness);
        return Ok((certificate, tasks.into()));
    }
    if let Some(host) = flags.certificates.webhook_host {
        let port = flags.webhook_port;
        let (issued, task) = local::serve(&host, port, targets, &environment)?;
        let certificate = Certificate::from_pem(&issued.certificate, &issued.key)?;
        return Ok((certificate, vec![task]));
    }
    let certificate = Certificate::read(
        files.ok_or(Error::NoWebhookCertificate)?,
        environment.metrics,
    )
    .await?;
    Ok((certificate, Vec::new()))
}

/// The objects with the caBundle of these webhooks.
fn targets(flags: &CertificateFlags, environment: &Environment) -> Vec<Target> {
    let declared = |purpose| {
        let mut declarations = environment.declarations.iter();
        declarations.any(|declaration| declaration.purpose == purpose)
    };
    let mutating = declared(Purpose::Defaulting)
        .then(|| Target::Mutating(flags.webhook_mutating_configuration.clone()));
    let validating = declared(Purpose::Validating)
        .then(|| Target::Validating(flags.webhook_validating_configuration.clone()));
    let definitions = environment.conversions.iter();
    let definitions = definitions.map(|conversion| Target::Definition(conversion.definition()));
    mutating
        .into_iter()
        .chain(validating)
        .chain(definitions)
        .collect()
}
