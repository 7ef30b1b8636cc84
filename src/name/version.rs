//! API versions and their order.

use std::{cmp::Reverse, fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{Invalid, rule, text_serde};

/// The stability of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Stage {
    Alpha,
    Beta,
    Stable,
}

/// A number of a version, which some projects write with zeros before it: `v1alpha08`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Number {
    value: u32,
    zeros: u8,
}

/// An API version such as `v1alpha1`. Ordered by age: v1alpha1, v1beta1, v1, v2alpha1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    major: Number,
    stage: Stage,
    minor: Number,
}

impl FromStr for Version {
    type Err = Invalid;

    /// Stricter than the API server, which takes any DNS label: only these versions have an order there (Kubernetes
    /// documentation, "Versions in CustomResourceDefinitions", "Version priority").
    fn from_str(text: &str) -> Result<Self, Invalid> {
        let invalid = |fault| Invalid::new("version", rule::VERSION, text, fault, nearest(text));
        parse(text).map_err(invalid)
    }
}

fn parse(text: &str) -> Result<Version, String> {
    let no_number = |place| format!("no number up to 4294967295 follows the {place}");
    let Some(rest) = text.strip_prefix('v') else {
        let fault = match text.chars().next() {
            None => "it is empty",
            Some('V') => "the `V` is upper case",
            Some(_) => "it does not start with `v`",
        };
        return Err(fault.to_owned());
    };
    let (major, rest) = number(rest).ok_or_else(|| no_number("`v`"))?;
    let (stage, rest) = match (rest.strip_prefix("alpha"), rest.strip_prefix("beta")) {
        (Some(rest), _) => (Stage::Alpha, rest),
        (_, Some(rest)) => (Stage::Beta, rest),
        _ if rest.is_empty() => {
            return Ok(Version {
                major,
                ..Version::stable(0)
            });
        }
        _ => {
            return Err(format!(
                "`{rest}` after the number is not `alpha` or `beta`"
            ));
        }
    };
    match number(rest) {
        Some((minor, "")) => Ok(Version {
            major,
            stage,
            minor,
        }),
        Some((_, rest)) => Err(format!("`{rest}` is too much")),
        None => Err(no_number("stage")),
    }
}

impl Version {
    fn stable(major: u32) -> Self {
        let number = |value| Number { value, zeros: 0 };
        Self {
            major: number(major),
            stage: Stage::Stable,
            minor: number(0),
        }
    }

    /// The sort key of the Rust style guide, which compares the text with its numbers by value: v1, v1alpha1, v1beta1, v2.
    pub fn spelled(self) -> impl Ord {
        let is_longer = self.stage != Stage::Stable;
        (self.major, is_longer, self.stage, self.minor)
    }

    /// The stored version of a kind: the most stable, and of those the oldest, so that a new version of the same stability never
    /// changes what is in etcd. `None` only for no versions.
    pub fn storage(versions: impl IntoIterator<Item = Self>) -> Option<Self> {
        versions
            .into_iter()
            .min_by_key(|version| (Reverse(version.stage), version.major, version.minor))
    }

    /// The version that probably follows: v1 after older versions, otherwise the next stable one.
    pub fn following(self) -> Self {
        let first = Self::stable(1);
        match self < first {
            true => first,
            false => Self::stable(self.major.value.saturating_add(1)),
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:0>width$}{}",
            "",
            self.value,
            width = usize::from(self.zeros)
        )
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

/// The longest version, which is a DNS label.
const MOST: usize = 63;

/// A number from the front of a text, and the rest.
fn number(text: &str) -> Option<(Number, &str)> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    let value: u32 = digits.parse().ok()?;
    // A last zero is a digit of the number.
    let (before, _) = digits.split_at(digits.len() - 1);
    let zeros = before.len() - before.trim_start_matches('0').len();
    let zeros = u8::try_from(zeros).ok().filter(|_| digits.len() <= MOST)?;
    Some((Number { value, zeros }, rest))
}

/// The version that was probably meant: `1.0` is v1, `beta` is v1beta1.
fn nearest(text: &str) -> String {
    let text = text.to_ascii_lowercase();
    let first_number = |text: &str| {
        let digits = text
            .trim_start_matches(|c: char| !c.is_ascii_digit())
            .trim_start_matches('0');
        number(digits).map_or(1, |(number, _)| number.value)
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
