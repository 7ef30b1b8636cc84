//! The certificates of clients. A server with a client CA knows which of its clients have one.

use std::{
    convert::Infallible,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use axum_server::{accept::Accept, tls_rustls::RustlsAcceptor};
use futures::{FutureExt, future::BoxFuture};
use parking_lot::RwLock;
use rustls::{
    DigitallySignedStruct, DistinguishedName, RootCertStore, SignatureScheme,
    client::danger::HandshakeSignatureValid,
    pki_types::{CertificateDer, UnixTime, pem::PemObject},
    server::{
        WebPkiClientVerifier,
        danger::{ClientCertVerified, ClientCertVerifier},
    },
};
use tokio::net::TcpStream;

use super::{
    certificate::{PERIOD, Read, bytes, follow},
    stream::Acceptor,
    visit::Visit,
};
use crate::{crypto::provider, error::Error};

/// The CA that signs the certificates of clients. New connections are judged by its newest certificates.
pub(crate) struct ClientCa {
    current: Arc<Current>,
    file: CaFile,
    last: Vec<u8>,
}

impl ClientCa {
    /// Reads the CA's certificates, PEM; [`watch`](Self::watch) reads them again.
    ///
    /// # Errors
    /// If the file cannot be read, or has no certificate of a CA.
    pub(crate) async fn read(file: PathBuf) -> Result<Self, Error> {
        let file = CaFile(file);
        let (last, verifier) = file.read().await.map_err(Error::ClientCa)?;
        let current = Arc::new(Current(RwLock::new(verifier)));
        Ok(Self {
            current,
            file,
            last,
        })
    }

    pub(super) fn verifier(&self) -> Arc<dyn ClientCertVerifier> {
        self.current.clone()
    }

    /// Reloads the file periodically, forever.
    pub(super) async fn watch(self) -> Infallible {
        follow(self.file, self.last, PERIOD, |verifier| {
            *self.current.0.write() = verifier;
        })
        .await
    }
}

struct CaFile(PathBuf);

impl Read for CaFile {
    type Bytes = Vec<u8>;
    type Made = Arc<dyn ClientCertVerifier>;

    fn file(&self) -> &Path {
        &self.0
    }

    async fn read(&self) -> Result<(Vec<u8>, Arc<dyn ClientCertVerifier>), String> {
        let pem = bytes(&self.0).await?;
        let verifier = verifier(&pem);
        let verifier = verifier.map_err(|error| format!("`{}`: {error}", self.0.display()));
        Ok((pem, verifier?))
    }
}

/// Accepts clients without a certificate, and those with a certificate of these CAs.
fn verifier(pem: &[u8]) -> Result<Arc<dyn ClientCertVerifier>, String> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let certificate = certificate.map_err(|_| "not a PEM certificate")?;
        roots.add(certificate).map_err(|error| error.to_string())?;
    }
    if roots.is_empty() {
        return Err("holds no PEM certificate".to_owned());
    }
    WebPkiClientVerifier::builder_with_provider(roots.into(), provider())
        .allow_unauthenticated()
        .build()
        .map_err(|error| error.to_string())
}

/// Verifies by the newest CA.
#[derive(Debug)]
struct Current(RwLock<Arc<dyn ClientCertVerifier>>);

impl Current {
    fn get(&self) -> Arc<dyn ClientCertVerifier> {
        self.0.read().clone()
    }
}

impl ClientCertVerifier for Current {
    fn client_auth_mandatory(&self) -> bool {
        false
    }

    /// None, which lets a client send any certificate: the list could not change with the file.
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        self.get()
            .verify_client_cert(end_entity, intermediates, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.get()
            .verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.get()
            .verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.get().supported_verify_schemes()
    }
}

/// Accepts TLS connections, and notes which clients have a certificate.
#[derive(Clone)]
pub(super) struct Certifying(pub(super) RustlsAcceptor<Acceptor>);

impl Accept<TcpStream, Visit> for Certifying {
    type Stream = <RustlsAcceptor<Acceptor> as Accept<TcpStream, Visit>>::Stream;
    type Service = Visit;
    type Future = BoxFuture<'static, io::Result<(Self::Stream, Visit)>>;

    fn accept(&self, tcp: TcpStream, visit: Visit) -> Self::Future {
        let accepted = self.0.accept(tcp, visit);
        async move {
            let (stream, mut visit) = accepted.await?;
            // The verifier has checked it: the handshake fails with another one.
            visit.certified = stream.get_ref().1.peer_certificates().is_some();
            Ok((stream, visit))
        }
        .boxed()
    }
}
