//! The certificate of a TLS server: from files that may change, or generated at the start.

mod expiry;

use std::{
    convert::Infallible,
    future::pending,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use k8s_openapi::jiff::Timestamp;
use parking_lot::RwLock;
use rustls::{
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    server::{ClientHello, ResolvesServerCert},
    sign::CertifiedKey,
};
use tokio::{fs, time::sleep};

use crate::{
    crypto::provider,
    error::Error,
    metrics::{Counter, Metrics},
};

/// The interval between reads of the files. Their contents are compared: a mounted Secret changes by
/// symlinks, which neither a watch of the file nor its modification time shows.
pub(super) const PERIOD: Duration = Duration::from_secs(10);

/// The interval between log lines about a certificate that has expired.
const REMINDER: Duration = Duration::from_secs(60);

/// A certificate chain and its key, as PEM.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Files {
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

/// The certificate of a TLS server. New connections get the newest; existing connections continue.
pub(crate) struct Certificate {
    current: Arc<Current>,
    /// The source of the certificate, and its last read content.
    source: Option<(Source, Pem)>,
}

/// The newest certificate, if there is one yet; until then, every TLS handshake fails.
#[derive(Debug, Default)]
pub(crate) struct Current(RwLock<Option<Arc<CertifiedKey>>>);

impl ResolvesServerCert for Current {
    fn resolve(&self, _: ClientHello) -> Option<Arc<CertifiedKey>> {
        self.get()
    }
}

impl Current {
    fn get(&self) -> Option<Arc<CertifiedKey>> {
        self.0.read().clone()
    }

    /// The end of its validity, in seconds since the Unix epoch.
    pub(crate) fn not_after(&self) -> Option<i64> {
        let certificate = self.get()?;
        expiry::not_after(certificate.end_entity_cert().ok()?)
    }

    /// When its validity ended, if that was before `now`.
    fn expired(&self, now: Timestamp) -> Option<Timestamp> {
        let end = Timestamp::from_second(self.not_after()?).ok()?;
        Some(end).filter(|end| *end < now)
    }

    /// Logs once a minute that the certificate has expired, while it has.
    async fn warn(&self, file: &Path) -> Infallible {
        loop {
            if let Some(end) = self.expired(Timestamp::now()) {
                let file = file.display();
                tracing::warn!(%file, %end, "the certificate has expired, so clients refuse it");
            }
            sleep(REMINDER).await;
        }
    }

    /// Sets the certificate for new connections.
    pub(crate) fn set(&self, certificate: Arc<CertifiedKey>) {
        *self.0.write() = Some(certificate);
    }
}

impl Certificate {
    /// Generates a self-signed certificate, which encrypts but proves no identity.
    #[cfg(not(feature = "self-signed"))]
    pub(crate) fn self_signed() -> Result<Self, Error> {
        let missing = "this operator is built without the feature `self-signed`";
        Err(Error::SelfSigned(missing.to_owned()))
    }

    /// Generates a self-signed certificate, which encrypts but proves no identity.
    #[cfg(feature = "self-signed")]
    pub(crate) fn self_signed() -> Result<Self, Error> {
        let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
        let made = rcgen::generate_simple_self_signed(names);
        let made = made.map_err(|error| Error::SelfSigned(error.to_string()))?;
        let (certificate, key) = (made.cert.pem(), made.signing_key.serialize_pem());
        let certificate = parse(certificate.as_bytes(), key.as_bytes());
        Ok(Self::new(certificate.map_err(Error::SelfSigned)?, None))
    }

    /// Uses a fixed certificate and key.
    pub(crate) fn from_pem(certificate: &str, key: &str) -> Result<Self, Error> {
        let certificate = parse(certificate.as_bytes(), key.as_bytes());
        Ok(Self::new(certificate.map_err(Error::Certificate)?, None))
    }

    /// A certificate that is [set](Current::set) from outside.
    pub(crate) fn set_by_others() -> Self {
        Self::of(Arc::default())
    }

    /// The certificate of another server.
    pub(crate) fn of(current: Arc<Current>) -> Self {
        Self {
            current,
            source: None,
        }
    }

    /// Reads a certificate and its key; [`watch`](Self::watch) reads them again.
    pub(crate) async fn read(files: Files, metrics: &Metrics) -> Result<Self, Error> {
        let source = Source {
            files,
            reads: metrics.certificate_reads.clone(),
            errors: metrics.certificate_errors.clone(),
        };
        let (pem, certificate) = source.read().await.map_err(Error::Certificate)?;
        Ok(Self::new(certificate, Some((source, pem))))
    }

    fn new(certificate: Arc<CertifiedKey>, source: Option<(Source, Pem)>) -> Self {
        let current = Arc::<Current>::default();
        current.set(certificate);
        Self { current, source }
    }

    /// The certificate to configure a server with.
    pub(crate) fn current(&self) -> Arc<Current> {
        self.current.clone()
    }

    /// Reloads the files periodically, forever. Keeps the certificate while the files do not match, for
    /// example while one is not written yet, and logs that once. Logs once a minute that it has expired.
    pub(crate) async fn watch(self) -> Infallible {
        self.watch_every(PERIOD).await
    }

    async fn watch_every(self, period: Duration) -> Infallible {
        let Some((source, last)) = self.source else {
            return pending().await;
        };
        let (current, file) = (self.current, source.files.certificate.clone());
        tokio::select! {
            never = follow(source, last, period, |made| current.set(made)) => never,
            never = current.warn(&file) => never,
        }
    }
}

/// The bytes of a certificate and of its key.
type Pem = (Vec<u8>, Vec<u8>);

/// The files, and the metrics of their reads.
struct Source {
    files: Files,
    reads: Counter,
    errors: Counter,
}

impl Read for Source {
    type Bytes = Pem;
    type Made = Arc<CertifiedKey>;

    fn file(&self) -> &Path {
        &self.files.certificate
    }

    async fn read(&self) -> Result<(Pem, Arc<CertifiedKey>), String> {
        self.reads.inc();
        let Files { certificate, key } = &self.files;
        let read = async {
            let pem = (bytes(certificate).await?, bytes(key).await?);
            let parsed = parse(&pem.0, &pem.1);
            let parsed = parsed.map_err(|error| format!("`{}`: {error}", certificate.display()));
            Ok((pem, parsed?))
        };
        read.await.inspect_err(|_| _ = self.errors.inc())
    }
}

/// Files that are read again while the server runs.
pub(super) trait Read {
    /// Their bytes.
    type Bytes: PartialEq + Send;
    /// What the bytes mean.
    type Made: Send;

    /// The file that the log names.
    fn file(&self) -> &Path;

    fn read(&self) -> impl Future<Output = Result<(Self::Bytes, Self::Made), String>> + Send;
}

/// Reads files in this period, forever. What is in use stays while they cannot be used, and that is logged once.
pub(super) async fn follow<R: Read>(
    source: R,
    mut last: R::Bytes,
    period: Duration,
    set: impl Fn(R::Made),
) -> Infallible {
    let mut logged = None;
    loop {
        sleep(period).await;
        match source.read().await {
            Ok((bytes, _)) if bytes == last => logged = None,
            Ok((bytes, made)) => {
                set(made);
                (last, logged) = (bytes, None);
                tracing::info!(file = %source.file().display(), "certificate reloaded");
            }
            Err(error) if logged.as_ref() == Some(&error) => {}
            Err(error) => {
                tracing::warn!(error, "keeping the previous certificate");
                logged = Some(error);
            }
        }
    }
}

pub(super) async fn bytes(path: &Path) -> Result<Vec<u8>, String> {
    let bytes = fs::read(path).await;
    bytes.map_err(|error| format!("`{}`: {error}", path.display()))
}

/// Parses a certificate chain and its key, both PEM, and checks that they match.
pub(crate) fn parse(certificate: &[u8], key: &[u8]) -> Result<Arc<CertifiedKey>, String> {
    let chain = CertificateDer::pem_slice_iter(certificate).collect::<Result<Vec<_>, _>>();
    let chain = chain.map_err(|_| "not a PEM certificate")?;
    if chain.is_empty() {
        return Err("holds no PEM certificate".to_owned());
    }
    let key = PrivateKeyDer::from_pem_slice(key).map_err(|_| "its key is not a PEM key")?;
    let certificate = CertifiedKey::from_der(chain, key, &provider());
    certificate.map(Arc::new).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use std::{env, fs, process};

    use tokio::time::timeout;

    use super::*;

    fn pair() -> (String, String) {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        (made.cert.pem(), made.signing_key.serialize_pem())
    }

    #[test]
    fn certificates_that_can_and_cannot_be_used() {
        let ((certificate, key), (_, other)) = (pair(), pair());
        let broken = certificate.replace('a', "*");
        let cases = [
            (&*certificate, &*key, ""),
            ("", &key, "holds no PEM certificate"),
            (&key, &key, "holds no PEM certificate"),
            (&broken, &key, "not a PEM certificate"),
            (&certificate, "", "its key is not a PEM key"),
            (&certificate, &certificate, "its key is not a PEM key"),
            (&certificate, &other, "keys may not be consistent"),
            (&certificate[..200], &key, "not a PEM certificate"),
        ];
        for (certificate, key, expected) in cases {
            let error = parse(certificate.as_bytes(), key.as_bytes()).err();
            let error = error.unwrap_or_default();
            assert!(
                error.contains(expected) && error.is_empty() == expected.is_empty(),
                "{error}: {expected}"
            );
        }
    }

    #[test]
    fn a_certificate_expires() {
        let (certificate, key) = pair();
        let made = Certificate::from_pem(&certificate, &key).unwrap();
        let current = made.current();
        let end = Timestamp::from_second(current.not_after().unwrap()).unwrap();
        assert_eq!(current.expired(end), None);
        assert_eq!(current.expired(end + Duration::from_secs(1)), Some(end));
        assert_eq!(Current::default().expired(end), None);
    }

    /// Writes a pair as a Secret volume does: into a new directory, behind a symlink.
    fn mount(directory: &Path, name: &str, (certificate, key): &(String, String)) {
        let data = directory.join(name);
        fs::create_dir_all(&data).unwrap();
        fs::write(data.join("tls.crt"), certificate).unwrap();
        fs::write(data.join("tls.key"), key).unwrap();
        std::os::unix::fs::symlink(name, directory.join("..new")).unwrap();
        fs::rename(directory.join("..new"), directory.join("..data")).unwrap();
    }

    #[tokio::test]
    async fn a_certificate_is_kept_until_its_successor_is_complete() {
        let directory = env::temp_dir().join(format!("certificate-{}", process::id()));
        let (first, second) = (pair(), pair());
        mount(&directory, "one", &first);
        let data = directory.join("..data");
        let (certificate, key) = (data.join("tls.crt"), data.join("tls.key"));
        let files = Files { certificate, key };
        let metrics = Metrics::default();
        let read = Certificate::read(files, &metrics).await.unwrap();
        let current = read.current();
        let now = || Arc::as_ptr(&current.get().unwrap());
        let period = Duration::from_millis(5);
        let begin = now();
        let check = async {
            // The second certificate with the key of the first.
            mount(&directory, "two", &(second.0.clone(), first.1));
            while metrics.certificate_errors.get() < 3 {
                sleep(period).await;
            }
            assert_eq!(now(), begin);
            mount(&directory, "three", &second);
            while now() == begin {
                sleep(period).await;
            }
            let (reloaded, reads) = (now(), metrics.certificate_reads.get());
            while metrics.certificate_reads.get() < reads + 3 {
                sleep(period).await;
            }
            assert_eq!(now(), reloaded, "unchanged files are reloaded");
        };
        tokio::select! {
            never = read.watch_every(period) => match never {},
            done = timeout(Duration::from_secs(10), check) => done.unwrap(),
        }
        fs::remove_dir_all(&directory).unwrap();
    }

    #[tokio::test]
    async fn a_missing_file_is_named() {
        let files = Files {
            certificate: "/nowhere/tls.crt".into(),
            key: "/nowhere/tls.key".into(),
        };
        let error = Certificate::read(files, &Metrics::default()).await.err();
        let error = error.map(|error| error.to_string()).unwrap_or_default();
        assert!(
            error.contains("`/nowhere/tls.crt`: No such file"),
            "{error}"
        );
        assert!(!error.contains('\n'), "{error}");
    }
}
