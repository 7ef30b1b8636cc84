//! The hash of a snapshot, which etcd sends behind it.

use sha2::{Digest, Sha256};

/// The length of a SHA-256 in bytes.
const LENGTH: usize = 32;

/// Reads bytes whose last 32 are the hash of all bytes before.
#[derive(Default)]
pub struct Checksum {
    hash: Sha256,
    size: i64,
    /// The last bytes, which are not hashed, because they may be the hash.
    last: Vec<u8>,
}

impl Checksum {
    pub fn read(&mut self, bytes: &[u8]) {
        self.size += i64::try_from(bytes.len()).unwrap_or(i64::MAX);
        self.last.extend_from_slice(bytes);
        let hashed = self.last.len().saturating_sub(LENGTH);
        self.hash.update(&self.last[..hashed]);
        self.last.drain(..hashed);
    }

    /// The number of bytes, and their hash in hexadecimal, if that is the one at their end.
    pub fn finish(self) -> anyhow::Result<(i64, String)> {
        let hash = self.hash.finalize();
        anyhow::ensure!(
            self.last == hash.as_slice(),
            "the snapshot does not have the hash that etcd sent with it"
        );
        let hash = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok((self.size, hash))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_bytes_with_their_hash_behind_them_are_whole() {
        let data: Vec<u8> = (0..100).collect();
        let whole = [data.clone(), Sha256::digest(&data).to_vec()].concat();
        for (bytes, part, is_whole) in [
            (&whole, 7, true),
            (&whole, 132, true),
            (&whole[..131].to_vec(), 7, false),
            (&data, 50, false),
            (&Vec::new(), 1, false),
        ] {
            let mut checksum = Checksum::default();
            bytes.chunks(part).for_each(|part| checksum.read(part));
            let size = checksum.finish().ok().map(|(size, _)| size);
            assert_eq!(size, is_whole.then_some(132), "{} bytes", bytes.len());
        }
    }
}
