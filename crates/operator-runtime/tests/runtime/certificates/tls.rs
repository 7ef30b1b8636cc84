//! A verified TLS handshake, as the API server does it.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    sync::Arc,
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject},
};

/// A certificate and its key, as PEM.
pub struct Identity {
    pub certificate: String,
    pub key: String,
}

/// Connects to a port of this machine, and returns the served certificate, if `bundle` verifies it for
/// `host`.
pub fn handshake(port: u16, host: &str, bundle: &str) -> Result<Vec<u8>> {
    let stream = connect(port, host, bundle, None)?;
    let chain = stream.conn.peer_certificates().context("no certificate")?;
    Ok(chain[0].to_vec())
}

/// The answer to a body that is posted to a port of this machine.
///
/// # Errors
/// If the server closes the connection without an answer.
pub fn post(
    port: u16,
    path: &str,
    bundle: &str,
    client: Option<&Identity>,
    body: &str,
) -> Result<String> {
    let mut stream = connect(port, "localhost", bundle, client)?;
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    ensure!(!answer.is_empty(), "no answer");
    Ok(answer)
}

fn connect(
    port: u16,
    host: &str,
    bundle: &str,
    client: Option<&Identity>,
) -> Result<StreamOwned<ClientConnection, TcpStream>> {
    let mut roots = RootCertStore::empty();
    for ca in CertificateDer::pem_slice_iter(bundle.as_bytes()) {
        roots.add(ca?)?;
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots);
    let config = match client {
        Some(Identity { certificate, key }) => {
            let chain = vec![CertificateDer::from_pem_slice(certificate.as_bytes())?];
            config.with_client_auth_cert(chain, PrivateKeyDer::from_pem_slice(key.as_bytes())?)?
        }
        None => config.with_no_client_auth(),
    };
    let host = ServerName::try_from(host.to_owned())?;
    let mut connection = ClientConnection::new(Arc::new(config), host)?;
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    while connection.is_handshaking() {
        connection.complete_io(&mut stream)?;
    }
    Ok(StreamOwned::new(connection, stream))
}

/// The first certificate of a PEM text.
pub fn der(pem: &str) -> Result<Vec<u8>> {
    Ok(CertificateDer::from_pem_slice(pem.as_bytes())?.to_vec())
}
