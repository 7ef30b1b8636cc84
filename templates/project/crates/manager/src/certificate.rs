//! The certificate of a TLS server: from files that may change, or made at start.

use std::{convert::Infallible, path::PathBuf, sync::Arc, time::Duration};

use axum_server::tls_rustls::RustlsConfig;
use prometheus_client::metrics::counter::Counter;
use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use tokio::{fs, time::sleep};

use crate::{manager::Error, metrics::Metrics};

/// Between two reads of the files. Their contents are compared, because a Secret that is mounted
/// changes by symlinks, of which neither a watch of the file nor its time of change tells.
const PERIOD: Duration = Duration::from_secs(10);

/// A certificate chain and its key, as PEM.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Files {
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

/// What a TLS server presents. New connections get the newest; those that exist go on.
pub(crate) struct Certificate {
    config: RustlsConfig,
    protocols: Vec<Vec<u8>>,
    source: Option<Source>,
}

/// Files and what was last read from them.
struct Source {
    files: Files,
    certificate: Vec<u8>,
    key: Vec<u8>,
    reads: Counter,
    errors: Counter,
}

impl Certificate {
    /// Makes a certificate that nobody can verify: it hides what is sent, and no more.
    pub(crate) fn self_signed(http2: bool) -> Result<Self, Error> {
        let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
        let made = rcgen::generate_simple_self_signed(names);
        let made = made.map_err(|error| Error::SelfSigned(error.to_string()))?;
        let (certificate, key) = (made.cert.pem(), made.signing_key.serialize_pem());
        let protocols = protocols(http2);
        let config = config(certificate.as_bytes(), key.as_bytes(), &protocols);
        let config = config.map_err(Error::SelfSigned)?;
        Ok(Self {
            config: RustlsConfig::from_config(config),
            protocols,
            source: None,
        })
    }

    /// Reads a certificate and its key, which [`watch`](Self::watch) then reads again.
    pub(crate) async fn read(files: Files, http2: bool, metrics: &Metrics) -> Result<Self, Error> {
        let mut source = Source {
            files,
            certificate: Vec::new(),
            key: Vec::new(),
            reads: metrics.certificate_reads.clone(),
            errors: metrics.certificate_errors.clone(),
        };
        let protocols = protocols(http2);
        match source.read(&protocols).await {
            Ok(Some(config)) => Ok(Self {
                config: RustlsConfig::from_config(config),
                protocols,
                source: Some(source),
            }),
            Ok(None) => Err(Error::Certificate(
                "the certificate and its key are empty".to_owned(),
            )),
            Err(error) => Err(Error::Certificate(error)),
        }
    }

    /// What the server uses.
    pub(crate) fn config(&self) -> RustlsConfig {
        self.config.clone()
    }

    /// Reads the files again from time to time, for ever. Keeps the certificate while they do not
    /// fit together, as when one of them is not written yet, and says so once.
    pub(crate) async fn watch(self) -> Infallible {
        self.watch_every(PERIOD).await
    }

    async fn watch_every(mut self, period: Duration) -> Infallible {
        let mut told = None;
        loop {
            sleep(period).await;
            let Some(source) = &mut self.source else {
                continue;
            };
            match source.read(&self.protocols).await {
                Ok(Some(config)) => {
                    self.config.reload_from_config(config);
                    told = None;
                    tracing::info!(file = %source.files.certificate.display(), "certificate reloaded");
                }
                Ok(None) => told = None,
                Err(error) if told.as_ref() == Some(&error) => {}
                Err(error) => {
                    tracing::warn!(error, "keeping the previous certificate");
                    told = Some(error);
                }
            }
        }
    }
}

impl Source {
    /// What the files hold, if that has changed.
    async fn read(&mut self, protocols: &[Vec<u8>]) -> Result<Option<Arc<ServerConfig>>, String> {
        self.reads.inc();
        let result = self.read_uncounted(protocols).await;
        if result.is_err() {
            self.errors.inc();
        }
        result
    }

    async fn read_uncounted(
        &mut self,
        protocols: &[Vec<u8>],
    ) -> Result<Option<Arc<ServerConfig>>, String> {
        let Files { certificate, key } = &self.files;
        let (certificate, key) = (bytes(certificate).await?, bytes(key).await?);
        if (&certificate, &key) == (&self.certificate, &self.key) {
            return Ok(None);
        }
        let name = self.files.certificate.display();
        let config =
            config(&certificate, &key, protocols).map_err(|error| format!("`{name}`: {error}"))?;
        (self.certificate, self.key) = (certificate, key);
        Ok(Some(config))
    }
}

async fn bytes(path: &PathBuf) -> Result<Vec<u8>, String> {
    let bytes = fs::read(path).await;
    bytes.map_err(|error| format!("`{}`: {error}", path.display()))
}

/// The application protocols that a server offers.
fn protocols(http2: bool) -> Vec<Vec<u8>> {
    let protocols: &[&str] = if http2 {
        &["h2", "http/1.1"]
    } else {
        &["http/1.1"]
    };
    protocols
        .iter()
        .map(|name| name.as_bytes().to_vec())
        .collect()
}

/// The configuration of a server with this certificate chain and its key, both PEM.
fn config(
    certificate: &[u8],
    key: &[u8],
    protocols: &[Vec<u8>],
) -> Result<Arc<ServerConfig>, String> {
    let chain: Vec<_> = CertificateDer::pem_slice_iter(certificate)
        .collect::<Result<_, _>>()
        .map_err(|_| "not a PEM certificate")?;
    if chain.is_empty() {
        return Err("holds no PEM certificate".to_owned());
    }
    let key = PrivateKeyDer::from_pem_slice(key).map_err(|_| "its key is no PEM key")?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|config| config.with_no_client_auth().with_single_cert(chain, key))
        .map_err(|error| error.to_string())?;
    config.alpn_protocols = protocols.to_vec();
    Ok(Arc::new(config))
}

#[cfg(test)]
mod tests {
    use std::{env, fs, path::Path, process};

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
            (&certificate, "", "its key is no PEM key"),
            (&certificate, &certificate, "its key is no PEM key"),
            (&certificate, &other, "keys may not be consistent"),
            (&certificate[..200], &key, "not a PEM certificate"),
        ];
        for (certificate, key, expected) in cases {
            let error = config(certificate.as_bytes(), key.as_bytes(), &[]).err();
            let error = error.unwrap_or_default();
            assert!(
                error.contains(expected) && error.is_empty() == expected.is_empty(),
                "{error}: {expected}"
            );
        }
    }

    /// Writes a pair as a Secret volume does: into a directory of its own, to which a link points.
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
        let read = Certificate::read(files, false, &metrics).await.unwrap();
        let config = read.config();
        let now = || Arc::as_ptr(&config.get_inner());
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
        let error = Certificate::read(files, false, &Metrics::default())
            .await
            .err();
        let error = error.map(|error| error.to_string()).unwrap_or_default();
        assert!(
            error.contains("`/nowhere/tls.crt`: No such file"),
            "{error}"
        );
        assert!(!error.contains('\n'), "{error}");
    }
}
