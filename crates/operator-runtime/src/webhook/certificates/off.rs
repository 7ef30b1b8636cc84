//! Certificates without those that the operator makes: files that somebody else writes.

use super::{Conversion, WebhookFlags, declaration::Declaration};
use crate::{
    client::Clients,
    error::Error,
    metrics::Metrics,
    runnable::Runnable,
    server::{certificate::Certificate, probes::Readiness},
};

/// What a certificate is made and published with; only `metrics` is of use here.
pub(crate) struct Environment<'a> {
    pub(crate) clients: &'a Clients,
    pub(crate) metrics: &'a Metrics,
    pub(crate) readiness: &'a Readiness,
    pub(crate) declarations: Vec<&'a Declaration>,
    pub(crate) conversions: &'a [Conversion],
}

/// The certificate that the command line asks for.
///
/// # Errors
/// If it asks for none, or for one that cannot be had.
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
