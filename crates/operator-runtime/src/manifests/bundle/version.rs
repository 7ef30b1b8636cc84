//! Versions of bundles, which are semantic versions.

use std::{cmp::Ordering, fmt};

/// A semantic version without build metadata, which the name of a Kubernetes object cannot contain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Version {
    numbers: [u64; 3],
    /// The identifiers of a pre-release.
    pre: Vec<String>,
}

impl Version {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let invalid = || {
            format!(
                "`{text}` is not a version of a bundle\n\
                 help: use MAJOR.MINOR.PATCH or MAJOR.MINOR.PATCH-PRERELEASE, such as `VERSION=0.1.0`"
            )
        };
        let (core, pre) = match text.split_once('-') {
            Some((core, pre)) => (core, pre.split('.').map(str::to_owned).collect()),
            None => (text, Vec::new()),
        };
        // The version is part of an object's name, which has lowercase letters only.
        let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let well_formed = |part: &String| {
            !part.is_empty()
                && part.chars().all(letter)
                && (!is_number(part) || number(part).is_some())
        };
        let numbers: Option<Vec<u64>> = core.split('.').map(number).collect();
        let numbers = numbers.and_then(|numbers| numbers.try_into().ok());
        match numbers {
            Some(numbers) if pre.iter().all(well_formed) => Ok(Self { numbers, pre }),
            _ => Err(invalid()),
        }
    }
}

fn is_number(part: &str) -> bool {
    part.chars().all(|c| c.is_ascii_digit())
}

/// A number without leading zeros.
fn number(part: &str) -> Option<u64> {
    let leading_zero = part.len() > 1 && part.starts_with('0');
    part.parse()
        .ok()
        .filter(|_| is_number(part) && !leading_zero)
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        // A pre-release is older than its release, and a number is less than a word.
        let rank = |part: &String| (number(part).is_none(), number(part), part.clone());
        let pre = |version: &Self| version.pre.iter().map(rank).collect::<Vec<_>>();
        let released = |version: &Self| version.pre.is_empty();
        let parts = |version: &Self| (version.numbers, released(version), pre(version));
        parts(self).cmp(&parts(other))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.numbers;
        write!(f, "{major}.{minor}.{patch}")?;
        match &*self.pre {
            [] => Ok(()),
            pre => write!(f, "-{}", pre.join(".")),
        }
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
