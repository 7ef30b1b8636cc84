//! Names: each newtype is a text that Kubernetes, Cargo and rustc all accept. Parsing any other text gives an [`Invalid`], which
//! explains why, and suggests a valid text.
//!
//! Invariants: a value of these types never needs another check; every suggestion is accepted; [`rust`] decides the names of
//! modules, types and packages, never a template.

mod ansible;
mod flag;
pub mod kubernetes;
mod path;
pub mod plural;
mod recipe;
mod rule;
pub mod rust;
mod version;

#[cfg(test)]
mod case_tests;
#[cfg(test)]
mod tests;

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

pub use self::flag::{flag_of, parse_flag};
pub use self::recipe::Recipe;
pub use self::version::Version;

/// Why a text is not a valid name.
///
/// Displayed as the lines of a refusal of a field of `PROJECT`, because serde passes nothing but text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// The kind of name: `kind`.
    pub what: &'static str,
    /// The text.
    pub found: String,
    /// The fault: a lower-case fragment.
    pub fault: String,
    /// The rule and its source.
    pub rule: &'static str,
    /// A valid text that is near.
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

impl Invalid {
    /// A fault with a suggestion, which is dropped if it is empty.
    fn new(
        what: &'static str,
        rule: &'static str,
        found: &str,
        fault: String,
        suggestion: String,
    ) -> Self {
        Self {
            what,
            found: found.to_owned(),
            fault,
            rule,
            suggestion: Some(suggestion).filter(|text| !text.is_empty()),
        }
    }
}

/// Declares a newtype over a checked text: the field, its rule as a sentence, and the functions for the fault of a text and for
/// the nearest valid text.
macro_rules! names {
    ($($(#[$doc:meta])* $name:ident($what:literal, $rule:expr, $fault:path, $like:path);)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// The text as it was given.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = Invalid;

            fn from_str(text: &str) -> Result<Self, Invalid> {
                match $fault(text) {
                    Some(fault) => Err(Invalid::new($what, $rule, text, fault, $like(text))),
                    None => Ok(Self(text.to_owned())),
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        text_serde!($name, $what);
    )+};
}

/// Reads and writes a type that parses as a string. The visitor parses, so that errors of the format point at the value.
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
                        text.parse().map_err(E::custom)
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
    Domain("domain", rule::SUBDOMAIN, rule::optional_subdomain_fault, rule::subdomain_like);
    /// The part of an API group before the domain, such as `cache`; may be empty if the domain is not.
    #[derive(Default)]
    Group("group", rule::SUBDOMAIN, rule::optional_subdomain_fault, rule::subdomain_like);
    /// The kind of a custom resource, such as `Memcached`: a Rust type and, in lower case, a DNS label.
    Kind("kind", rule::KIND, rule::kind_fault, rule::kind_like);
    /// The resource name of a kind in URLs and RBAC rules, such as `memcacheds`.
    Plural("plural", rule::LABEL, rule::label_fault, rule::label_like);
    /// A short name for kubectl, such as `mc`.
    ShortName("shortName", rule::LABEL, rule::label_fault, rule::label_like);
    /// The name of a controller other than the default one of its kind.
    ControllerName("name", rule::LABEL, rule::label_fault, rule::label_like);
    /// The project's name: the prefix of every object in its manifests.
    ProjectName("projectName", rule::PROJECT_NAME, rule::project_name_fault, rule::project_name_like);
    /// The path at which the API server calls a webhook, such as `/mutate-cache-example-com-v1-memcached`.
    WebhookPath("path", path::WEBHOOK, path::webhook_fault, path::webhook_like);
    /// The name of a CustomResourceDefinition, such as `certificates.cert-manager.io`.
    CrdName("crd", rule::SUBDOMAIN, rule::subdomain_fault, rule::subdomain_like);
    /// The name of a Lease, such as `3f1c2a9b.example.com`.
    LeaseName("lease", rule::LEASE, rule::subdomain_fault, rule::subdomain_like);
    /// The Rust path of an external type, such as `cert_manager_crds::v1::Certificate`.
    RustPath("type", path::RUST, path::rust_fault, path::rust_like);
    /// The directory of a Helm chart in the project, such as `charts/memcached`.
    ChartPath("chart", path::CHART, path::chart_fault, path::chart_like);
    /// What Ansible runs, such as `roles/memcached`, `playbooks/memcached.yml` or `example.cache.memcached`.
    AnsiblePath("ansible", ansible::RULE, ansible::fault, ansible::like);
}

impl Domain {
    /// The default, as in kubebuilder.
    pub const DEFAULT: &str = "my.domain";
}

impl ProjectName {
    /// The longest project name: with `-metrics` it names a Service, a DNS label of at most 63 characters.
    pub const MAX: usize = 63 - "-metrics".len();
}

impl Kind {
    /// The longest kind: the API server checks `<kind>List`, which it derives, as a DNS label of at most 63 characters.
    pub const MAX: usize = 63 - "list".len();

    /// The kind with an upper-case letter first, as the Kubernetes API conventions want it.
    pub fn camel_case(&self) -> Self {
        Self(rule::kind_like(&self.0))
    }

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

/// Whether two names differ only by case, or by a letter that is missing, wrong or in the wrong place; a name of six letters
/// may differ by two: `Pod` is not near `Job`.
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
