//! The versions of Kubernetes whose types a project can have.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::name::{Invalid, text_serde};

/// The minor versions whose types k8s-openapi 0.29 has: its features `v1_33` to `v1_37`.
const OLDEST: u32 = 33;
const NEWEST: u32 = 37;

/// A minor version of Kubernetes, such as `1.33`: the oldest API server that an operator works with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KubernetesVersion(u32);

impl KubernetesVersion {
    /// The oldest version that a project can choose.
    pub const OLDEST: Self = Self(OLDEST);
    /// The newest version that a project can choose, and the version of a project that chooses none.
    pub const NEWEST: Self = Self(NEWEST);

    /// The version `1.minor`, which is between the oldest and the newest.
    pub(super) const fn minor(minor: u32) -> Self {
        assert!(OLDEST <= minor && minor <= NEWEST);
        Self(minor)
    }

    /// All versions that a project can choose, the oldest first.
    pub fn all() -> impl Iterator<Item = Self> {
        (OLDEST..=NEWEST).map(Self)
    }

    /// The feature of k8s-openapi: `v1_33`.
    pub fn feature(self) -> String {
        format!("v1_{}", self.0)
    }
}

impl Default for KubernetesVersion {
    fn default() -> Self {
        Self::NEWEST
    }
}

impl FromStr for KubernetesVersion {
    type Err = Invalid;

    /// Parses `1.33`. A patch version or a `v` is refused, because it would mean nothing: types change with minor versions.
    fn from_str(text: &str) -> Result<Self, Invalid> {
        if let Some(found) = Self::all().find(|version| version.to_string() == text) {
            return Ok(found);
        }
        let bare = text.strip_prefix('v').unwrap_or(text);
        let mut parts = bare.split('.').map(str::parse::<u32>);
        let minor = match (parts.next(), parts.next()) {
            (Some(Ok(1)), Some(Ok(minor))) => Some(minor),
            _ => None,
        };
        let fault = match minor {
            Some(minor) if minor < OLDEST => format!("1.{minor} is older than 1.{OLDEST}"),
            Some(minor) if minor > NEWEST => format!("1.{minor} is newer than 1.{NEWEST}"),
            Some(_) => "types belong to a minor version".to_owned(),
            None => "it is not a version of Kubernetes".to_owned(),
        };
        let nearest = minor.map_or(NEWEST, |minor| minor.clamp(OLDEST, NEWEST));
        Err(Invalid {
            what: "kubernetes",
            found: text.escape_debug().to_string(),
            fault,
            rule: "it is a minor version whose types k8s-openapi 0.29 has: `1.33`, `1.34`, `1.35`, `1.36` or `1.37`",
            suggestion: Some(Self(nearest).to_string()),
        })
    }
}

impl fmt::Display for KubernetesVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "1.{}", self.0)
    }
}

text_serde!(KubernetesVersion, "version of Kubernetes");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minor_versions_of_k8s_openapi_are_accepted() {
        for version in KubernetesVersion::all() {
            assert_eq!(version.to_string().parse(), Ok(version));
        }
        let ends = [KubernetesVersion::OLDEST, KubernetesVersion::NEWEST];
        assert_eq!(ends.map(KubernetesVersion::feature), ["v1_33", "v1_37"]);
    }

    #[test]
    fn other_texts_are_refused_with_the_nearest_version() {
        let cases = [
            ("", "1.37"),
            ("1", "1.37"),
            ("2.0", "1.37"),
            ("latest", "1.37"),
            ("1.32", "1.33"),
            ("1.38", "1.37"),
            ("v1.34", "1.34"),
            ("1.35.2", "1.35"),
            ("1.033", "1.33"),
            ("1.-1", "1.37"),
        ];
        for (text, nearest) in cases {
            let invalid = text.parse::<KubernetesVersion>().unwrap_err();
            assert_eq!(invalid.suggestion.as_deref(), Some(nearest), "{text}");
        }
    }

    /// The lockfile of this repository has the release of k8s-openapi whose versions these are.
    #[test]
    fn the_release_of_k8s_openapi_is_the_locked_one() {
        let lock = include_str!("../../../Cargo.lock");
        assert!(lock.contains("name = \"k8s-openapi\"\nversion = \"0.29."));
    }
}
