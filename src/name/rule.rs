//! The rules behind the names: what is wrong with a text, and the nearest text that is not.

use heck::ToKebabCase as _;

use super::{Invalid, Kind};

/// The rule for labels that may start with a digit.
pub const PROJECT_NAME: &str = "a project name is a DNS label (RFC 1123: `a-z`, `0-9` and `-`, starting and ending with a letter or digit) of at most 55 characters, because the Service `<name>-metrics` has 63 at most";
/// The rule for labels that start with a letter.
pub const LABEL_1035: &str = "it is a DNS label (RFC 1035): `a-z`, `0-9` and `-`, starting with a letter, ending with a letter or digit, at most 63 characters";
/// The rule for dotted names.
pub const SUBDOMAIN: &str = "a group or domain is a DNS subdomain (RFC 1123): labels of `a-z`, `0-9` and `-`, each starting and ending with a letter or digit, joined by `.`, at most 253 characters";
/// The rule for kinds.
pub const KIND: &str = "a kind is CamelCase (Kubernetes API conventions): an upper-case letter, then letters and digits, at most 59 characters; it names a Rust type, and `<kind>List` in lower case is a DNS label (RFC 1035)";
/// The rule for versions.
pub const VERSION: &str = "a version is `v` and a number, then perhaps `alpha` or `beta` and a number (Kubernetes API versioning): `v1alpha1`, `v2beta3`, `v1`";

/// What is wrong, and what would be right.
pub struct Fault {
    fault: String,
    suggestion: Option<String>,
}

impl Fault {
    /// A fault with a suggestion, dropped if it is empty.
    pub fn new(fault: impl Into<String>, suggestion: String) -> Self {
        Self {
            fault: fault.into(),
            suggestion: Some(suggestion).filter(|text| !text.is_empty()),
        }
    }

    /// What is wrong alone, for a rule of several parts.
    pub fn text(self) -> String {
        self.fault
    }

    /// The whole explanation.
    pub fn of(self, what: &'static str, rule: &'static str, found: &str) -> Invalid {
        Invalid {
            what,
            found: found.to_owned(),
            fault: self.fault,
            rule,
            suggestion: self.suggestion,
        }
    }
}

/// What a label may start with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// A letter or a digit (RFC 1123).
    Any,
    /// A letter (RFC 1035).
    Letter,
}

/// Checks one DNS label.
pub fn label(text: &str, start: Start, max: usize) -> Result<(), Fault> {
    match label_fault(text, start, max) {
        Some(fault) => Err(Fault::new(fault, label_like(text, start, max))),
        None => Ok(()),
    }
}

fn label_fault(text: &str, start: Start, max: usize) -> Option<String> {
    let odd = text
        .chars()
        .find(|c| !matches!(c, 'a'..='z' | '0'..='9' | '-'));
    let length = text.chars().count();
    match odd {
        _ if text.is_empty() => Some("it is empty".into()),
        Some(c) => Some(not_allowed(c)),
        None if text.starts_with('-') => Some("it starts with `-`".into()),
        None if text.ends_with('-') => Some("it ends with `-`".into()),
        None if start == Start::Letter && text.starts_with(|c: char| c.is_ascii_digit()) => {
            Some("it starts with a digit".into())
        }
        None if length > max => Some(format!("it has {length} characters, {max} are allowed")),
        None => None,
    }
}

fn not_allowed(c: char) -> String {
    match c {
        'A'..='Z' => format!("`{c}` is upper case"),
        ' ' => "it contains a space".into(),
        c if c.is_control() => "it contains a control character".into(),
        c => format!("`{c}` is not allowed"),
    }
}

/// The nearest label; empty if nothing is left.
fn label_like(text: &str, start: Start, max: usize) -> String {
    let ascii: String = text
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    let kebab = ascii.to_kebab_case();
    let from = match start {
        Start::Any => 0,
        Start::Letter => kebab
            .find(|c: char| c.is_ascii_lowercase())
            .unwrap_or(kebab.len()),
    };
    kebab[from..]
        .chars()
        .take(max)
        .collect::<String>()
        .trim_end_matches('-')
        .to_owned()
}

/// Checks a dotted name that is not empty.
pub fn subdomain(text: &str) -> Result<(), Fault> {
    let suggestion = || subdomain_like(text);
    if text.len() > 253 {
        return Err(Fault::new(
            format!("it has {} characters, 253 are allowed", text.len()),
            suggestion(),
        ));
    }
    for label in text.split('.') {
        // A subdomain's labels have no limit of their own in Kubernetes, only the whole has.
        let fault = match label_fault(label, Start::Any, 253) {
            None => continue,
            Some(_) if label.is_empty() && text.contains("..") => "it contains `..`".into(),
            Some(_) if label.is_empty() && text.starts_with('.') => "it starts with `.`".into(),
            Some(_) if label.is_empty() => "it ends with `.`".into(),
            Some(fault) if label == text => fault,
            Some(fault) => format!("in `{label}`: {fault}"),
        };
        return Err(Fault::new(fault, suggestion()));
    }
    Ok(())
}

/// The nearest dotted name; empty if nothing is left.
pub fn subdomain_like(text: &str) -> String {
    // Of an address it is what follows `https://`.
    let text = text.rsplit("://").next().unwrap_or_default();
    let labels: Vec<_> = text
        .split('.')
        .map(|l| label_like(l, Start::Any, 63))
        .filter(|l| !l.is_empty())
        .collect();
    let joined: String = labels.join(".").chars().take(253).collect();
    joined.trim_end_matches(['-', '.']).to_owned()
}

/// Checks a kind.
pub fn kind(text: &str) -> Result<(), Fault> {
    let odd = text.chars().find(|c| !c.is_ascii_alphanumeric());
    let fault = match text.chars().next() {
        None => "it is empty".into(),
        _ if odd.is_some() => odd.map(not_allowed).unwrap_or_default(),
        Some('0'..='9') => "it starts with a digit".into(),
        Some('a'..='z') => "it starts with a lower-case letter".into(),
        _ if text.len() > Kind::MAX => format!(
            "it has {} characters, {} are allowed",
            text.len(),
            Kind::MAX
        ),
        _ => return Ok(()),
    };
    Err(Fault::new(fault, kind_like(text)))
}

/// The nearest kind: words joined in CamelCase, letters kept as they are (`HTTP-route` is `HTTPRoute`).
fn kind_like(text: &str) -> String {
    let text = text.trim_start_matches(|c: char| !c.is_ascii_alphabetic());
    let mut camel = String::new();
    for word in text.split(|c: char| !c.is_ascii_alphanumeric()) {
        let mut letters = word.chars();
        camel.extend(letters.next().map(|c| c.to_ascii_uppercase()));
        camel.extend(letters);
    }
    camel.truncate(Kind::MAX);
    camel
}
