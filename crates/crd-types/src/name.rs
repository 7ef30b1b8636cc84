//! Identifiers for names in a CRD, which may contain anything.

use std::collections::{BTreeMap, BTreeSet};

use heck::{ToSnakeCase as _, ToUpperCamelCase as _};

/// The strict and reserved keywords of edition 2024 that can be raw identifiers.
const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let",
    "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return",
    "static", "struct", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use",
    "virtual", "where", "while", "yield",
];

/// Names that the generated code uses for something else.
const TAKEN: &[&str] = &[
    "BTreeMap",
    "Box",
    "Clone",
    "Condition",
    "Cow",
    "CustomResource",
    "Debug",
    "Default",
    "Deserialize",
    "Deserializer",
    "Err",
    "IntOrString",
    "Into",
    "JsonSchema",
    "None",
    "Ok",
    "Option",
    "PartialEq",
    "Present",
    "Quantity",
    "RecursiveTransform",
    "Result",
    "Schema",
    "SchemaGenerator",
    "Self",
    "Serialize",
    "Serializer",
    "Some",
    "String",
    "Time",
    "Transform",
    "Value",
    "Vec",
];

/// The longest identifier: a longer one is cut, so that no path makes lines without end.
const LONGEST: usize = 80;

/// Names that are used once.
#[derive(Default)]
pub(crate) struct Used {
    names: BTreeSet<String>,
    /// The last number of each name that was asked for again.
    numbers: BTreeMap<String, usize>,
}

impl Used {
    /// `name`, or `name` with a number if it is used already.
    pub(crate) fn once(&mut self, name: String) -> String {
        if self.names.insert(name.clone()) {
            return name;
        }
        let separator = if name.ends_with(|c: char| c.is_ascii_digit()) {
            "_"
        } else {
            ""
        };
        let number = self.numbers.entry(name.clone()).or_insert(1);
        loop {
            *number += 1;
            let unused = format!("{name}{separator}{number}");
            if self.names.insert(unused.clone()) {
                return unused;
            }
        }
    }

    /// Whether the name is free.
    pub(crate) fn allows(&self, name: &str) -> bool {
        !self.names.contains(name)
    }

    /// Takes a name.
    pub(crate) fn take(&mut self, name: &str) {
        self.names.insert(name.to_owned());
    }
}

/// The letters and digits of a name, and underscores for everything else. A plural or version of an acronym is one word: `IPs` and
/// `IPv4` become `Ips` and `Ipv4`, which would be cut into `i_ps` and `i_pv4` otherwise.
fn ascii(name: &str) -> String {
    let keep = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let mut name: Vec<char> = name.chars().take(LONGEST).map(keep).collect();
    for at in 2..name.len() {
        let next = name.get(at + 1).copied().unwrap_or('_');
        let is_suffix = match name[at] {
            's' => !next.is_ascii_lowercase(),
            'v' => next.is_ascii_digit(),
            _ => false,
        };
        if is_suffix && name[at - 2..at].iter().all(char::is_ascii_uppercase) {
            let start = name[..at].iter().rposition(|c| !c.is_ascii_uppercase());
            let start = start.map_or(0, |before| before + 1);
            name[start + 1..at]
                .iter_mut()
                .for_each(char::make_ascii_lowercase);
        }
    }
    name.into_iter().collect()
}

/// The identifier of a field: `r#type`, `self_`, `_3scale`, `field`.
pub(crate) fn field(name: &str) -> String {
    let snake = ascii(name).to_snake_case();
    match snake.as_str() {
        "" => "field".to_owned(),
        "crate" | "self" | "super" => format!("{snake}_"),
        word if KEYWORDS.contains(&word) => format!("r#{word}"),
        word if word.starts_with(|c: char| c.is_ascii_digit()) => format!("_{snake}"),
        _ => snake,
    }
}

/// A part of a type's name: `Keystores`.
pub(crate) fn camel(name: &str) -> String {
    ascii(name).to_upper_camel_case()
}

/// The variant of a value: `Always`, `Empty`, `_1`.
pub(crate) fn variant(value: &str) -> String {
    let camel = camel(value);
    match camel.as_str() {
        "" if value.is_empty() => "Empty".to_owned(),
        "" => "Other".to_owned(),
        "Self" => "Itself".to_owned(),
        word if word.starts_with(|c: char| c.is_ascii_digit()) => format!("_{camel}"),
        _ => camel,
    }
}

/// The type of a kind: its name, with a suffix where it would hide another type.
pub(crate) fn root(kind: &str) -> String {
    let mut name: String = kind.chars().filter(char::is_ascii_alphanumeric).collect();
    if let Some(first) = name.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    if is_taken(&name) {
        name.push_str("Resource");
    }
    name
}

/// Whether the generated code uses the name for something else.
pub(crate) fn is_taken(name: &str) -> bool {
    TAKEN.contains(&name)
}

/// Names that kube's derive imports beside the types of fields.
pub(crate) const OF_DERIVE: [&str; 6] = [
    "ListMerge",
    "MapMerge",
    "Message",
    "Reason",
    "Rule",
    "StructMerge",
];

/// Whether the types of fields cannot have the name in [`crate::structs`]: the generated code needs it for something else.
pub fn is_reserved(name: &str) -> bool {
    let of_structs = ["Duration", "KubeSchema", "Timestamp"];
    let others = OF_DERIVE.iter().chain(&of_structs);
    is_taken(name) || crate::known::is_name(name) || others.into_iter().any(|it| *it == name)
}

/// The name of one item of a list: `Secret` of `Secrets`.
pub(crate) fn singular(plural: &str) -> String {
    let ends = |end: &str| plural.strip_suffix(end).filter(|stem| stem.len() > 1);
    let keeps = ["ss", "us", "is", "os", "as"];
    if let Some(stem) = ends("ies") {
        return format!("{stem}y");
    }
    for end in ["sses", "shes", "ches", "xes"] {
        if ends(end).is_some() {
            return plural[..plural.len() - 2].to_owned();
        }
    }
    match ends("s") {
        Some(stem) if !keeps.iter().any(|end| plural.ends_with(end)) => stem.to_owned(),
        _ => plural.to_owned(),
    }
}

/// The rules of `#[serde(rename_all = …)]` for fields, by what a name becomes.
pub(crate) fn camel_case(ident: &str) -> String {
    let ident = ident.strip_prefix("r#").unwrap_or(ident);
    let mut name = String::new();
    let mut upper = false;
    for c in ident.chars() {
        match c {
            '_' => upper = true,
            _ if upper => {
                name.push(c.to_ascii_uppercase());
                upper = false;
            }
            _ => name.push(c),
        }
    }
    // serde lower-cases the first letter.
    if let Some(first) = name.get_mut(..1) {
        first.make_ascii_lowercase();
    }
    name
}

/// A rule of `#[serde(rename_all = …)]` for variants.
type Rule = (&'static str, fn(&str) -> String);

/// The rules for variants.
const RULES: [Rule; 6] = [
    ("lowercase", |variant| variant.to_ascii_lowercase()),
    ("UPPERCASE", |variant| variant.to_ascii_uppercase()),
    ("camelCase", |variant| {
        variant[..1].to_ascii_lowercase() + &variant[1..]
    }),
    ("snake_case", snake),
    ("kebab-case", |variant| snake(variant).replace('_', "-")),
    ("SCREAMING_SNAKE_CASE", |variant| {
        snake(variant).to_ascii_uppercase()
    }),
];

/// A variant in snake case, as serde does it.
fn snake(variant: &str) -> String {
    let mut snake = String::new();
    for (index, c) in variant.char_indices() {
        if index > 0 && c.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

/// The rule that gives every variant its value; none if there is no such rule, or none is needed.
pub(crate) fn rule(variants: &[(String, String)]) -> Option<&'static str> {
    if variants.iter().all(|(variant, value)| variant == value) {
        return None;
    }
    let fits = |(_, rename): &&Rule| {
        let mut all = variants.iter();
        all.all(|(variant, value)| rename(variant) == *value)
    };
    RULES.iter().find(fits).map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plurals_and_versions_of_acronyms_are_one_word() {
        for (name, snake, upper) in [
            ("clusterIPs", "cluster_ips", "ClusterIps"),
            ("assignedIPv4", "assigned_ipv4", "AssignedIpv4"),
            ("podCIDRs", "pod_cidrs", "PodCidrs"),
            ("IPsOfHost", "ips_of_host", "IpsOfHost"),
            ("hostIP", "host_ip", "HostIp"),
            ("isASimpleName", "is_a_simple_name", "IsASimpleName"),
            ("dnsNames", "dns_names", "DnsNames"),
        ] {
            assert_eq!(field(name), snake, "{name}");
            assert_eq!(camel(name), upper, "{name}");
        }
    }
}
