//! Bytes as texts: base64, base32 and checksums.

use data_encoding::{BASE32, BASE64, Encoding, Specification};
use sha1::{Digest, Sha1};
use sha2::{Sha256, Sha512};

use super::strings::string;
use crate::{
    function::{Functions, Kind},
    value::Value,
};

pub fn add(all: &mut Functions) {
    let mut map = |name: &str, call: fn(&str) -> String| {
        all.add(name, &[Kind::String], move |_, given| {
            Ok(call(string(&given[0])).into())
        });
    };
    map("b64enc", |it| BASE64.encode(it.as_bytes()));
    map("b32enc", |it| BASE32.encode(it.as_bytes()));
    map("sha1sum", |it| hex(&Sha1::digest(it)));
    map("sha256sum", |it| hex(&Sha256::digest(it)));
    map("sha512sum", |it| hex(&Sha512::digest(it)));
    map("adler32sum", |it| adler32(it.as_bytes()).to_string());
    // What is wrong with the text is the result of these two, not an error.
    all.add("b64dec", &[Kind::String], |_, given| {
        decoded("b64dec", base64(string(&given[0])))
    });
    all.add("b32dec", &[Kind::String], |_, given| {
        decoded("b32dec", base32(string(&given[0])))
    });
}

fn decoded(name: &str, bytes: Result<Vec<u8>, String>) -> Result<Value, String> {
    match bytes {
        Ok(bytes) => text_of(name, bytes).map(Value::from),
        Err(error) => Ok(error.into()),
    }
}

/// The text that bytes are. Go's strings may hold any bytes, those of this crate may not.
pub fn text_of(name: &str, bytes: Vec<u8>) -> Result<String, String> {
    String::from_utf8(bytes)
        .map_err(|_| format!("{name}: the bytes are no text in UTF-8, which is not supported"))
}

fn hex(bytes: &[u8]) -> String {
    data_encoding::HEXLOWER.encode(bytes)
}

fn adler32(bytes: &[u8]) -> u32 {
    let (low, high) = bytes.iter().fold((1u32, 0u32), |(low, high), byte| {
        let low = (low + u32::from(*byte)) % 65_521;
        (low, (high + low) % 65_521)
    });
    high << 16 | low
}

/// Go lets the bits that no byte needs be anything, and lines be broken anywhere.
fn loose(strict: &Encoding) -> Option<Encoding> {
    let mut rules: Specification = strict.specification();
    rules.check_trailing_bits = false;
    rules.encoding().ok()
}

fn decode(strict: &Encoding, text: &str) -> Option<Vec<u8>> {
    let signs: Vec<u8> = text
        .bytes()
        .filter(|byte| !matches!(byte, b'\r' | b'\n'))
        .collect();
    loose(strict)?.decode(&signs).ok()
}

/// The bytes that a text in the standard base64 stands for, which may have line breaks.
///
/// # Errors
/// As Go's, with the place.
pub fn base64(text: &str) -> Result<Vec<u8>, String> {
    let wrong = |at: usize| format!("illegal base64 data at input byte {at}");
    match base64_fault(text.as_bytes()) {
        Some(at) => Err(wrong(at)),
        None => decode(&BASE64, text).ok_or_else(|| wrong(0)),
    }
}

/// The first byte that Go complains about.
fn base64_fault(text: &[u8]) -> Option<usize> {
    let is_sign = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let places = text.iter().copied().enumerate();
    let signs: Vec<_> = places
        .filter(|(_, byte)| !matches!(byte, b'\r' | b'\n'))
        .collect();
    for (number, group) in signs.chunks(4).enumerate() {
        let Some(at) = group.iter().position(|(_, byte)| !is_sign(*byte)) else {
            if group.len() < 4 {
                return Some(text.len() - group.len());
            }
            continue;
        };
        let (place, byte) = group[at];
        if byte != b'=' || at < 2 {
            return Some(place);
        }
        let mut end = number * 4 + at + 1;
        if at == 2 {
            match signs.get(end) {
                None => return Some(text.len()),
                Some((place, byte)) if *byte != b'=' => return Some(place - 1),
                Some(_) => end += 1,
            }
        }
        return signs.get(end).map(|(place, _)| *place);
    }
    None
}

fn base32(text: &str) -> Result<Vec<u8>, String> {
    let signs: Vec<u8> = text
        .bytes()
        .filter(|byte| !matches!(byte, b'\r' | b'\n'))
        .collect();
    let wrong = |at: usize| format!("illegal base32 data at input byte {at}");
    match base32_fault(&signs) {
        // What stands behind the padding does not count.
        Ok(end) => decode(
            &BASE32,
            std::str::from_utf8(&signs[..end]).unwrap_or_default(),
        )
        .ok_or_else(|| wrong(0)),
        Err(at) => Err(wrong(at)),
    }
}

/// Where the data ends, or the first byte that Go complains about.
fn base32_fault(signs: &[u8]) -> Result<usize, usize> {
    let is_sign = |byte: u8| byte.is_ascii_uppercase() || (b'2'..=b'7').contains(&byte);
    for (number, group) in signs.chunks(8).enumerate() {
        let start = number * 8;
        let Some(at) = group.iter().position(|byte| !is_sign(*byte)) else {
            if group.len() < 8 {
                return Err(signs.len() - group.len());
            }
            continue;
        };
        // Less than a whole group may stand behind the padding.
        let behind = signs.len() - (start + at + 1);
        if group[at] != b'=' || at < 2 || behind >= 8 {
            return Err(start + at);
        }
        if group.len() < 8 {
            return Err(signs.len());
        }
        if let Some(other) = group[at..].iter().position(|byte| *byte != b'=') {
            return Err(start + at + other - 1);
        }
        return match at {
            3 | 6 => Err(start + at),
            _ => Ok(start + 8),
        };
    }
    Ok(signs.len())
}
