#![doc = include_str!("../README.md")]

mod cel;
mod defaults;
mod definition;
mod definitions;
mod fields;
mod limits;
mod rule;
mod schema;
mod validation;

/// The step of a path that leads to the field `name`.
fn step(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-' || c == '$';
    if !name.is_empty() && name.chars().all(plain) {
        format!(".{name}")
    } else {
        format!("['{}']", name.escape_debug())
    }
}

#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, fmt, sync::Arc};

pub use self::definition::Definition;
pub use self::rule::{ALL, Rule, Severity, find};

/// The definitions of one release, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Release {
    definitions: BTreeMap<String, Arc<Definition>>,
}

impl Release {
    /// Adds a definition, and returns the one that it takes the place of: one of the same name.
    pub fn insert(&mut self, definition: impl Into<Arc<Definition>>) -> Option<Arc<Definition>> {
        let definition = definition.into();
        self.definitions
            .insert(definition.name().to_owned(), definition)
    }

    /// The definitions, in the order of their names.
    pub fn definitions(&self) -> impl Iterator<Item = &Arc<Definition>> {
        self.definitions.values()
    }

    /// How many definitions there are.
    pub fn len(&self) -> usize {
        self.definitions.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.definitions.is_empty()
    }
}

impl FromIterator<Definition> for Release {
    fn from_iter<T: IntoIterator<Item = Definition>>(definitions: T) -> Self {
        let mut release = Self::default();
        for definition in definitions {
            release.insert(definition);
        }
        release
    }
}

/// Where something changed: `memcacheds.cache.example.com v1alpha1 .spec.size`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The definition's name.
    pub definition: String,
    /// The version; empty for the definition itself.
    pub version: String,
    /// The field, as kubectl's JSON paths have it: `.spec.ports[].name`, `.spec.labels[*]`; empty for the version itself.
    pub path: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.definition)?;
        for part in [&self.version, &self.path] {
            if !part.is_empty() {
                write!(f, " {part}")?;
            }
        }
        Ok(())
    }
}

/// One change that breaks something, or may.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Where.
    pub place: Place,
    /// Which rule it breaks.
    pub rule: &'static Rule,
    /// What changed: a phrase to follow the place.
    pub what: String,
}

/// Compares what was released with what is to be.
pub fn compare(before: &Release, after: &Release) -> Vec<Finding> {
    let mut findings = definitions::compare(&before.definitions, &after.definitions);
    findings.sort_by(|a, b| a.place.cmp(&b.place));
    findings
}

/// What was found so far, and where the comparison is.
#[derive(Default)]
struct Findings {
    place: Place,
    list: Vec<Finding>,
}

impl Findings {
    /// Adds what was found here.
    fn add(&mut self, rule: &'static Rule, what: impl Into<String>) {
        self.list.push(Finding {
            place: self.place.clone(),
            rule,
            what: what.into(),
        });
    }

    /// Compares what is one step further down.
    fn below(&mut self, step: &str, compare: impl FnOnce(&mut Self)) {
        let length = self.place.path.len();
        self.place.path.push_str(step);
        compare(self);
        self.place.path.truncate(length);
    }
}
