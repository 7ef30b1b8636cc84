//! The HTTP client of the exporter, with the TLS of all other clients.

use std::{fmt, fs, pin::Pin, time::Duration};

use axum::body::{Body, to_bytes};
use http::{Request, Response, Uri};
use hyper_rustls::HttpsConnector;
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use kube::{Config, client::ConfigExt};
use opentelemetry_http::{Bytes, HttpClient, HttpError};
use rustls::pki_types::{CertificateDer, pem::PemObject};
use tokio::{runtime::Handle, time::timeout};

use super::{of_exporter, variable};
use crate::{crypto, error::chain};

/// The default of `OTEL_EXPORTER_OTLP_TIMEOUT`.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The longest response that is read, in bytes. A collector answers with a few.
const LONGEST: usize = 64 * 1024;

/// Sends spans. The exporter calls it from a thread of its own, so the requests run in the operator's runtime.
#[derive(Clone)]
pub(super) struct Sender {
    client: Client<HttpsConnector<HttpConnector>, Body>,
    runtime: Handle,
    timeout: Duration,
}

impl Sender {
    /// A client with the certificate and the timeout of OpenTelemetry's variables.
    pub(super) fn from_env() -> Result<Self, String> {
        if let Some(protocol) = of_exporter(variable, "PROTOCOL")
            && protocol != "http/protobuf"
        {
            return Err(format!(
                "OTEL_EXPORTER_OTLP_PROTOCOL: `{protocol}` is not supported: set it to `http/protobuf`, whose usual port is 4318"
            ));
        }
        crypto::provider();
        // Only for the TLS of a client without credentials of a cluster.
        let mut tls = Config::new(Uri::from_static("https://collector.invalid"));
        if let Some(file) = of_exporter(variable, "CERTIFICATE") {
            let wrong = |why: String| format!("OTEL_EXPORTER_OTLP_CERTIFICATE: `{file}`: {why}");
            let text = fs::read(&file).map_err(|error| wrong(error.to_string()))?;
            let certificates = CertificateDer::pem_slice_iter(&text).collect::<Result<Vec<_>, _>>();
            let certificates = certificates.map_err(|error| wrong(error.to_string()))?;
            tls.root_cert = Some(certificates.iter().map(|it| it.to_vec()).collect());
        }
        let connector = tls.rustls_https_connector();
        let connector =
            connector.map_err(|error| format!("TLS of the exporter: {}", chain(&error)))?;
        let millis = of_exporter(variable, "TIMEOUT").and_then(|text| text.parse().ok());
        Ok(Self {
            client: Client::builder(TokioExecutor::new()).build(connector),
            runtime: Handle::current(),
            timeout: millis.map_or(TIMEOUT, Duration::from_millis),
        })
    }

    async fn send(self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let exchange = async {
            let response = self.client.request(request.map(Body::from)).await?;
            let (parts, body) = response.into_parts();
            let body = to_bytes(Body::new(body), LONGEST).await?;
            Ok::<_, HttpError>(Response::from_parts(parts, body))
        };
        timeout(self.timeout, exchange).await?
    }
}

impl fmt::Debug for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

impl HttpClient for Sender {
    // What the macro `async_trait` makes of an async function.
    fn send_bytes<'a, 'b>(
        &'a self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'b>>
    where
        'a: 'b,
        Self: 'b,
    {
        let sending = self.runtime.spawn(self.clone().send(request));
        Box::pin(async { sending.await? })
    }
}
