//! The input of a digest: the bytes of a file with LF line ends, or the tokens of a Rust file. The build script uses it, too.

use std::borrow::Cow;

use super::rust::without_layout;

/// The input of the digest of a file with this extension.
pub fn plain<'a>(extension: &str, bytes: &'a [u8]) -> Cow<'a, [u8]> {
    let unix = unix_line_ends(bytes);
    match extension {
        "rs" => Cow::Owned(without_layout(&unix)),
        _ => unix,
    }
}

/// `bytes` with every CRLF as LF.
pub fn unix_line_ends(bytes: &[u8]) -> Cow<'_, [u8]> {
    if !bytes.contains(&b'\r') {
        return Cow::Borrowed(bytes);
    }
    let mut unix = Vec::with_capacity(bytes.len());
    for (at, &byte) in bytes.iter().enumerate() {
        if byte != b'\r' || bytes.get(at + 1) != Some(&b'\n') {
            unix.push(byte);
        }
    }
    Cow::Owned(unix)
}
