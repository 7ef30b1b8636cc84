//! Versions of bundles, which are semantic versions.

use std::fmt;

/// A semantic version without build metadata, which the name of a Kubernetes object cannot contain.
///
/// The order of the fields is that of precedence: a pre-release is older than its release.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version {
    numbers: [u64; 3],
    is_release: bool,
    pre: Vec<Part>,
    text: String,
}

/// A part of a pre-release. A number is older than a word.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Number(u64),
    Word(String),
}

impl Version {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        Self::read(text).ok_or_else(|| {
            format!(
                "`{text}` is not a version of a bundle\n\
                 help: use MAJOR.MINOR.PATCH or MAJOR.MINOR.PATCH-PRERELEASE, such as `VERSION=0.1.0`"
            )
        })
    }

    fn read(text: &str) -> Option<Self> {
        let (core, pre) = text.split_once('-').unwrap_or((text, ""));
        let numbers: Option<Vec<u64>> = core.split('.').map(number).collect();
        let is_release = core == text;
        let pre: Option<Vec<Part>> = match is_release {
            true => Some(Vec::new()),
            false => pre.split('.').map(part).collect(),
        };
        Some(Self {
            numbers: numbers?.try_into().ok()?,
            is_release,
            pre: pre?,
            text: text.to_owned(),
        })
    }
}

/// A number without leading zeros.
fn number(text: &str) -> Option<u64> {
    let number: u64 = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

/// The version is in the name of an object, which has lowercase letters only.
fn part(text: &str) -> Option<Part> {
    if !text.is_empty() && text.chars().all(|c| c.is_ascii_digit()) {
        return number(text).map(Part::Number);
    }
    let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let is_word = !text.is_empty() && text.chars().all(is_letter);
    is_word.then(|| Part::Word(text.to_owned()))
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_have_an_order() {
        let ordered = [
            "0.1.0-alpha",
            "0.1.0-alpha.2",
            "0.1.0-alpha.10",
            "0.1.0-alpha.b",
            "0.1.0-rc",
            "0.1.0",
            "0.2.0",
            "0.10.0",
            "1.0.0",
        ];
        let parse = |text| Version::parse(text).unwrap();
        for pair in ordered.windows(2) {
            assert!(parse(pair[0]) < parse(pair[1]), "{pair:?}");
        }
        for text in ordered {
            assert_eq!(parse(text).to_string(), text);
        }
    }

    #[test]
    fn what_is_no_version_is_refused() {
        for text in [
            "",
            "1",
            "1.2",
            "v1.2.3",
            "1.2.3.4",
            "01.2.3",
            "1.2.+3",
            "1.2.3+5",
            "1.2.3-",
            "1.2.3-a..b",
            "1.2.3-01",
            "1.2.3-RC1",
            "1.2.3-a_b",
        ] {
            assert!(Version::parse(text).is_err(), "{text}");
        }
    }
}
