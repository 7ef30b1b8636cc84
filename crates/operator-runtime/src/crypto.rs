//! The cryptography of TLS, hashes and random numbers: one provider of rustls for all of them.

use std::sync::{Arc, LazyLock};

use rustls::crypto::{
    CryptoProvider,
    hash::{Hash, HashAlgorithm},
};

#[cfg(not(any(feature = "ring", feature = "aws-lc-rs")))]
compile_error!(
    "operator-runtime needs a provider of cryptography: enable its feature `ring` or `aws-lc-rs`"
);

#[cfg(feature = "aws-lc-rs")]
use rustls::crypto::aws_lc_rs as compiled;
#[cfg(not(feature = "aws-lc-rs"))]
use rustls::crypto::ring as compiled;

/// The provider of the features: with both, aws-lc-rs, because `ring` is on unless somebody turns it off.
static COMPILED: LazyLock<Arc<CryptoProvider>> =
    LazyLock::new(|| Arc::new(compiled::default_provider()));

/// The provider that the program has installed as the default of the process, else that of the features, which
/// becomes the default. Without a default, TLS panics as soon as a dependency adds a second provider.
pub(crate) fn provider() -> Arc<CryptoProvider> {
    if CryptoProvider::get_default().is_none() {
        // Another thread may have been faster.
        _ = CryptoProvider::clone(&COMPILED).install_default();
    }
    CryptoProvider::get_default().unwrap_or(&COMPILED).clone()
}

/// The SHA-256 of `text`.
pub(crate) fn sha256(text: &[u8]) -> [u8; 32] {
    let provider = provider();
    let suites = provider.cipher_suites.iter();
    // An installed provider may be limited to other hashes.
    let mut suites = suites.chain(&COMPILED.cipher_suites);
    let sha256: &dyn Hash = suites
        .find_map(|suite| {
            let hash = suite.tls13()?.common.hash_provider;
            (hash.algorithm() == HashAlgorithm::SHA256).then_some(hash)
        })
        .expect("TLS 1.3 requires a cipher suite with SHA-256");
    let mut digest = [0; 32];
    digest.copy_from_slice(sha256.hash(text).as_ref());
    digest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_provider_is_that_of_the_features() {
        let expected = match cfg!(feature = "aws-lc-rs") {
            true => "AwsLcRs",
            false => "Ring",
        };
        assert_eq!(format!("{:?}", provider().key_provider), expected);
        assert!(CryptoProvider::get_default().is_some());
        // `make fips` sets the variable, and the feature of rustls.
        assert_eq!(provider().fips(), std::env::var_os("FIPS").is_some());
    }

    /// FIPS 180-2, appendix B.1.
    #[test]
    fn a_digest_is_that_of_the_standard() {
        let hex: String = sha256(b"abc")
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        assert_eq!(
            hex,
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}
