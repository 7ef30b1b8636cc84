//! Certificates: one CA for each cluster, and from it one certificate for each member and for the clients.
//!
//! etcd reads its certificate and key anew for each connection, so a renewed Secret needs no restart. It does not
//! read the CA anew.

use std::time::Duration;

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::jiff::{Timestamp, ToSpan as _};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};

use crate::etcd::Credentials;

/// The keys of a Secret of the type `kubernetes.io/tls`, and that of the CA.
pub const CA: &str = "ca.crt";
pub const CERTIFICATE: &str = "tls.crt";
pub const KEY: &str = "tls.key";

/// The annotation with the time from which the certificate is renewed.
pub const RENEW_AFTER: &str = "etcd.example.com/renew-after";

/// The CA outlives the certificates: changing it interrupts every client.
const CA_VALIDITY: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

/// A certificate and its key, as PEM.
pub struct Issued {
    pub certificate: String,
    pub key: String,
    pub renew_after: Timestamp,
}

/// The CA of one cluster.
pub struct Authority {
    certificate: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    /// A new CA for the cluster `name`.
    pub fn create(name: &str, now: Timestamp) -> Result<Issued, rcgen::Error> {
        let params = ca_params(name, now);
        let key = KeyPair::generate()?;
        Ok(Issued {
            certificate: params.self_signed(&key)?.pem(),
            key: key.serialize_pem(),
            renew_after: renew_after(now, CA_VALIDITY),
        })
    }

    /// The CA of the cluster `name` in a Secret, if the Secret holds one.
    pub fn read(name: &str, secret: &Secret) -> Option<Self> {
        let text = |key| String::from_utf8(data(secret, key)?.to_vec()).ok();
        let key = KeyPair::from_pem(&text(KEY)?).ok()?;
        Some(Self {
            certificate: text(CERTIFICATE)?,
            // Only the name and the uses of a CA enter the certificates that it signs.
            issuer: Issuer::new(ca_params(name, Timestamp::UNIX_EPOCH), key),
        })
    }

    pub fn certificate(&self) -> &str {
        &self.certificate
    }

    /// A certificate for a server or a client with these DNS names. Members are both.
    pub fn issue(
        &self,
        name: &str,
        hosts: Vec<String>,
        now: Timestamp,
        validity: Duration,
    ) -> Result<Issued, rcgen::Error> {
        let mut params = params(name, now, validity);
        for host in hosts {
            let host = host.try_into()?;
            params.subject_alt_names.push(rcgen::SanType::DnsName(host));
        }
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![
            ExtendedKeyUsagePurpose::ServerAuth,
            ExtendedKeyUsagePurpose::ClientAuth,
        ];
        let key = KeyPair::generate()?;
        Ok(Issued {
            certificate: params.signed_by(&key, &self.issuer)?.pem(),
            key: key.serialize_pem(),
            renew_after: renew_after(now, validity),
        })
    }
}

/// Whether the certificate in a Secret has to be issued (again): it is missing, old, or of another CA.
pub fn is_due(secret: &Secret, ca: &str, now: Timestamp) -> bool {
    let annotations = secret.metadata.annotations.as_ref();
    let renew_after = annotations
        .and_then(|all| all.get(RENEW_AFTER))
        .and_then(|text| text.parse::<Timestamp>().ok());
    let same_ca = data(secret, CA).is_some_and(|found| found == ca.as_bytes());
    !same_ca || renew_after.is_none_or(|time| time <= now)
}

/// The credentials in the Secret of a client.
pub fn credentials(secret: &Secret) -> Option<Credentials> {
    let (certificate, key) = (data(secret, CERTIFICATE)?, data(secret, KEY)?);
    Some(Credentials {
        ca: data(secret, CA)?.to_vec(),
        identity: [certificate, key].concat(),
    })
}

fn data<'a>(secret: &'a Secret, key: &str) -> Option<&'a [u8]> {
    let ByteString(bytes) = secret.data.as_ref()?.get(key)?;
    Some(bytes)
}

fn ca_params(name: &str, now: Timestamp) -> CertificateParams {
    let mut params = params(&format!("etcd {name}"), now, CA_VALIDITY);
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params
}

fn params(name: &str, now: Timestamp, validity: Duration) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    // An hour back, for members whose clocks are late.
    let time = |time: Timestamp| std::time::SystemTime::from(time).into();
    params.not_before = time(now - 1.hour());
    params.not_after = time(now + validity);
    params
}

fn renew_after(now: Timestamp, validity: Duration) -> Timestamp {
    now + validity * 2 / 3
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    fn secret(ca: &str, issued: &Issued) -> Secret {
        let data = [
            (CA, ca),
            (CERTIFICATE, &issued.certificate),
            (KEY, &issued.key),
        ];
        let data = data.map(|(key, text)| (key.to_owned(), ByteString(text.into())));
        let mut secret = Secret {
            data: Some(data.into()),
            ..Secret::default()
        };
        secret.metadata.annotations = Some(BTreeMap::from([(
            RENEW_AFTER.to_owned(),
            issued.renew_after.to_string(),
        )]));
        secret
    }

    #[test]
    fn certificates_are_renewed_after_two_thirds_and_with_another_ca() {
        let now = Timestamp::from_second(1_000_000_000).unwrap();
        let ca = Authority::create("a", now).unwrap();
        let ca = secret(&ca.certificate, &ca);
        let authority = Authority::read("a", &ca).unwrap();
        let hosts = vec!["a-0.a.ns.svc".to_owned()];
        let issued = authority.issue("a-0", hosts, now, 3 * HOUR).unwrap();
        let member = secret(authority.certificate(), &issued);
        assert!(!is_due(&member, authority.certificate(), now));
        assert!(!is_due(
            &member,
            authority.certificate(),
            now + 119.minutes()
        ));
        assert!(is_due(&member, authority.certificate(), now + 2.hours()));
        assert!(is_due(&member, "another CA", now));
        assert!(is_due(&Secret::default(), authority.certificate(), now));
        assert!(credentials(&member).is_some());
        assert!(Authority::read("a", &Secret::default()).is_none());
    }
}
