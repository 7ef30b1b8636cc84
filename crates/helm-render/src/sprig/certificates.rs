//! Private keys and certificates for them.

use std::{any::Any, net::IpAddr, rc::Rc, time::Duration};

use der::{
    DateTime, Decode, Encode,
    asn1::{Any as Asn1, Ia5String, ObjectIdentifier, OctetString, PrintableString, Utf8StringRef},
};
use sha2::{Digest, Sha256};
use x509_cert::{
    Certificate as X509, SubjectPublicKeyInfo, TbsCertificate,
    attr::AttributeTypeAndValue,
    builder::{Builder, CertificateBuilder, profile::BuilderProfile},
    ext::{
        Extension, ToExtension,
        pkix::{
            AuthorityKeyIdentifier, BasicConstraints, ExtendedKeyUsage, KeyUsage, KeyUsages,
            SubjectAltName, SubjectKeyIdentifier, name::GeneralName,
        },
    },
    name::{Name, RdnSequence, RelativeDistinguishedName},
    serial_number::SerialNumber,
    spki::{
        DynSignatureAlgorithmIdentifier, EncodePublicKey, SignatureBitStringEncoding,
        SubjectPublicKeyInfoRef,
    },
    time::{Time as CertificateTime, Validity},
};

use super::{
    crypto::WORK,
    encodings,
    keys::{Key, decode, encode},
    random,
    strings::{number, string},
    time::Time,
};
use crate::{
    function::{Functions, Kind},
    value::{Object, Value},
};

type Fallible<T> = Result<T, String>;

const CERTIFICATE: Kind = Kind::Object("sprig.certificate");

pub fn add(all: &mut Functions) {
    all.add("genPrivateKey", &[Kind::String], |call, given| {
        call.scope.budget.work(WORK)?;
        let kind = string(&given[0]);
        Ok(match Key::generate(kind)? {
            Some(key) => key.to_pem()?.into(),
            None => format!("Unknown type {kind}").into(),
        })
    });
    all.add("buildCustomCert", &[Kind::String; 2], |_, given| {
        custom(string(&given[0]), string(&given[1])).map(Certificate::value)
    });
    for (name, parameters) in [
        ("genCA", &[Kind::String, Kind::Int][..]),
        (
            "genSelfSignedCert",
            &[Kind::String, Kind::List, Kind::List, Kind::Int],
        ),
        (
            "genSignedCert",
            &[Kind::String, Kind::List, Kind::List, Kind::Int, CERTIFICATE],
        ),
    ] {
        all.add(name, parameters, |call, given| {
            call.scope.budget.work(WORK)?;
            Request::of(given).issue(|| Key::new_rsa(2048))
        });
        let with_key = [parameters, &[Kind::String]].concat();
        all.add(&format!("{name}WithKey"), &with_key, |call, given| {
            call.scope.budget.work(WORK)?;
            let key = string(&given[given.len() - 1]);
            let parsed =
                || Key::parse(key).map_err(|error| format!("parsing private key: {error}"));
            Request::of(&given[..given.len() - 1]).issue(parsed)
        });
    }
}

/// A certificate with its key, both in PEM.
#[derive(Clone, PartialEq)]
pub struct Certificate {
    pub cert: String,
    pub key: String,
}

impl Certificate {
    fn value(self) -> Value {
        Value::Object(Rc::new(self))
    }
}

impl Object for Certificate {
    fn json(&self) -> Option<serde_json::Value> {
        Some(serde_json::json!({"Cert": &*self.cert, "Key": &*self.key}))
    }

    fn type_name(&self) -> &'static str {
        "sprig.certificate"
    }

    fn kind(&self) -> &'static str {
        "struct"
    }

    fn field(&self, name: &str, _: &[Value]) -> Option<Fallible<Value>> {
        match name {
            "Cert" => Some(Ok(self.cert.as_str().into())),
            "Key" => Some(Ok(self.key.as_str().into())),
            _ => None,
        }
    }

    fn text(&self) -> String {
        format!("{{{} {}}}", self.cert, self.key)
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}

fn parse_certificate(text: &str, what: &str) -> Fallible<X509> {
    let block = decode(text).ok_or("unable to decode certificate")?;
    X509::from_der(&block.bytes)
        .map_err(|error| format!("error parsing certificate: {what}.Bytes: {error}"))
}

/// A certificate of the user, if it is one.
fn custom(cert: &str, key: &str) -> Fallible<Certificate> {
    let decoded = |text: &str, what: &str| {
        let bytes =
            encodings::base64(text).map_err(|_| format!("unable to decode base64 {what}"))?;
        encodings::text_of("buildCustomCert", bytes)
    };
    let (cert, key) = (decoded(cert, "certificate")?, decoded(key, "private key")?);
    parse_certificate(&cert, "decodedCert")?;
    Key::parse(&key).map_err(|error| format!("error parsing private key: {error}"))?;
    Ok(Certificate { cert, key })
}

/// What a certificate is asked for.
struct Request<'a> {
    name: &'a str,
    addresses: Option<&'a Value>,
    hosts: Option<&'a Value>,
    days: i64,
    /// The certificate that signs; its own if there is none.
    parent: Option<&'a Certificate>,
    is_authority: bool,
}

fn items(list: Option<&Value>) -> &[Value] {
    match list {
        Some(Value::List(list)) => &list.items,
        _ => &[],
    }
}

impl<'a> Request<'a> {
    fn of(given: &'a [Value]) -> Self {
        let name = string(&given[0]);
        match given {
            [_, days] => Self {
                name,
                addresses: None,
                hosts: None,
                days: number(days),
                parent: None,
                is_authority: true,
            },
            _ => Self {
                name,
                addresses: given.get(1),
                hosts: given.get(2),
                days: given.get(3).map_or(0, number),
                parent: given.get(4).and_then(Value::as_object),
                is_authority: false,
            },
        }
    }

    fn names(&self) -> Fallible<Vec<GeneralName>> {
        let mut addresses = Vec::new();
        for item in items(self.addresses) {
            let Value::String(text) = item else {
                let shown = crate::go::print::any(item);
                return Err(format!("error parsing ip: {shown} is not a string"));
            };
            let address: IpAddr = text
                .parse()
                .map_err(|_| format!("error parsing ip: {text}"))?;
            addresses.push(GeneralName::from(address.to_canonical()));
        }
        let mut names = Vec::new();
        for item in items(self.hosts) {
            let Value::String(text) = item else {
                let shown = crate::go::print::any(item);
                return Err(format!(
                    "error processing alternate dns name: {shown} is not a string"
                ));
            };
            names.push(&**text);
        }
        let hosts = names.into_iter().map(|name| match name.is_ascii() {
            true => Ia5String::new(name)
                .map(GeneralName::DnsName)
                .map_err(failed),
            false => {
                let name = crate::go::number::quote(name);
                Err(failed(format!(
                    "x509: {name} cannot be encoded as an IA5String"
                )))
            }
        });
        let mut all = hosts.collect::<Fallible<Vec<_>>>()?;
        all.extend(addresses);
        Ok(all)
    }

    fn validity(&self) -> Fallible<Validity> {
        let now = Time::now();
        let day = 24 * 60 * 60 * super::durations::SECOND;
        let end = now.plus(day.wrapping_mul(self.days));
        let time = |unix: i64| {
            let since =
                u64::try_from(unix).map_err(|_| failed("a time before 1970 is not supported"))?;
            let time = DateTime::from_unix_duration(Duration::from_secs(since)).map_err(failed)?;
            Ok::<_, String>(CertificateTime::from(time))
        };
        Ok(Validity::new(time(now.unix)?, time(end.unix)?))
    }

    fn issue(&self, key: impl FnOnce() -> Fallible<Key>) -> Fallible<Value> {
        let key = key()?;
        let parent = match self.parent {
            None => None,
            Some(parent) => {
                let cert = parse_certificate(&parent.cert, "decodedSignerCert")?;
                let key = Key::parse(&parent.key)
                    .map_err(|error| format!("error parsing private key: {error}"))?;
                Some((cert, key))
            }
        };
        let alternatives = self.names()?;
        let signer = parent.as_ref().map_or(&key, |(_, key)| key);
        let public = public_key(&key)
            .ok_or_else(|| failed("x509: unsupported public key type: *dsa.PublicKey"));
        let Some(signer_public) = public_key(signer) else {
            return Err(failed(
                "x509: certificate private key does not implement crypto.Signer",
            ));
        };
        let public = public?;
        let profile = Profile {
            subject: common_name(self.name)?,
            issuer: parent.as_ref().map(|(cert, _)| cert.tbs_certificate()),
            is_authority: self.is_authority,
            alternatives,
        };
        if let Some((cert, _)) = &parent
            && cert
                .tbs_certificate()
                .subject_public_key_info()
                .to_der()
                .map_err(failed)?
                != signer_public.to_der().map_err(failed)?
        {
            return Err(failed(
                "x509: provided PrivateKey doesn't match parent's PublicKey",
            ));
        }
        let serial = SerialNumber::new(&random::bytes::<16>()?).map_err(failed)?;
        let builder =
            CertificateBuilder::new(profile, serial, self.validity()?, public).map_err(failed)?;
        let cert = match signer {
            Key::Rsa(key) => {
                let signer = rsa::pkcs1v15::SigningKey::<Sha256>::new((**key).clone());
                sign::<_, rsa::pkcs1v15::Signature>(builder, &signer)
            }
            Key::P256(key) => {
                sign::<_, p256::ecdsa::DerSignature>(builder, &p256::ecdsa::SigningKey::from(key))
            }
            Key::P384(key) => {
                sign::<_, p384::ecdsa::DerSignature>(builder, &p384::ecdsa::SigningKey::from(key))
            }
            Key::Ed25519(key) => sign::<_, ed25519_dalek::Signature>(builder, &**key),
            Key::Dsa(_) => {
                Err("x509: certificate private key does not implement crypto.Signer".to_owned())
            }
        };
        let certificate = Certificate {
            cert: encode("CERTIFICATE", &cert.map_err(failed)?),
            key: key.to_pem()?,
        };
        Ok(certificate.value())
    }
}

fn failed(error: impl std::fmt::Display) -> String {
    format!("error creating certificate: {error}")
}

fn sign<S, Signature>(builder: CertificateBuilder<Profile<'_>>, signer: &S) -> Fallible<Vec<u8>>
where
    S: rsa::signature::Signer<Signature>
        + rsa::signature::Keypair
        + DynSignatureAlgorithmIdentifier,
    S::VerifyingKey: EncodePublicKey,
    Signature: SignatureBitStringEncoding,
{
    let cert = builder.build(signer).map_err(|error| error.to_string())?;
    cert.to_der().map_err(|error| error.to_string())
}

/// The public half of a key, unless no certificate can have it.
fn public_key(key: &Key) -> Option<SubjectPublicKeyInfo> {
    match key {
        Key::Rsa(key) => SubjectPublicKeyInfo::from_key(&key.to_public_key()).ok(),
        Key::P256(key) => SubjectPublicKeyInfo::from_key(&key.public_key()).ok(),
        Key::P384(key) => SubjectPublicKeyInfo::from_key(&key.public_key()).ok(),
        Key::Ed25519(key) => SubjectPublicKeyInfo::from_key(&key.verifying_key()).ok(),
        Key::Dsa(_) => None,
    }
}

/// A name that is only a common name, as the type of text that Go takes for it.
fn common_name(text: &str) -> Fallible<Name> {
    let mut names = RdnSequence::default();
    if !text.is_empty() {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b" '()+,-./:=?*&".contains(&byte);
        let value = match text.bytes().all(is_plain) {
            // Two of these signs are no part of the type in other libraries.
            true => PrintableString::new(text)
                .map(|text| Asn1::from(&text))
                .or_else(|_| Asn1::new(der::Tag::PrintableString, text.as_bytes())),
            false => Utf8StringRef::new(text).map(Asn1::from),
        };
        let attribute = AttributeTypeAndValue {
            oid: ObjectIdentifier::new_unwrap("2.5.4.3"),
            value: value.map_err(failed)?,
        };
        names.push(RelativeDistinguishedName::try_from(vec![attribute]).map_err(failed)?);
    }
    names
        .to_der()
        .and_then(|der| Name::from_der(&der))
        .map_err(failed)
}

/// What a certificate says beside its key.
struct Profile<'a> {
    subject: Name,
    /// The certificate that signs; none if it signs itself.
    issuer: Option<&'a TbsCertificate>,
    is_authority: bool,
    alternatives: Vec<GeneralName>,
}

impl BuilderProfile for Profile<'_> {
    fn get_issuer(&self, subject: &Name) -> Name {
        self.issuer
            .map_or(subject, |issuer| issuer.subject())
            .clone()
    }

    fn get_subject(&self) -> Name {
        self.subject.clone()
    }

    fn build_extensions(
        &self,
        own: SubjectPublicKeyInfoRef<'_>,
        _: SubjectPublicKeyInfoRef<'_>,
        tbs: &TbsCertificate,
    ) -> x509_cert::builder::Result<Vec<Extension>> {
        let subject = tbs.subject();
        let mut all = Vec::new();
        let mut usage = KeyUsages::KeyEncipherment | KeyUsages::DigitalSignature;
        if self.is_authority {
            usage |= KeyUsages::KeyCertSign;
        }
        all.push((true, &KeyUsage(usage)).to_extension(subject, &all)?);
        let server_and_client = ["1.3.6.1.5.5.7.3.1", "1.3.6.1.5.5.7.3.2"];
        let purposes = server_and_client.map(ObjectIdentifier::new_unwrap).to_vec();
        all.push((false, &ExtendedKeyUsage(purposes)).to_extension(subject, &all)?);
        let constraints = BasicConstraints {
            ca: self.is_authority,
            path_len_constraint: None,
        };
        all.push((true, &constraints).to_extension(subject, &all)?);
        if self.is_authority {
            let hash = Sha256::digest(own.subject_public_key.raw_bytes());
            let id = SubjectKeyIdentifier(OctetString::new(&hash[..20])?);
            all.push((false, &id).to_extension(subject, &all)?);
        }
        // Only the certificate of another has a name of its key.
        if let Some(issuer) = self.issuer.filter(|issuer| issuer.subject() != subject)
            && let Some((_, SubjectKeyIdentifier(id))) =
                issuer.get_extension::<SubjectKeyIdentifier>()?
        {
            let id = AuthorityKeyIdentifier {
                key_identifier: Some(id),
                ..Default::default()
            };
            all.push((false, &id).to_extension(subject, &all)?);
        }
        if !self.alternatives.is_empty() {
            let names = SubjectAltName(self.alternatives.clone());
            all.push((subject.is_empty(), &names).to_extension(subject, &all)?);
        }
        Ok(all)
    }
}
