//! Passwords and encryption.

use aes::Aes256;
use cbc::cipher::{
    BlockModeDecrypt, BlockModeEncrypt, KeyIvInit, block_padding::NoPadding, block_padding::Pkcs7,
};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::{encodings, random, strings::string};
use crate::{
    function::{Functions, Kind},
    value::Value,
};

type Fallible<T> = Result<T, String>;

/// The work that a hash takes, as a power of two: Go's default.
const COST: u32 = 10;

/// The steps that a hash of a password or a new key counts for: it takes about a tenth of a second.
pub const WORK: u64 = 100_000;

pub fn add(all: &mut Functions) {
    all.add("bcrypt", &[Kind::String], |call, given| {
        call.scope.budget.work(WORK)?;
        Ok(hash(string(&given[0]))?.into())
    });
    all.add("htpasswd", &[Kind::String; 2], |call, given| {
        call.scope.budget.work(WORK)?;
        let user = string(&given[0]);
        if user.contains(':') {
            return Ok(format!("invalid username: {user}").into());
        }
        Ok(format!("{user}:{}", hash(string(&given[1]))?).into())
    });
    let parameters = [
        Kind::Uint32,
        Kind::String,
        Kind::String,
        Kind::String,
        Kind::String,
    ];
    all.add("derivePassword", &parameters, |call, given| {
        call.scope.budget.work(WORK)?;
        let counter = match &given[0] {
            Value::Uint64(it) => u32::try_from(*it).unwrap_or_default(),
            _ => 0,
        };
        let [kind, password, user, site] = [1, 2, 3, 4].map(|at| string(&given[at]));
        Ok(derive(counter, kind, password, user, site)?.into())
    });
    all.add("encryptAES", &[Kind::String; 2], |_, given| {
        let text = string(&given[1]);
        if text.is_empty() {
            return Ok("".into());
        }
        let start: [u8; 16] = random::bytes()?;
        let cipher = cbc::Encryptor::<Aes256>::new(&key(string(&given[0])).into(), &start.into());
        let mut all = start.to_vec();
        all.extend(cipher.encrypt_padded_vec::<Pkcs7>(text.as_bytes()));
        Ok(data_encoding::BASE64.encode(&all).into())
    });
    all.add("decryptAES", &[Kind::String; 2], |_, given| {
        Ok(decrypt(string(&given[0]), string(&given[1]))?.into())
    });
}

/// A hash of a password, or what is wrong with it: sprig has no error for that.
fn hash(password: &str) -> Fallible<String> {
    if password.len() > 72 {
        return Ok(
            "failed to encrypt string with bcrypt: bcrypt: password length exceeds 72 bytes"
                .to_owned(),
        );
    }
    let salt: [u8; 16] = random::bytes()?;
    let hash = bcrypt::hash_with_salt(password, COST, salt).map_err(|error| error.to_string())?;
    Ok(hash.format_for_version(bcrypt::Version::TwoA))
}

/// The bytes of a password, cut or filled with zeros.
fn key(password: &str) -> [u8; 32] {
    let mut key = [0; 32];
    for (to, from) in key.iter_mut().zip(password.bytes()) {
        *to = from;
    }
    key
}

fn decrypt(password: &str, text: &str) -> Fallible<String> {
    if text.is_empty() {
        return Ok(String::new());
    }
    let all = encodings::base64(text)?;
    let Some((start, rest)) = all.split_first_chunk::<16>() else {
        // Go makes room for what whole groups would hold.
        let room = text.len() / 4 * 3;
        return Err(format!(
            "runtime error: slice bounds out of range [:16] with capacity {room}"
        ));
    };
    if rest.len() % 16 != 0 {
        return Err("crypto/cipher: input not full blocks".to_owned());
    }
    let cipher = cbc::Decryptor::<Aes256>::new(&key(password).into(), &(*start).into());
    let mut plain = cipher
        .decrypt_padded_vec::<NoPadding>(rest)
        .map_err(|error| error.to_string())?;
    let Some(padding) = plain.last().map(|it| usize::from(*it)) else {
        return Err("runtime error: index out of range [-1]".to_owned());
    };
    let Some(end) = plain.len().checked_sub(padding) else {
        let end = plain.len() as i64 - padding as i64;
        return Err(format!("runtime error: slice bounds out of range [:{end}]"));
    };
    plain.truncate(end);
    encodings::text_of("decryptAES", plain)
}

const UPPER_VOWELS: &str = "AEIOU";
const UPPER: &str = "BCDFGHJKLMNPQRSTVWXYZ";
const VOWELS: &str = "aeiou";
const LOWER: &str = "bcdfghjklmnpqrstvwxyz";
const DIGITS: &str = "0123456789";

/// The characters that a letter of a template stands for.
fn alphabet(letter: u8) -> String {
    let letters = || [UPPER_VOWELS, VOWELS, UPPER, LOWER].concat();
    match letter {
        b'V' => UPPER_VOWELS.to_owned(),
        b'C' => UPPER.to_owned(),
        b'v' => VOWELS.to_owned(),
        b'c' => LOWER.to_owned(),
        b'a' => letters(),
        b'n' => DIGITS.to_owned(),
        b'o' => "@&%?,=[]_:-+*$#!'^~;()/.".to_owned(),
        _ => letters() + DIGITS + "!@#$%^&*()",
    }
}

/// The templates of a kind of password, as the Master Password algorithm has them.
fn templates(kind: &str) -> Option<&'static [&'static str]> {
    Some(match kind {
        "maximum" => &["anoxxxxxxxxxxxxxxxxx", "axxxxxxxxxxxxxxxxxno"],
        "long" => &[
            "CvcvnoCvcvCvcv",
            "CvcvCvcvnoCvcv",
            "CvcvCvcvCvcvno",
            "CvccnoCvcvCvcv",
            "CvccCvcvnoCvcv",
            "CvccCvcvCvcvno",
            "CvcvnoCvccCvcv",
            "CvcvCvccnoCvcv",
            "CvcvCvccCvcvno",
            "CvcvnoCvcvCvcc",
            "CvcvCvcvnoCvcc",
            "CvcvCvcvCvccno",
            "CvccnoCvccCvcv",
            "CvccCvccnoCvcv",
            "CvccCvccCvcvno",
            "CvcvnoCvccCvcc",
            "CvcvCvccnoCvcc",
            "CvcvCvccCvccno",
            "CvccnoCvcvCvcc",
            "CvccCvcvnoCvcc",
            "CvccCvcvCvccno",
        ],
        "medium" => &["CvcnoCvc", "CvcCvcno"],
        "short" => &["Cvcn"],
        "basic" => &["aaanaaan", "aannaaan", "aaannaaa"],
        "pin" => &["nnnn"],
        _ => return None,
    })
}

/// A password for a site, made from a master password.
fn derive(counter: u32, kind: &str, password: &str, user: &str, site: &str) -> Fallible<String> {
    let Some(templates) = templates(kind) else {
        return Ok(format!("cannot find password template {kind}"));
    };
    let salted = |text: &str| {
        let mut salted = b"com.lyndir.masterpassword".to_vec();
        salted.extend((text.len() as u32).to_be_bytes());
        salted.extend(text.bytes());
        salted
    };
    let params = scrypt::Params::new(15, 8, 2).map_err(|error| error.to_string())?;
    let mut key = [0; 64];
    scrypt::scrypt(password.as_bytes(), &salted(user), &params, &mut key)
        .map_err(|error| error.to_string())?;
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).map_err(|error| error.to_string())?;
    mac.update(&salted(site));
    mac.update(&counter.to_be_bytes());
    let seed = mac.finalize().into_bytes();
    let template = templates[usize::from(seed[0]) % templates.len()];
    let letters = template.bytes().zip(&seed[1..]).map(|(letter, number)| {
        let alphabet = alphabet(letter).into_bytes();
        char::from(alphabet[usize::from(*number) % alphabet.len()])
    });
    Ok(letters.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_derived() {
        assert_eq!(
            derive(1, "long", "password", "user", "example.com").unwrap(),
            "ZedaFaxcZaso9*"
        );
        assert_eq!(
            derive(1, "none", "", "", "").unwrap(),
            "cannot find password template none"
        );
    }

    #[test]
    fn texts_are_decrypted() {
        let text = "30tEfhuJSVRhpG97XCuWgz2okj7L8vQ1s6V9zVUPeDQ=";
        assert_eq!(decrypt("secretkey", text).as_deref(), Ok("plaintext"));
        assert!(decrypt("secretkey", "aGVsbG8=").is_err());
    }
}
