//! What a digest is made of: the bytes of a file without its line ends and, in Rust, without its layout. The build script
//! takes the digests of the embedded files of it too.

use std::borrow::Cow;

use super::rust::without_layout;

/// What counts of a file with this extension.
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
