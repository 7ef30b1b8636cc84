//! Webhook certificates without the feature `self-signed`: files only.

use super::{Conversion, WebhookFlags, declaration::Declaration};
use crate::{
    client::Clients,
    error::Error,
    metrics::Metrics,
    runnable::Runnable,
    server::{certificate::Certificate, probes::Readiness},
};

/// The services for a certificate; only `metrics` is used here.
pub(crate) struct Environment<'a> {
    pub(crate) clients: &'a Clients,
    pub(crate) metrics: &'a Metrics,
    pub(crate) readiness: &'a Readiness,
    pub(crate) declarations: Vec<&'a Declaration>,
    pub(crate) conversions: &'a [Conversion],
}

/// The certificate that the flags select.
///
/// # Errors
/// If the flags select none, or if it cannot be read.
pub(crate) async fn certificate(
    flags: WebhookFlags,
    environment: Environment<'_>,
) -> Result<(Certificate, Vec<Runnable>), Error> {
    let none = "webhooks need a certificate: name its directory by `--webhook-cert-path`, or do without \
                webhooks by `--enable-webhooks=false`";
    let files = flags.files();
    let files = files.ok_or_else(|| Error::Webhooks(none.to_owned()))?;
    let certificate = Certificate::read(files, environment.metrics).await?;
    Ok((certificate, Vec::new()))
}
