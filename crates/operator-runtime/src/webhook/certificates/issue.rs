//! Issues a webhook certificate, signed by a CA that signs nothing else.

use std::time::{Duration, SystemTime};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose,
};

/// The time by which `notBefore` precedes the issue: the clock of an API server may be slow.
const EARLY: Duration = Duration::from_secs(60 * 60);

/// A certificate, its key, and its CA; all PEM.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Issued {
    pub(crate) certificate: String,
    pub(crate) key: String,
    pub(crate) ca: String,
}

/// Issues a certificate for these hosts (DNS names and IP addresses). It expires `lifetime` after `now`,
/// together with its CA. The CA's key is discarded, so it cannot leak; the next certificate has another CA.
///
/// # Errors
/// If a host is invalid, or the operating system has no random numbers.
pub(crate) fn issue(
    hosts: &[String],
    now: SystemTime,
    lifetime: Duration,
) -> Result<Issued, rcgen::Error> {
    let params = |hosts: &[String], name: &str| {
        let mut params = CertificateParams::new(hosts)?;
        params.not_before = (now - EARLY).into();
        params.not_after = (now + lifetime).into();
        params.distinguished_name.push(DnType::CommonName, name);
        Ok::<_, rcgen::Error>(params)
    };
    let mut ca = params(&[], "webhook CA")?;
    ca.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    ca.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    let ca = CertifiedIssuer::self_signed(ca, KeyPair::generate()?)?;

    let mut certificate = params(hosts, "webhook")?;
    certificate.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    certificate.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    // Two CAs have the same name during a rotation; the key identifier distinguishes them.
    certificate.use_authority_key_identifier_extension = true;
    let key = KeyPair::generate()?;
    let certificate = certificate.signed_by(&key, &ca)?;
    Ok(Issued {
        certificate: certificate.pem(),
        key: key.serialize_pem(),
        ca: ca.pem(),
    })
}
