//! What a Kubernetes name becomes in Rust and Cargo.
//!
//! Invariants: the results are accepted by rustc, clippy and Cargo for every valid name; a module and its file differ by
//! `r#` only. Two names can meet in one module (`a-b` and `a.b`): the rules of `project` refuse that.

use heck::ToSnakeCase as _;

pub use self::taken::is_device;
use self::taken::{COLLIDING_KINDS, CRATES, KEYWORDS, PACKAGE_RESERVED, WEBHOOK_IMPORTS};
use super::{ControllerName, Domain, Group, Kind, ProjectName};

pub mod order;
mod taken;

/// A module and the file that holds it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Module {
    /// The identifier in source text: `cache`, `r#type`, `self_`, `_3scale`.
    pub ident: String,
}

impl Module {
    fn of(name: &str, taken: &[&str]) -> Self {
        let is_snake = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        // Most groups are, and each entry of a project asks for its own.
        let snake = match name.bytes().all(is_snake) {
            true => name.to_owned(),
            false => name.to_snake_case(),
        };
        let ident = match snake.as_str() {
            // These cannot be raw identifiers.
            "crate" | "self" | "super" => format!("{snake}_"),
            word if has(KEYWORDS, word) => format!("r#{word}"),
            word if has(taken, word) || is_device(word) => format!("{snake}_"),
            word if word.starts_with(|c: char| c.is_ascii_digit()) => format!("_{snake}"),
            _ => snake,
        };
        Self { ident }
    }

    /// The module of an API group. A group without a name of its own takes the domain's.
    pub fn of_group(group: &Group, domain: &Domain) -> Self {
        let name = if group.as_str().is_empty() {
            domain.as_str()
        } else {
            group.as_str()
        };
        // Nobody imports from the crate `core` by name, and `core` is what Kubernetes calls the group of Pods.
        match name {
            "core" => Self {
                ident: name.to_owned(),
            },
            _ => Self::of(name, CRATES),
        }
    }

    /// The module of a kind's types and of its default controller.
    pub fn of_kind(kind: &Kind) -> Self {
        Self::of(kind.as_str(), CRATES)
    }

    /// The module of a controller with a name of its own.
    pub fn of_controller(name: &ControllerName) -> Self {
        Self::of(name.as_str(), CRATES)
    }

    /// The file's name without `.rs`: the identifier without `r#`.
    pub fn file(&self) -> &str {
        self.ident.strip_prefix("r#").unwrap_or(&self.ident)
    }
}

/// The Rust type of a kind: its own name, or with `Resource` behind it where that name would hide one which the
/// generated code or a derive needs.
pub fn type_name(kind: &Kind) -> String {
    match kind.as_str() {
        kind if has(COLLIDING_KINDS, kind) => format!("{kind}Resource"),
        kind => kind.to_owned(),
    }
}

/// What a file with a webhook calls the type at `path`, and how it imports it: under its own name, or with `Resource`
/// behind it where that name would hide one which the file needs.
pub fn import_beside_webhooks(path: &str) -> (String, String) {
    import(path, WEBHOOK_IMPORTS)
}

/// The same for a file with a controller.
pub fn import_beside_controllers(path: &str) -> (String, String) {
    import(path, &[])
}

fn import(path: &str, taken: &[&str]) -> (String, String) {
    let name = path.rsplit("::").next().unwrap_or(path);
    if has(COLLIDING_KINDS, name) || has(taken, name) {
        let other = format!("{name}Resource");
        let import = format!("{path} as {other}");
        return (other, import);
    }
    (name.to_owned(), path.to_owned())
}

/// Whether a sorted list has a word.
fn has(list: &[&str], word: &str) -> bool {
    list.binary_search(&word).is_ok()
}

/// Whether a word can stand in a path: an identifier, raw if it is a keyword.
pub fn is_identifier(word: &str) -> bool {
    let bare = word.strip_prefix("r#").unwrap_or(word);
    let first = |c: char| c.is_ascii_alphabetic() || c == '_';
    let rest = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let unusable = ["_", "crate", "self", "Self", "super"].contains(&bare);
    bare.starts_with(first) && bare.chars().all(rest) && !unusable && !has(KEYWORDS, word)
}

/// The Cargo package of a project: its name, unless Cargo or rustc would not take it or a dependency has it already.
pub fn package_name(project: &ProjectName) -> String {
    let name = project.as_str();
    let ident = name.replace('-', "_");
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        return format!("operator-{name}");
    }
    let reserved = has(KEYWORDS, &ident)
        || has(PACKAGE_RESERVED, name)
        || has(CRATES, &ident)
        || ["crate", "self", "super"].contains(&name);
    if reserved {
        format!("{name}-operator")
    } else {
        name.to_owned()
    }
}

/// The name that cargo gives the library of a package by default. [`package_name`] avoids the names of dependencies.
pub fn library_name(package: &str) -> String {
    package.replace('-', "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_kind(kind: &str, ident: &str, type_name: &str) {
        let kind = Kind::parse(kind).unwrap();
        assert_eq!(Module::of_kind(&kind).ident, ident);
        assert_eq!(super::type_name(&kind), type_name);
    }

    #[test]
    fn kinds() {
        check_kind("Memcached", "memcached", "Memcached");
        check_kind("HTTPRoute", "http_route", "HTTPRoute");
        check_kind("IPAddressV6", "ip_address_v6", "IPAddressV6");
        check_kind("Type", "r#type", "Type");
        check_kind("Self", "self_", "SelfResource");
        check_kind("Option", "option", "OptionResource");
        check_kind("Kube", "kube_", "Kube");
        check_kind("Nul", "nul_", "Nul");
        check_kind("COM1", "com1_", "COM1");
        check_kind("Com", "com", "Com");
    }

    #[track_caller]
    fn check_group(group: &str, domain: &str, ident: &str, file: &str) {
        let module = Module::of_group(
            &Group::parse(group).unwrap(),
            &Domain::parse(domain).unwrap(),
        );
        assert_eq!((module.ident.as_str(), module.file()), (ident, file));
    }

    #[test]
    fn groups() {
        check_group("cache", "example.com", "cache", "cache");
        check_group("a-b.c", "example.com", "a_b_c", "a_b_c");
        check_group("", "example.com", "example_com", "example_com");
        check_group("type", "example.com", "r#type", "type");
        check_group("crate", "example.com", "crate_", "crate_");
        check_group("self", "example.com", "self_", "self_");
        check_group("async", "example.com", "r#async", "async");
        check_group("3scale", "example.com", "_3scale", "_3scale");
        check_group("a--b", "example.com", "a_b", "a_b");
        check_group("core", "", "core", "core");
        check_group("manager", "example.com", "manager_", "manager_");
    }

    #[track_caller]
    fn check_package(project: &str, package: &str) {
        assert_eq!(package_name(&ProjectName::parse(project).unwrap()), package);
    }

    #[test]
    fn packages() {
        check_package("memcached-operator", "memcached-operator");
        check_package("test", "test-operator");
        check_package("core", "core-operator");
        check_package("std", "std-operator");
        check_package("kube", "kube-operator");
        check_package("serde", "serde-operator");
        check_package("k8s-openapi", "k8s-openapi-operator");
        check_package("type", "type-operator");
        check_package("self", "self-operator");
        check_package("manager", "manager-operator");
        check_package("manifests", "manifests-operator");
        check_package("build", "build-operator");
        check_package("3scale", "operator-3scale");
    }

    #[test]
    fn lists_are_sorted_and_without_repeats() {
        for list in [
            KEYWORDS,
            CRATES,
            PACKAGE_RESERVED,
            COLLIDING_KINDS,
            WEBHOOK_IMPORTS,
        ] {
            assert!(list.is_sorted_by(|a, b| a < b), "{list:?}");
        }
    }
}
