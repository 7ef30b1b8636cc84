//! Constraints of versions, as the Go package `Masterminds/semver` reads them: `>=1.2, <3 || ~4.1`.

use std::{cmp::Ordering, sync::LazyLock};

use regex::Regex;

use super::semver::{Version, prereleases_differ};
use crate::go::number::quote;

/// The longest text of constraints, in bytes.
const LONGEST: usize = 512;

/// The most alternatives between `||`.
const MOST: usize = 32;

const SPACE: &str = r"[\t\n\f\r ]";

const OPERATOR: &str = r"=||!=|>|<|>=|=>|<=|=<|~|~>|\^";

/// A version with wildcards: 9 groups with the one around it.
const VERSION: &str = concat!(
    r"v?([0-9|xX*]+)(\.[0-9|xX*]+)?(\.[0-9|xX*]+)?",
    r"(-([0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*))?",
    r"(\+([0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*))?"
);

/// What a text of constraints may be made of.
struct Grammar {
    range: Regex,
    all: Regex,
    one: Regex,
}

/// `None` cannot be: the patterns are constant, and the tests read constraints.
static GRAMMAR: LazyLock<Option<Grammar>> = LazyLock::new(|| {
    let one = format!("{SPACE}*({OPERATOR}){SPACE}*({VERSION}){SPACE}*");
    Some(Grammar {
        range: Regex::new(&format!(
            "{SPACE}*({VERSION}){SPACE}+-{SPACE}+({VERSION}){SPACE}*"
        ))
        .ok()?,
        all: Regex::new(&format!(
            "^({one})((?:{SPACE}+|,{SPACE}*)({OPERATOR}){SPACE}*({VERSION}){SPACE}*)*$"
        ))
        .ok()?,
        one: Regex::new(&format!("({OPERATOR}){SPACE}*({VERSION})")).ok()?,
    })
});

/// Alternatives, each of constraints that all have to hold.
pub struct Constraints(Vec<Vec<Constraint>>);

struct Constraint {
    operator: String,
    version: Version,
    /// The number that the text lacks or has a wildcard for, if any.
    open: Option<Open>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Major,
    Minor,
    Patch,
}

impl Constraints {
    /// Reads constraints.
    ///
    /// # Errors
    /// As Go's.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.len() > LONGEST {
            return Err(format!(
                "constraint string is too long (max {LONGEST} bytes)"
            ));
        }
        let grammar = GRAMMAR.as_ref().ok_or("no grammar of constraints")?;
        let text = without_ranges(grammar, text);
        let alternatives: Vec<&str> = text.split("||").collect();
        if alternatives.len() > MOST {
            return Err(format!("too many constraint groups (max {MOST})"));
        }
        let alternatives = alternatives.into_iter().map(|alternative| {
            if !grammar.all.is_match(alternative) {
                return Err(format!("improper constraint: {}", quote(alternative)));
            }
            let all = grammar.one.captures_iter(alternative);
            all.map(|found| Constraint::of(&found)).collect()
        });
        alternatives.collect::<Result<_, _>>().map(Self)
    }

    /// Whether they hold for a version. A prerelease needs a constraint that names one.
    pub fn allow(&self, version: &Version) -> bool {
        self.0.iter().any(|all| {
            let name_prereleases = all.iter().any(|it| !it.version.prerelease.is_empty());
            let is_release = version.prerelease.is_empty();
            (is_release || name_prereleases) && all.iter().all(|it| it.allows(version))
        })
    }
}

/// `1.2 - 3` as `>= 1.2, <= 3`.
fn without_ranges(grammar: &Grammar, text: &str) -> String {
    let mut rewritten = text.to_owned();
    for found in grammar.range.captures_iter(text) {
        let bounds = format!(">= {}, <= {} ", &found[1], &found[11]);
        rewritten = rewritten.replacen(&found[0], &bounds, 1);
    }
    rewritten
}

impl Constraint {
    fn of(found: &regex::Captures<'_>) -> Result<Self, String> {
        let part = |at: usize| found.get(at).map_or("", |it| it.as_str());
        let (major, minor, patch, prerelease) = (part(3), part(4), part(5), part(6));
        let is_open = |number: &str| matches!(number, "" | "x" | "X" | "*" | ".x" | ".X" | ".*");
        let (open, text) = match (is_open(major), is_open(minor), is_open(patch)) {
            (true, ..) => (Some(Open::Major), format!("0.0.0{prerelease}")),
            (_, true, _) => (Some(Open::Minor), format!("{major}.0.0{prerelease}")),
            (.., true) => (Some(Open::Patch), format!("{major}{minor}.0{prerelease}")),
            _ => (None, part(2).to_owned()),
        };
        Ok(Self {
            operator: part(1).to_owned(),
            version: Version::parse(&text).map_err(|_| "constraint parser error")?,
            open,
        })
    }

    fn allows(&self, version: &Version) -> bool {
        match &*self.operator {
            "!=" => self.differs(version),
            ">" => self.is_below(version),
            "<" => version.order(&self.version) == Ordering::Less,
            ">=" | "=>" => version.order(&self.version) != Ordering::Less,
            "<=" | "=<" => self.is_above_or_at(version),
            "~" | "~>" => self.is_near(version),
            "^" => self.is_compatible(version),
            _ if self.open.is_some() => self.is_near(version),
            _ => version.order(&self.version) == Ordering::Equal,
        }
    }

    fn differs(&self, version: &Version) -> bool {
        let own = &self.version;
        match self.open {
            None => version.order(own) != Ordering::Equal,
            Some(_) if own.major != version.major => true,
            Some(Open::Minor) => false,
            Some(_) if own.minor != version.minor => true,
            Some(Open::Patch) => prereleases_differ(&version.prerelease, &own.prerelease),
            Some(Open::Major) => {
                own.patch != version.patch || version.order(own) != Ordering::Equal
            }
        }
    }

    fn is_below(&self, version: &Version) -> bool {
        let own = &self.version;
        match self.open {
            Some(_) if version.major != own.major => version.major > own.major,
            Some(Open::Minor) => false,
            Some(Open::Patch) => version.minor > own.minor,
            Some(Open::Major) | None => version.order(own) == Ordering::Greater,
        }
    }

    fn is_above_or_at(&self, version: &Version) -> bool {
        let own = &self.version;
        match self.open {
            None => version.order(own) != Ordering::Greater,
            Some(Open::Minor) => version.major <= own.major,
            Some(_) => (version.major, version.minor) <= (own.major, own.minor),
        }
    }

    /// `~1.2`: the same major number, and the same minor number if there is one.
    fn is_near(&self, version: &Version) -> bool {
        let own = &self.version;
        if version.order(own) == Ordering::Less {
            return false;
        }
        let is_zero = (own.major, own.minor, own.patch) == (0, 0, 0);
        if is_zero && !matches!(self.open, Some(Open::Minor | Open::Patch)) {
            return true;
        }
        version.major == own.major && (self.open == Some(Open::Minor) || version.minor == own.minor)
    }

    /// `^1.2`: the same first number that is not zero.
    fn is_compatible(&self, version: &Version) -> bool {
        let own = &self.version;
        if version.order(own) == Ordering::Less || version.major != own.major {
            return false;
        }
        if own.major > 0 || self.open == Some(Open::Minor) {
            return true;
        }
        if own.minor > 0 || self.open == Some(Open::Patch) {
            return version.minor == own.minor;
        }
        version.minor == 0 && version.patch == own.patch
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(constraint: &str, version: &str, holds: bool) {
        let constraints = Constraints::parse(constraint).unwrap();
        assert_eq!(
            constraints.allow(&Version::parse(version).unwrap()),
            holds,
            "{constraint} {version}"
        );
    }

    #[test]
    fn versions_are_allowed() {
        check(">=1.2, <3 || ~4.1", "4.1.7", true);
        check("^0.2.3", "0.3.0", false);
        check("1.2 - 2.3.4", "2.3.4", true);
        check(">1.2", "1.2.5", false);
        check("!=1.x", "1.4.0", false);
        check(">=1.2.0", "1.3.0-alpha", false);
        check(">=1.2.0-0", "1.3.0-alpha", true);
        check("*", "0.0.1", true);
    }

    #[test]
    fn constraints_are_improper() {
        for (text, error) in [
            ("", "improper constraint: \"\""),
            ("1 < 2 foo", "improper constraint: \"1 < 2 foo\""),
            ("1.2x", "constraint parser error"),
        ] {
            assert_eq!(Constraints::parse(text).err().as_deref(), Some(error));
        }
    }
}
