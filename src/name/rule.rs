//! The rules of names. For each kind of name there are two functions: the fault of a text, and the nearest valid text,
//! which is empty if nothing is left.

use heck::ToKebabCase as _;

use super::{Kind, ProjectName};

/// The rule for labels that may start with a digit.
pub const PROJECT_NAME: &str = "a project name is a DNS label (RFC 1123: `a-z`, `0-9` and `-`, starting and ending with a letter or digit) of at most 55 characters, because the Service `<name>-metrics` has 63 at most";
/// The rule for labels that start with a letter.
pub const LABEL: &str = "it is a DNS label (RFC 1035): `a-z`, `0-9` and `-`, starting with a letter, ending with a letter or digit, at most 63 characters";
/// The rule for dotted names.
pub const SUBDOMAIN: &str = "a group or domain is a DNS subdomain (RFC 1123): labels of `a-z`, `0-9` and `-`, each starting and ending with a letter or digit, joined by `.`, at most 253 characters";
/// The rule for Leases.
pub const LEASE: &str = "the name of a Lease is a DNS subdomain (RFC 1123): labels of `a-z`, `0-9` and `-`, each starting and ending with a letter or digit, joined by `.`, at most 253 characters";
/// The rule for kinds.
pub const KIND: &str = "a kind is CamelCase (Kubernetes API conventions): an upper-case letter, then letters and digits, at most 59 characters; it names a Rust type, and `<kind>List` in lower case is a DNS label (RFC 1035)";
/// The rule for versions.
pub const VERSION: &str = "a version is `v` and a number, then perhaps `alpha` or `beta` and a number (Kubernetes API versioning): `v1alpha1`, `v2beta3`, `v1`";

/// The longest DNS label.
const LABEL_MAX: usize = 63;

/// The longest DNS subdomain. Its labels have no limit of their own in Kubernetes.
const SUBDOMAIN_MAX: usize = 253;

/// The fault of a label that starts with a letter.
pub fn label_fault(text: &str) -> Option<String> {
    match part_fault(text) {
        None if text.starts_with(|c: char| c.is_ascii_digit()) => {
            Some("it starts with a digit".to_owned())
        }
        None => too_long(text, LABEL_MAX),
        fault => fault,
    }
}

/// The nearest label that starts with a letter.
pub fn label_like(text: &str) -> String {
    let kebab = kebab(text);
    let label = kebab.trim_start_matches(|c: char| !c.is_ascii_lowercase());
    cut(label, LABEL_MAX)
}

/// The fault of a project's name.
pub fn project_name_fault(text: &str) -> Option<String> {
    part_fault(text).or_else(|| too_long(text, ProjectName::MAX))
}

/// The nearest name of a project.
pub fn project_name_like(text: &str) -> String {
    cut(&kebab(text), ProjectName::MAX)
}

/// The fault of a dotted name.
pub fn subdomain_fault(text: &str) -> Option<String> {
    let fault = |label: &str| {
        let fault = part_fault(label)?;
        Some(match label {
            "" if text.contains("..") => "it contains `..`".to_owned(),
            "" if text.starts_with('.') => "it starts with `.`".to_owned(),
            "" => "it ends with `.`".to_owned(),
            _ if label == text => fault,
            _ => format!("in `{label}`: {fault}"),
        })
    };
    too_long(text, SUBDOMAIN_MAX).or_else(|| text.split('.').find_map(fault))
}

/// The fault of a dotted name that may be empty.
pub fn optional_subdomain_fault(text: &str) -> Option<String> {
    match text {
        "" => None,
        _ => subdomain_fault(text),
    }
}

/// The nearest dotted name.
pub fn subdomain_like(text: &str) -> String {
    // Of an address, the part after `https://`.
    let text = text.rsplit("://").next().unwrap_or_default();
    let labels = text.split('.').map(|label| cut(&kebab(label), LABEL_MAX));
    let labels: Vec<_> = labels.filter(|label| !label.is_empty()).collect();
    let name: String = labels.join(".").chars().take(SUBDOMAIN_MAX).collect();
    name.trim_end_matches(['-', '.']).to_owned()
}

/// The fault of a label, apart from its length and whether it starts with a digit.
fn part_fault(text: &str) -> Option<String> {
    let is_odd = |c: &char| !matches!(c, 'a'..='z' | '0'..='9' | '-');
    match text.chars().find(is_odd) {
        _ if text.is_empty() => Some("it is empty".to_owned()),
        Some(c) => Some(not_allowed(c)),
        None if text.starts_with('-') => Some("it starts with `-`".to_owned()),
        None if text.ends_with('-') => Some("it ends with `-`".to_owned()),
        None => None,
    }
}

fn not_allowed(c: char) -> String {
    match c {
        'A'..='Z' => format!("`{c}` is upper case"),
        ' ' => "it contains a space".to_owned(),
        c if c.is_control() => "it contains a control character".to_owned(),
        c => format!("`{c}` is not allowed"),
    }
}

fn too_long(text: &str, max: usize) -> Option<String> {
    let length = text.chars().count();
    (length > max).then(|| format!("it has {length} characters, {max} are allowed"))
}

/// The words of a text in lower case, joined by `-`.
fn kebab(text: &str) -> String {
    text.replace(|c: char| !c.is_ascii_alphanumeric(), "-")
        .to_kebab_case()
}

/// The first characters of a label.
fn cut(label: &str, max: usize) -> String {
    let label: String = label.chars().take(max).collect();
    label.trim_end_matches('-').to_owned()
}

/// The fault of a kind.
pub fn kind_fault(text: &str) -> Option<String> {
    let odd = text.chars().find(|c| !c.is_ascii_alphanumeric());
    match text.chars().next() {
        None => Some("it is empty".to_owned()),
        _ if odd.is_some() => odd.map(not_allowed),
        Some('0'..='9') => Some("it starts with a digit".to_owned()),
        _ => too_long(text, Kind::MAX),
    }
}

/// The nearest kind: words joined in CamelCase, with the case of other letters kept (`HTTP-route` is `HTTPRoute`).
pub fn kind_like(text: &str) -> String {
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
