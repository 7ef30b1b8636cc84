//! Private keys in PEM.

use std::{cell::RefCell, collections::BTreeMap};

use dsa::pkcs8::{DecodePrivateKey as _, EncodePrivateKey as _};
use getrandom::SysRng;
use p256::elliptic_curve::Generate as _;
use rsa::{
    pkcs1::{DecodeRsaPrivateKey as _, EncodeRsaPrivateKey as _},
    rand_core::UnwrapErr,
};

use super::{encodings, random};

type Fallible<T> = Result<T, String>;

/// A private key.
pub enum Key {
    Rsa(Box<rsa::PrivateKey>),
    P256(p256::SecretKey),
    P384(p384::SecretKey),
    Ed25519(Box<ed25519_dalek::SigningKey>),
    /// The DER of a key of DSA, which signs no certificate.
    Dsa(Vec<u8>),
}

thread_local! {
    static REUSED: RefCell<Option<BTreeMap<usize, Box<rsa::PrivateKey>>>> = const { RefCell::new(None) };
}

/// While it lives, this thread makes one key of RSA of each length, and gives it again and again: that takes most of the time of a
/// chart which makes certificates.
pub struct Reused(());

impl Default for Reused {
    fn default() -> Self {
        REUSED.set(Some(BTreeMap::new()));
        Self(())
    }
}

impl Drop for Reused {
    fn drop(&mut self) {
        REUSED.set(None);
    }
}

/// A block of PEM.
pub struct Block {
    /// The name of what it holds.
    pub name: String,
    pub bytes: Vec<u8>,
}

/// The first block of a text.
pub fn decode(text: &str) -> Option<Block> {
    let mut rest = text;
    loop {
        let at = rest.find("-----BEGIN ")?;
        let is_line = at == 0 || rest[..at].ends_with('\n');
        rest = &rest[at + 11..];
        let Some((name, after)) = rest.split_once("-----").filter(|_| is_line) else {
            continue;
        };
        let end = format!("-----END {name}-----");
        let Some((body, _)) = after.split_once(&end).filter(|_| !name.contains('\n')) else {
            continue;
        };
        // Headers stand before the data.
        let lines = body.trim_start_matches([' ', '\t', '\r', '\n']).lines();
        let data: String = lines.skip_while(|line| line.contains(':')).collect();
        let signs: String = data.split_whitespace().collect();
        if let Ok(bytes) = encodings::base64(&signs) {
            return Some(Block {
                name: name.to_owned(),
                bytes,
            });
        }
    }
}

/// A text with a block.
pub fn encode(name: &str, bytes: &[u8]) -> String {
    let data = data_encoding::BASE64.encode(bytes);
    let mut text = format!("-----BEGIN {name}-----\n");
    let mut rest = &*data;
    while !rest.is_empty() {
        let (line, after) = rest.split_at(rest.len().min(64));
        text += line;
        text.push('\n');
        rest = after;
    }
    text + &format!("-----END {name}-----\n")
}

fn said(error: impl std::fmt::Display) -> String {
    error.to_string()
}

impl Key {
    /// A new key of RSA with this many bits, or that of before where keys are [`Reused`].
    pub fn new_rsa(bits: usize) -> Fallible<Self> {
        let reused = REUSED.with_borrow(|keys| keys.as_ref()?.get(&bits).cloned());
        if let Some(key) = reused {
            return Ok(Self::Rsa(key));
        }
        // The system is asked first: the generator of the crate would panic.
        random::bytes::<1>()?;
        let key = rsa::PrivateKey::new(&mut UnwrapErr(SysRng), bits);
        let key = Box::new(key.map_err(said)?);
        REUSED.with_borrow_mut(|keys| {
            if let Some(keys) = keys {
                keys.insert(bits, key.clone());
            }
        });
        Ok(Self::Rsa(key))
    }

    /// A new key of a type; `None` if there is no such type.
    pub fn generate(kind: &str) -> Fallible<Option<Self>> {
        random::bytes::<1>()?;
        let rng = &mut UnwrapErr(SysRng);
        Ok(Some(match kind {
            "" | "rsa" => Self::new_rsa(4096)?,
            "ecdsa" => Self::P256(p256::SecretKey::generate_from_rng(rng)),
            "ed25519" => Self::Ed25519(Box::new(ed25519_dalek::SigningKey::from_bytes(
                &random::bytes()?,
            ))),
            "dsa" => Self::Dsa(dsa_der(&dsa::SigningKey::generate_from_rng(rng))?),
            _ => return Ok(None),
        }))
    }

    /// Its PEM.
    pub fn to_pem(&self) -> Fallible<String> {
        Ok(match self {
            Self::Rsa(key) => encode(
                "RSA PRIVATE KEY",
                key.to_pkcs1_der().map_err(said)?.as_bytes(),
            ),
            Self::P256(key) => encode("EC PRIVATE KEY", &key.to_sec1_der().map_err(said)?),
            Self::P384(key) => encode("EC PRIVATE KEY", &key.to_sec1_der().map_err(said)?),
            Self::Ed25519(key) => {
                // Version 1 of the format has no public key, as in Go.
                let pair = ed25519_dalek::pkcs8::KeypairBytes {
                    secret_key: key.to_bytes(),
                    public_key: None,
                };
                encode("PRIVATE KEY", pair.to_pkcs8_der().map_err(said)?.as_bytes())
            }
            Self::Dsa(der) => encode("DSA PRIVATE KEY", der),
        })
    }

    /// Reads a key.
    ///
    /// # Errors
    /// The text is no PEM, or of no key that is known here.
    pub fn parse(text: &str) -> Fallible<Self> {
        let Block { name, bytes } = decode(text).ok_or("no PEM data in input")?;
        if name == "PRIVATE KEY" {
            return Self::parse_pkcs8(&bytes);
        }
        let Some(kind) = name.strip_suffix(" PRIVATE KEY") else {
            return Err(format!("no private key data in PEM block of type {name}"));
        };
        let wrong =
            |error: &dyn std::fmt::Display| format!("parsing {kind} private key from PEM: {error}");
        match kind {
            "RSA" => {
                let key = rsa::PrivateKey::from_pkcs1_der(&bytes);
                Ok(Self::Rsa(Box::new(key.map_err(|error| wrong(&error))?)))
            }
            "EC" => match p256::SecretKey::from_sec1_der(&bytes) {
                Ok(key) => Ok(Self::P256(key)),
                Err(error) => p384::SecretKey::from_sec1_der(&bytes)
                    .map(Self::P384)
                    .map_err(|_| wrong(&error)),
            },
            "DSA" => match is_dsa(&bytes) {
                true => Ok(Self::Dsa(bytes)),
                false => Err(wrong(&"asn1: structure error")),
            },
            kind => Err(format!("invalid private key type {kind}")),
        }
    }

    fn parse_pkcs8(der: &[u8]) -> Fallible<Self> {
        if let Ok(key) = rsa::PrivateKey::from_pkcs8_der(der) {
            return Ok(Self::Rsa(Box::new(key)));
        }
        if let Ok(key) = p256::SecretKey::from_pkcs8_der(der) {
            return Ok(Self::P256(key));
        }
        if let Ok(key) = p384::SecretKey::from_pkcs8_der(der) {
            return Ok(Self::P384(key));
        }
        match ed25519_dalek::SigningKey::from_pkcs8_der(der) {
            Ok(key) => Ok(Self::Ed25519(Box::new(key))),
            Err(error) => Err(format!("decoding PEM as PKCS#8: {error}")),
        }
    }
}

/// Six integers: a version, and the parameters with the two halves of the key.
fn dsa_der(key: &dsa::SigningKey) -> Fallible<Vec<u8>> {
    use der::{Encode, asn1::Uint};
    let parts = key.verifying_key().components();
    let numbers = [
        Box::from([0]),
        parts.p().to_be_bytes(),
        parts.q().to_be_bytes(),
        parts.g().to_be_bytes(),
        key.verifying_key().y().to_be_bytes(),
        key.x().to_be_bytes(),
    ];
    let numbers = numbers.map(|number: Box<[u8]>| Uint::new(&number));
    numbers
        .into_iter()
        .collect::<Result<Vec<_>, _>>()
        .and_then(|it| it.to_der())
        .map_err(said)
}

fn is_dsa(der: &[u8]) -> bool {
    use der::{Decode, asn1::Int};
    Vec::<Int>::from_der(der).is_ok_and(|numbers| numbers.len() == 6)
}
