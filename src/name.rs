//! Names: each newtype is a text that Kubernetes, Cargo and rustc all accept, or an [`Invalid`] that says why not.
//!
//! Invariants: a value of these types never needs another check; every suggestion in a `help:` would be accepted; what
//! a name becomes in Rust (modules, types, packages) is decided in [`rust`], never in templates.

pub mod kubernetes;
mod path;
pub mod plural;
mod rule;
pub mod rust;
mod version;

#[cfg(test)]
mod case_tests;
#[cfg(test)]
mod tests;

use std::borrow::Borrow;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

pub use self::version::{Stage, Version};
use crate::name::rule::Fault;

/// Why a text is not the name it was meant to be.
///
/// As text it is about a field of `PROJECT`, in the lines of a refusal: the only way for an explanation through serde.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// What the text was meant to be: `kind`.
    pub what: &'static str,
    /// The text that was found.
    pub found: String,
    /// What is wrong with it: a lower-case fragment.
    pub fault: String,
    /// The rule and where it comes from.
    pub rule: &'static str,
    /// A text that would have been accepted.
    pub suggestion: Option<String>,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            what,
            found,
            fault,
            rule,
            ..
        } = self;
        write!(f, "invalid {what} `{found}`: {fault}\nnote: {rule}")?;
        match &self.suggestion {
            Some(suggestion) => write!(f, "\nhelp: {what}: {suggestion}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Invalid {}

/// Declares a newtype over a checked text: the field, its rule as a sentence, and the check itself.
macro_rules! names {
    ($($(#[$doc:meta])* $name:ident($what:literal, $rule:expr) = $check:expr;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            #[doc = concat!("Parses a ", $what, "; [`Invalid`] explains what is wrong and suggests a fix.")]
            pub fn parse(text: &str) -> Result<Self, Invalid> {
                let check: fn(&str) -> Result<(), Fault> = $check;
                check(text).map_err(|fault| fault.of($what, $rule, text))?;
                Ok(Self(text.to_owned()))
            }

            /// The text as it was given.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
        text_serde!($name, $what);
    )+};
}

/// Reads and writes a checked name as a string. The check runs inside the visitor, so that the format's error points
/// at the value itself.
macro_rules! text_serde {
    ($name:ident, $what:literal) => {
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Visitor;
                impl de::Visitor<'_> for Visitor {
                    type Value = $name;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str(concat!("a ", $what))
                    }
                    fn visit_str<E: de::Error>(self, text: &str) -> Result<$name, E> {
                        $name::parse(text).map_err(E::custom)
                    }
                }
                deserializer.deserialize_str(Visitor)
            }
        }
    };
}
pub(crate) use text_serde;

names! {
    /// The suffix of the project's API groups, such as `example.com`; may be empty if every group is a full name.
    #[derive(Default)]
    Domain("domain", rule::SUBDOMAIN) = |text| match text {
        "" => Ok(()),
        _ => rule::subdomain(text),
    };
    /// What stands before the domain in an API group, such as `cache`; may be empty if the domain is not.
    #[derive(Default)]
    Group("group", rule::SUBDOMAIN) = |text| match text {
        "" => Ok(()),
        _ => rule::subdomain(text),
    };
    /// The kind of a custom resource, such as `Memcached`: a Rust type and, in lower case, a DNS label.
    Kind("kind", rule::KIND) = rule::kind;
    /// The resource name of a kind in URLs and RBAC rules, such as `memcacheds`.
    Plural("plural", rule::LABEL_1035) = |text| rule::label(text, rule::Start::Letter, 63);
    /// A short name for kubectl, such as `mc`.
    ShortName("shortName", rule::LABEL_1035) = |text| rule::label(text, rule::Start::Letter, 63);
    /// The name of a controller other than the default one of its kind.
    ControllerName("name", rule::LABEL_1035) = |text| rule::label(text, rule::Start::Letter, 63);
    /// The project's name: the prefix of every object that its manifests create.
    ProjectName("projectName", rule::PROJECT_NAME) =
        |text| rule::label(text, rule::Start::Any, ProjectName::MAX);
    /// Where the API server calls a webhook, such as `/mutate-cache-example-com-v1-memcached`.
    WebhookPath("path", path::WEBHOOK) = path::webhook;
    /// Where a type is found that the project does not define, such as `cert_manager_crds::v1::Certificate`.
    RustPath("type", path::RUST) = path::rust;
}

impl Domain {
    /// What kubebuilder and we take when nothing is said.
    pub const DEFAULT: &str = "my.domain";
}

impl ProjectName {
    /// The longest project name: with `-metrics` it names a Service, a DNS label of at most 63 characters.
    pub const MAX: usize = 63 - "-metrics".len();
}

impl Kind {
    /// The longest kind: the API server checks `<kind>List`, which it derives, as a DNS label of at most 63 characters.
    pub const MAX: usize = 63 - "list".len();

    /// The kind in lower case: the CRD's singular.
    pub fn singular(&self) -> String {
        self.0.to_ascii_lowercase()
    }
}

impl Plural {
    /// The plural of a kind for which none was given. Always valid: no rule adds more than four characters to a kind.
    pub fn of(kind: &Kind) -> Self {
        Self(plural::pluralize(&kind.singular()))
    }
}

/// Whether two names differ by case, or by a letter that is missing, wrong or in the wrong place. Two such letters count in
/// a long name alone: `Pod` is no `Job`.
pub fn is_near(name: &str, other: &str) -> bool {
    let letters = letters_between(name, other);
    letters <= 2 && letters * 3 <= name.chars().count()
}

/// The name that is nearest to this one, if one is near; of several the first.
pub fn nearest<'a>(name: &str, others: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let near = others.into_iter().filter(|other| is_near(name, other));
    near.min_by_key(|other| letters_between(name, other))
}

fn letters_between(name: &str, other: &str) -> usize {
    strsim::osa_distance(&name.to_lowercase(), &other.to_lowercase())
}

/// The API group of a group in a domain: `cache` in `example.com` is `cache.example.com`.
pub fn api_group(group: &Group, domain: &Domain) -> String {
    match (group.as_str(), domain.as_str()) {
        (group, "") => group.to_owned(),
        ("", domain) => domain.to_owned(),
        (group, domain) => format!("{group}.{domain}"),
    }
}
