//! TLS and HTTP as the manager speaks them, and nothing else: it reads a review and answers always the same.

use std::{net::SocketAddr, path::PathBuf, sync::Arc};

use axum::{Router, body::Bytes, http::header::CONTENT_TYPE, routing::post};
use axum_server::{
    accept::NoDelayAcceptor,
    tls_rustls::{RustlsAcceptor, RustlsConfig},
};
use clap::Parser;
use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};

#[derive(Parser)]
struct Args {
    #[arg(long)]
    webhook_port: u16,

    #[arg(long)]
    webhook_cert_path: PathBuf,
}

/// Allowed, without a change.
const ALLOWED: &str = r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"705ab4f5-6393-11e8-b7cc-42010a800002","allowed":true}}"#;

/// Allowed, with `[{"op":"add","path":"/spec/replicas","value":3}]`.
const PATCHED: &str = r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"705ab4f5-6393-11e8-b7cc-42010a800002","allowed":true,"patchType":"JSONPatch","patch":"W3sib3AiOiJhZGQiLCJwYXRoIjoiL3NwZWMvcmVwbGljYXMiLCJ2YWx1ZSI6M31d"}}"#;

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let directory = args.webhook_cert_path;
    let certificate = CertificateDer::from_pem_file(directory.join("tls.crt"))?;
    let key = PrivateKeyDer::from_pem_file(directory.join("tls.key"))?;
    let mut tls = ServerConfig::builder_with_provider(ring::default_provider().into())
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)?;
    tls.alpn_protocols = vec![b"http/1.1".to_vec()];
    let answer = |body| move |_: Bytes| async move { ([(CONTENT_TYPE, "application/json")], body) };
    let router = Router::new()
        .route("/default", post(answer(PATCHED)))
        .route("/leave", post(answer(ALLOWED)))
        .route("/validate", post(answer(ALLOWED)));
    let address = SocketAddr::from(([0, 0, 0, 0], args.webhook_port));
    let tls = RustlsConfig::from_config(Arc::new(tls));
    let acceptor = RustlsAcceptor::new(tls).acceptor(NoDelayAcceptor::new());
    let mut server = axum_server::bind(address).acceptor(acceptor);
    server.http_builder().http1().header_read_timeout(None);
    Ok(server.serve(router.into_make_service()).await?)
}
