//! The contents of the certificates' Secret.
//!
//! `tls.crt` and `tls.key` are served; `ca.crt` is published as the caBundle. During a rotation, `ca.crt`
//! contains the CAs of the old and the new certificate, the newer last, and the new certificate waits in
//! `next.crt` and `next.key` until it is served.

use std::{collections::BTreeMap, sync::Arc, time::SystemTime};

use k8s_openapi::{ByteString, api::core::v1::Secret};
use rustls::{
    pki_types::{CertificateDer, pem::PemObject},
    sign::CertifiedKey,
};

use super::{
    issue::Issued,
    verify::{is_ca, verify},
};
use crate::server::certificate::parse;

const CERTIFICATE: &str = "tls.crt";
const KEY: &str = "tls.key";
const BUNDLE: &str = "ca.crt";
const NEXT_CERTIFICATE: &str = "next.crt";
const NEXT_KEY: &str = "next.key";
const KEYS: [&str; 5] = [CERTIFICATE, KEY, BUNDLE, NEXT_CERTIFICATE, NEXT_KEY];

const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
const END: &str = "-----END CERTIFICATE-----";

/// The keys of the Secret that the operator manages.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Contents(BTreeMap<&'static str, Vec<u8>>);

/// The place of a certificate in the Secret.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Slot {
    Serving,
    Next,
}

impl Slot {
    fn keys(self) -> (&'static str, &'static str) {
        match self {
            Self::Serving => (CERTIFICATE, KEY),
            Self::Next => (NEXT_CERTIFICATE, NEXT_KEY),
        }
    }
}

impl Contents {
    pub(super) fn of(secret: &Secret) -> Self {
        let data = secret.data.as_ref();
        let value = |key| Some((key, data?.get(key)?.0.clone()));
        Self(KEYS.into_iter().filter_map(value).collect())
    }

    /// Puts these contents into `secret`; its other keys stay.
    pub(super) fn put(&self, mut secret: Secret) -> Secret {
        let data = secret.data.get_or_insert_default();
        data.retain(|key, _| !KEYS.contains(&&**key));
        let entry = |(key, value): (&&str, &Vec<u8>)| (key.to_string(), ByteString(value.clone()));
        data.extend(self.0.iter().map(entry));
        secret
    }

    /// Whether the Secret is empty, as in the manifests.
    pub(super) fn is_empty(&self) -> bool {
        self.0.values().all(Vec::is_empty)
    }

    /// Whether the slot contains anything, valid or not.
    pub(super) fn has(&self, slot: Slot) -> bool {
        let (certificate, key) = slot.keys();
        self.0.contains_key(certificate) || self.0.contains_key(key)
    }

    /// The certificate in a slot, with its key.
    ///
    /// # Errors
    /// The reason as text, if there is no usable certificate.
    pub(super) fn certificate(&self, slot: Slot) -> Result<Arc<CertifiedKey>, String> {
        let (certificate, key) = slot.keys();
        parse(self.bytes(certificate), self.bytes(key))
    }

    /// Verifies that the API server accepts the certificate in a slot at a time for these hosts, with the
    /// bundle as caBundle.
    ///
    /// # Errors
    /// The reason as text, if it does not.
    pub(super) fn verify(
        &self,
        slot: Slot,
        hosts: &[String],
        at: SystemTime,
    ) -> Result<(), String> {
        let certificate = self.certificate(slot)?;
        let mut reason = format!("`{BUNDLE}` holds no CA");
        for ca in self.cas() {
            match verify(&certificate.cert, &ca.der, hosts, at) {
                Ok(()) => return Ok(()),
                Err(error) => reason = error,
            }
        }
        Err(reason)
    }

    /// The caBundle, as PEM.
    pub(super) fn bundle(&self) -> String {
        pem(&self.cas())
    }

    /// Whether the bundle contains more than the CA of the served certificate.
    pub(super) fn has_other_cas(&self, hosts: &[String], at: SystemTime) -> bool {
        self.bytes(BUNDLE) != pem(&self.vouching(hosts, at)).as_bytes()
    }

    /// Contents with only the issued certificate, to be served at once.
    pub(super) fn begin(issued: Issued) -> Self {
        let Issued {
            certificate,
            key,
            ca,
        } = issued;
        let mut contents = Self::default();
        contents.extend([(CERTIFICATE, certificate), (KEY, key), (BUNDLE, ca)]);
        contents
    }

    /// Contents with the issued certificate as the next one, and its CA beside the first one's.
    pub(super) fn prepare(&self, issued: Issued, hosts: &[String], at: SystemTime) -> Self {
        let Issued {
            certificate,
            key,
            ca,
        } = issued;
        let mut contents = self.clone();
        // A certificate that cannot be verified now may still be served for a moment, and verify by a more
        // accurate clock.
        let mut old = self.vouching(hosts, at);
        if old.is_empty() {
            old.extend(self.cas().pop());
        }
        let entries = [
            (BUNDLE, pem(&old) + &ca),
            (NEXT_CERTIFICATE, certificate),
            (NEXT_KEY, key),
        ];
        contents.extend(entries);
        contents
    }

    /// Contents with the next certificate as the served one.
    pub(super) fn switch(&self) -> Self {
        let mut contents = self.clone();
        for (from, to) in [(NEXT_CERTIFICATE, CERTIFICATE), (NEXT_KEY, KEY)] {
            let value = contents.0.remove(from).unwrap_or_default();
            contents.0.insert(to, value);
        }
        contents
    }

    /// Contents with only the CA of the served certificate.
    pub(super) fn finish(&self, hosts: &[String], at: SystemTime) -> Self {
        let mut contents = self.clone();
        contents.extend([(BUNDLE, pem(&self.vouching(hosts, at)))]);
        contents
    }

    fn extend(&mut self, entries: impl IntoIterator<Item = (&'static str, String)>) {
        let entry = |(key, text): (_, String)| (key, text.into_bytes());
        self.0.extend(entries.into_iter().map(entry));
    }

    /// The CAs that verify the served certificate.
    fn vouching(&self, hosts: &[String], at: SystemTime) -> Vec<Ca> {
        let Ok(certificate) = self.certificate(Slot::Serving) else {
            return Vec::new();
        };
        let mut cas = self.cas();
        cas.retain(|ca| verify(&certificate.cert, &ca.der, hosts, at).is_ok());
        cas
    }

    /// The valid CAs in the bundle.
    fn cas(&self) -> Vec<Ca> {
        let text = String::from_utf8_lossy(self.bytes(BUNDLE));
        let ca = |block: &str| {
            let pem = format!("{}\n", &block[block.find(BEGIN)?..]);
            let der = CertificateDer::from_pem_slice(pem.as_bytes()).ok()?;
            is_ca(&der).then_some(Ca { pem, der })
        };
        text.split_inclusive(END).filter_map(ca).collect()
    }

    fn bytes(&self, key: &str) -> &[u8] {
        self.0.get(key).map_or(&[], Vec::as_slice)
    }
}

/// One CA certificate of the bundle.
struct Ca {
    pem: String,
    der: CertificateDer<'static>,
}

fn pem(cas: &[Ca]) -> String {
    cas.iter().map(|ca| &*ca.pem).collect()
}
