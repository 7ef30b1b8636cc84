//! API versions and their order.

use std::cmp::Reverse;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::rule::{self, Fault};
use super::{Invalid, text_serde};

/// How stable a version says it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// May change or go away without notice.
    Alpha,
    /// Well tested; changes come with a migration.
    Beta,
    /// Stays.
    Stable,
}

/// An API version such as `v1alpha1`. Ordered by age: v1alpha1, v1beta1, v1, v2alpha1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    major: u32,
    stage: Stage,
    minor: u32,
}

impl Version {
    /// Parses a version; [`Invalid`] explains what is wrong and suggests a fix.
    ///
    /// Stricter than the API server, which takes any DNS label: only these versions have an order there.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let fault =
            |fault: &str| Fault::new(fault, nearest(text)).of("version", rule::VERSION, text);
        let Some(rest) = text.strip_prefix('v') else {
            return Err(fault(match text.chars().next() {
                None => "it is empty",
                Some('V') => "the `V` is upper case",
                Some(_) => "it does not start with `v`",
            }));
        };
        let (major, rest) =
            number(rest).ok_or_else(|| fault("no number from 1 to 4294967295 follows the `v`"))?;
        let (stage, rest) = match (rest.strip_prefix("alpha"), rest.strip_prefix("beta")) {
            (Some(rest), _) => (Stage::Alpha, rest),
            (_, Some(rest)) => (Stage::Beta, rest),
            _ if rest.is_empty() => {
                return Ok(Self {
                    major,
                    stage: Stage::Stable,
                    minor: 0,
                });
            }
            _ => {
                return Err(fault(&format!(
                    "`{rest}` after the number is not `alpha` or `beta`"
                )));
            }
        };
        match number(rest) {
            Some((minor, "")) => Ok(Self {
                major,
                stage,
                minor,
            }),
            Some((_, rest)) => Err(fault(&format!("`{rest}` is too much"))),
            None => Err(fault("no number from 1 to 4294967295 follows the stage")),
        }
    }

    /// The sort key of Kubernetes' version priority: stable before beta before alpha, then the higher number first.
    /// The smallest key is what `kubectl get` shows when no version is named.
    pub fn priority(self) -> impl Ord {
        Reverse((self.stage, self.major, self.minor))
    }

    /// The sort key of the Rust style guide, which compares the text with its numbers by value: v1, v1alpha1, v1beta1, v2.
    pub fn spelled(self) -> impl Ord {
        let is_longer = self.stage != Stage::Stable;
        (self.major, is_longer, self.stage, self.minor)
    }

    /// Which version of a kind is stored: the most stable, and of those the oldest, so that a new version of the same
    /// stability never changes what is in etcd. `None` only for no versions.
    pub fn storage(versions: impl IntoIterator<Item = Self>) -> Option<Self> {
        versions
            .into_iter()
            .min_by_key(|version| (Reverse(version.stage), version.major, version.minor))
    }

    /// The stable version after this one's number.
    pub fn next(self) -> Self {
        Self {
            major: self.major.saturating_add(1),
            stage: Stage::Stable,
            minor: 0,
        }
    }

    /// The version that probably follows: v1 after what is older, otherwise the next stable one.
    pub fn following(self) -> Self {
        let first = Self {
            major: 1,
            stage: Stage::Stable,
            minor: 0,
        };
        if self < first { first } else { self.next() }
    }

    /// How stable it is.
    pub fn stage(self) -> Stage {
        self.stage
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            major,
            stage,
            minor,
        } = self;
        match stage {
            Stage::Alpha => write!(f, "v{major}alpha{minor}"),
            Stage::Beta => write!(f, "v{major}beta{minor}"),
            Stage::Stable => write!(f, "v{major}"),
        }
    }
}

text_serde!(Version, "version");

/// A number without leading zeros from the front of a text, and the rest.
fn number(text: &str) -> Option<(u32, &str)> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    if digits.starts_with('0') {
        return None;
    }
    Some((digits.parse().ok()?, rest))
}

/// The version that was probably meant: `1.0` is v1, `beta` is v1beta1.
fn nearest(text: &str) -> String {
    let text = text.to_ascii_lowercase();
    let first_number = |text: &str| {
        let digits = text
            .trim_start_matches(|c: char| !c.is_ascii_digit())
            .trim_start_matches('0');
        number(digits).map_or(1, |(number, _)| number)
    };
    let split = |stage: &str| {
        text.split_once(stage)
            .map(|(major, minor)| (first_number(major), first_number(minor)))
    };
    match (split("alpha"), split("beta")) {
        (Some((major, minor)), _) => format!("v{major}alpha{minor}"),
        (_, Some((major, minor))) => format!("v{major}beta{minor}"),
        _ => format!("v{}", first_number(&text)),
    }
}
