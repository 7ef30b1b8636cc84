//! Verifies a certificate as the API server does.

use std::{
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use rustls::{
    RootCertStore,
    client::{WebPkiServerVerifier, danger::ServerCertVerifier},
    pki_types::{CertificateDer, ServerName, UnixTime},
};

use crate::crypto::provider;

/// Verifies `chain` (the certificate first) for each of the hosts, at a time, with `ca` as the only trust
/// anchor.
///
/// # Errors
/// The reason as text, if the API server would refuse it.
pub(super) fn verify(
    chain: &[CertificateDer],
    ca: &CertificateDer,
    hosts: &[String],
    at: SystemTime,
) -> Result<(), String> {
    let (certificate, intermediates) = chain.split_first().ok_or("no certificate")?;
    let mut roots = RootCertStore::empty();
    roots
        .add(ca.clone().into_owned())
        .map_err(|error| error.to_string())?;
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider());
    let verifier = verifier.build().map_err(|error| error.to_string())?;
    let at = UnixTime::since_unix_epoch(at.duration_since(UNIX_EPOCH).unwrap_or_default());
    for host in hosts {
        let host = ServerName::try_from(host.as_str()).map_err(|error| error.to_string())?;
        verifier
            .verify_server_cert(certificate, intermediates, &host, &[], at)
            .map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// Whether a certificate can be a CA's.
pub(super) fn is_ca(certificate: &CertificateDer) -> bool {
    let certificate = certificate.clone().into_owned();
    RootCertStore::empty().add(certificate).is_ok()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rustls::pki_types::pem::PemObject;

    use super::{super::issue::issue, *};

    #[test]
    fn an_issued_certificate_is_accepted_for_its_hosts_and_lifetime() {
        let (minute, hour) = (Duration::from_secs(60), Duration::from_secs(3600));
        let now = SystemTime::now();
        let hosts = ["a.b.svc", "192.0.2.1", "2001:db8::1"].map(str::to_owned);
        let issue = || issue(&hosts, now, 24 * hour).unwrap();
        let (issued, other) = (issue(), issue());
        let der = |pem: &str| CertificateDer::from_pem_slice(pem.as_bytes()).unwrap();
        let chain = [der(&issued.certificate)];
        let check = |ca: &str, host: &str, at| verify(&chain, &der(ca), &[host.to_owned()], at);
        for host in &hosts {
            assert_eq!(check(&issued.ca, host, now), Ok(()));
        }
        let cases = [
            (&issued.ca, "a.b.svc", now - hour + minute, ""),
            (&issued.ca, "a.b.svc", now + 24 * hour - minute, ""),
            (&issued.ca, "a.b.svc", now - hour - minute, "not valid yet"),
            (&issued.ca, "a.b.svc", now + 24 * hour + minute, "expired"),
            (&issued.ca, "c.b.svc", now, "not valid for name"),
            (&other.ca, "a.b.svc", now, "invalid peer certificate"),
        ];
        for (ca, host, at, expected) in cases {
            let error = check(ca, host, at).err().unwrap_or_default();
            assert!(
                error.contains(expected) && error.is_empty() == expected.is_empty(),
                "{error}: {expected}"
            );
        }
    }

    #[test]
    fn the_key_of_a_ca_is_not_that_of_its_certificate() {
        let now = SystemTime::now();
        let issued = issue(&["a.b.svc".to_owned()], now, Duration::from_secs(60)).unwrap();
        let parsed = crate::server::certificate::parse(issued.ca.as_bytes(), issued.key.as_bytes());
        assert!(parsed.is_err());
    }
}
