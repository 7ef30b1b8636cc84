//! The cryptography of the operator's TLS.

use serde::{Deserialize, Serialize};

/// The provider of rustls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Crypto {
    /// ring: small, and quickly compiled.
    #[default]
    Ring,
    /// aws-lc-rs, which also has a mode for FIPS 140.
    AwsLcRs,
}

impl Crypto {
    /// Both providers.
    pub const ALL: [Self; 2] = [Self::Ring, Self::AwsLcRs];

    /// The word in `PROJECT` and on the command line, which is also the crate and the feature of the runtime.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ring => "ring",
            Self::AwsLcRs => "aws-lc-rs",
        }
    }

    /// The other provider.
    pub fn other(self) -> Self {
        match self {
            Self::Ring => Self::AwsLcRs,
            Self::AwsLcRs => Self::Ring,
        }
    }
}
