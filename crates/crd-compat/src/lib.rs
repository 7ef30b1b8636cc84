#![doc = include_str!("../README.md")]

mod defaults;
mod definition;
mod definitions;
mod fields;
mod limits;
mod rule;
mod schema;

#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, fmt, sync::Arc};

pub use self::definition::Definition;
pub use self::rule::{ALL, Rule, Severity, find};

/// The definitions of one release, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Release(BTreeMap<String, Arc<Definition>>);

impl Release {
    /// Adds a definition, and returns the previous one of the same name.
    pub fn insert(&mut self, definition: impl Into<Arc<Definition>>) -> Option<Arc<Definition>> {
        let definition = definition.into();
        self.0.insert(definition.name().to_owned(), definition)
    }

    /// The definitions, in the order of their names.
    pub fn definitions(&self) -> impl Iterator<Item = &Arc<Definition>> {
        self.0.values()
    }

    /// The number of definitions.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the release has no definitions.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
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

/// The place of a change: `memcacheds.cache.example.com v1alpha1 .spec.size`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The name of the definition.
    pub definition: String,
    /// The version; empty for the definition itself.
    pub version: String,
    /// The field as a JSON path of kubectl: `.spec.ports[].name`, `.spec.labels[*]`; empty for the version itself.
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

/// A change that breaks something, or may.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The place of the change.
    pub place: Place,
    /// The rule that the change breaks.
    pub rule: &'static Rule,
    /// The change, as a phrase to follow the place.
    pub what: String,
}

/// Compares a release with the next one.
pub fn compare(before: &Release, after: &Release) -> Vec<Finding> {
    let mut findings = definitions::compare(&before.0, &after.0);
    findings.sort_by(|a, b| a.place.cmp(&b.place));
    findings
}

/// The findings so far, and the place that is being compared.
#[derive(Default)]
struct Findings {
    place: Place,
    /// The rules about checks at this place and around it, which an object with another default may fail.
    checks: Vec<&'static Rule>,
    list: Vec<Finding>,
}

impl Findings {
    /// Adds a finding at the current place.
    fn add(&mut self, rule: &'static Rule, what: impl Into<String>) {
        self.list.push(Finding {
            place: self.place.clone(),
            rule,
            what: what.into(),
        });
    }

    /// Adds a finding unless the values are equal; an absent value is `none`.
    fn add_if_changed<T>(&mut self, rule: &'static Rule, name: &str, old: Option<T>, new: Option<T>)
    where
        T: PartialEq + fmt::Display,
    {
        if old != new {
            let shown = |value: Option<T>| value.map_or("none".to_owned(), |it| it.to_string());
            self.add(
                rule,
                format!("{name} was {}, now {}", shown(old), shown(new)),
            );
        }
    }

    /// Compares below the path `step`.
    fn below(&mut self, step: &str, compare: impl FnOnce(&mut Self)) {
        let length = self.place.path.len();
        self.place.path.push_str(step);
        compare(self);
        self.place.path.truncate(length);
    }

    /// Compares the field `name`.
    fn field(&mut self, name: &str, compare: impl FnOnce(&mut Self)) {
        self.below(&step(name), compare);
    }
}

/// The step of a path that leads to the field `name`.
fn step(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-' || c == '$';
    if !name.is_empty() && name.chars().all(plain) {
        format!(".{name}")
    } else {
        format!("['{}']", name.escape_debug())
    }
}
