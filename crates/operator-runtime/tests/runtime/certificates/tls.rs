//! A verified TLS handshake, as the API server does it.

use std::{net::TcpStream, sync::Arc, time::Duration};

use anyhow::{Context as _, Result};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, ServerName, pem::PemObject},
};

/// Connects to a port of this machine, and returns the served certificate, if `bundle` verifies it for
/// `host`.
pub fn handshake(port: u16, host: &str, bundle: &str) -> Result<Vec<u8>> {
    let mut roots = RootCertStore::empty();
    for ca in CertificateDer::pem_slice_iter(bundle.as_bytes()) {
        roots.add(ca?)?;
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let host = ServerName::try_from(host.to_owned())?;
    let mut connection = ClientConnection::new(Arc::new(config), host)?;
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    while connection.is_handshaking() {
        connection.complete_io(&mut stream)?;
    }
    let chain = connection.peer_certificates().context("no certificate")?;
    Ok(chain[0].to_vec())
}

/// The first certificate of a PEM text.
pub fn der(pem: &str) -> Result<Vec<u8>> {
    Ok(CertificateDer::from_pem_slice(pem.as_bytes())?.to_vec())
}
