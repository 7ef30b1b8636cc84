//! Kubernetes names as names in Rust and Cargo.
//!
//! Invariants: rustc, clippy and Cargo accept the result for every valid name; a module and its file differ by `r#` only. Two
//! names can give the same module (`a-b` and `a.b`), which the rules of `project` refuse.

use heck::ToSnakeCase as _;

pub use self::taken::is_device;
use self::taken::{
    ANSIBLE_CONTROLLER_IMPORTS, ANSIBLE_IMPORTS, ANSIBLE_LOCALS, CHART_CONTROLLER_IMPORTS,
    CHART_IMPORTS, CHART_LOCALS, COLLIDING_KINDS, CONTROLLER_TEST_IMPORTS, CRATES, IMAGE_LOCALS,
    KEYWORDS, LOCALS, PACKAGE_RESERVED, WEBHOOK_IMPORTS,
};
use super::{ChartPath, ControllerName, Domain, Group, Kind, ProjectName, Recipe, Version};

mod taken;

/// A module and the file that holds it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Module {
    /// The identifier in source code: `cache`, `r#type`, `self_`, `_3scale`.
    pub ident: String,
}

impl Module {
    fn of(name: &str) -> Self {
        let is_snake = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        // Most groups are snake case already.
        let snake = match name.bytes().all(is_snake) {
            true => name.to_owned(),
            false => name.to_snake_case(),
        };
        let ident = match snake.as_str() {
            // These cannot be raw identifiers.
            "crate" | "self" | "super" => format!("{snake}_"),
            word if has(KEYWORDS, word) => format!("r#{word}"),
            word if has(CRATES, word) || is_device(word) => format!("{snake}_"),
            word if word.starts_with(|c: char| c.is_ascii_digit()) => format!("_{snake}"),
            _ => snake,
        };
        Self { ident }
    }

    /// The module of an API group; for the empty group, that of the domain.
    pub fn of_group(group: &Group, domain: &Domain) -> Self {
        match (group.as_str(), domain.as_str()) {
            // `core` is Kubernetes' name for the group of Pods, and no generated file names the crate.
            ("core", _) | ("", "core") => Self {
                ident: "core".to_owned(),
            },
            ("", domain) => Self::of(domain),
            (group, _) => Self::of(group),
        }
    }

    /// The module of a kind's types and of its default controller.
    pub fn of_kind(kind: &Kind) -> Self {
        Self::of(kind.as_str())
    }

    /// The name of a kind's module beside the modules of the versions: `memcached`, or `v1_` for the kind `V1`.
    pub fn of_hub(kind: &Kind) -> Self {
        let module = Self::of_kind(kind);
        match module.ident.parse::<Version>() {
            Ok(_) => Self {
                ident: format!("{}_", module.ident),
            },
            Err(_) => module,
        }
    }

    /// The module of a controller with a name of its own.
    pub fn of_controller(name: &ControllerName) -> Self {
        Self::of(name.as_str())
    }

    /// The function of `src/charts.rs` with a chart: no longer than its name, but for a `_` or `r#`.
    pub fn of_chart(path: &ChartPath) -> Self {
        Self::of(&path.name().to_ascii_lowercase())
    }

    /// The file's name without `.rs`: the identifier without `r#`.
    pub fn file(&self) -> &str {
        self.ident.strip_prefix("r#").unwrap_or(&self.ident)
    }
}

/// The Rust type of a kind: its name in CamelCase, with the suffix `Resource` where it would shadow a name that the generated
/// code or a derive uses.
pub fn type_name(kind: &Kind) -> String {
    match kind.camel_case() {
        kind if has(COLLIDING_KINDS, kind.as_str()) => format!("{kind}Resource"),
        kind => kind.to_string(),
    }
}

/// Whether the file with the types of a kind with `recipe` imports something of this name.
pub fn is_recipe_import(recipe: Recipe<'_>, type_name: &str) -> bool {
    let imports = match recipe {
        Recipe::Chart(_) => CHART_IMPORTS,
        Recipe::Ansible(_) => ANSIBLE_IMPORTS,
    };
    has(imports, type_name)
}

/// The longest variable: with a longer name, lines of the templates no longer fit.
const VARIABLE_MAX: usize = 20;

/// The longest variable with which the method chain in the controller of a chart fits.
const CHART_VARIABLE_MAX: usize = 16;

/// The variable that holds an object of a kind: `memcached`, or `object` where that name is taken or long.
pub fn variable(kind: &Kind) -> String {
    let Module { ident } = Module::of_kind(kind);
    let is_changed = ident.starts_with("r#") || ident.ends_with('_');
    match is_changed || ident.len() > VARIABLE_MAX || has(LOCALS, &ident) {
        true => "object".to_owned(),
        false => ident,
    }
}

/// The variable in a controller with an image, which has more variables of its own.
pub fn variable_beside_image(variable: &str) -> String {
    match has(IMAGE_LOCALS, variable) {
        true => "object".to_owned(),
        false => variable.to_owned(),
    }
}

/// The variable in the controller of a chart, which has it in a method chain.
pub fn variable_beside_chart(variable: &str) -> String {
    match variable.len() > CHART_VARIABLE_MAX || has(CHART_LOCALS, variable) {
        true => "object".to_owned(),
        false => variable.to_owned(),
    }
}

/// The variable in the controller of a role or playbook.
pub fn variable_beside_ansible(variable: &str) -> String {
    match has(ANSIBLE_LOCALS, variable) {
        true => "object".to_owned(),
        false => variable.to_owned(),
    }
}

/// The name of the type at `path` in the file of a webhook, and the path that the file imports: `a::Request as RequestResource`
/// where the type would shadow a name that the file uses.
pub fn import_beside_webhooks(path: &str) -> (String, String) {
    import(path, WEBHOOK_IMPORTS)
}

/// The name and the import of the type at `path` in the file of a controller, which runs `recipe` in place of code.
pub fn import_beside_controllers(path: &str, recipe: Option<Recipe<'_>>) -> (String, String) {
    let imports = match recipe {
        None => &[],
        Some(Recipe::Chart(_)) => CHART_CONTROLLER_IMPORTS,
        Some(Recipe::Ansible(_)) => ANSIBLE_CONTROLLER_IMPORTS,
    };
    import(path, imports)
}

/// The name and the import of the type at `path` in the integration test of a controller.
pub fn import_beside_controller_tests(path: &str) -> (String, String) {
    import(path, CONTROLLER_TEST_IMPORTS)
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

/// Whether a sorted list contains a word.
fn has(list: &[&str], word: &str) -> bool {
    list.binary_search(&word).is_ok()
}

/// Whether a word can be an identifier in a path; a keyword has to be raw.
pub fn is_identifier(word: &str) -> bool {
    let bare = word.strip_prefix("r#").unwrap_or(word);
    let first = |c: char| c.is_ascii_alphabetic() || c == '_';
    let rest = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let unusable = ["_", "crate", "self", "Self", "super"].contains(&bare);
    bare.starts_with(first) && bare.chars().all(rest) && !unusable && !has(KEYWORDS, word)
}

/// The Cargo package of a project: the project's name, changed where Cargo or rustc would refuse it or a dependency has it.
pub fn package_name(project: &ProjectName) -> String {
    let name = project.as_str();
    let ident = library_name(name);
    match name {
        _ if name.starts_with(|c: char| c.is_ascii_digit()) => format!("operator-{name}"),
        "crate" | "self" | "super" => format!("{name}-operator"),
        _ if has(PACKAGE_RESERVED, name) || has(KEYWORDS, &ident) || has(CRATES, &ident) => {
            format!("{name}-operator")
        }
        _ => name.to_owned(),
    }
}

/// Cargo's default name for the library of a package.
pub fn library_name(package: &str) -> String {
    package.replace('-', "_")
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, path::Path};

    use proc_macro2::{TokenStream, TokenTree};
    use walkdir::WalkDir;

    use super::*;

    #[track_caller]
    fn check_kind(kind: &str, ident: &str, type_name: &str) {
        let kind = kind.parse().unwrap();
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

    /// Every name of a type that the code uses without the path to it, or imports.
    fn words(tokens: TokenStream, mut in_use: bool, found: &mut BTreeSet<String>) {
        let mut colons = 0;
        for token in tokens {
            let after_path = std::mem::take(&mut colons);
            match token {
                TokenTree::Group(group) => words(group.stream(), in_use, found),
                TokenTree::Ident(ident) if ident == "use" => in_use = true,
                TokenTree::Ident(ident) => {
                    let word = ident.to_string();
                    if (in_use || after_path < 2)
                        && word
                            .parse::<Kind>()
                            .is_ok_and(|kind| kind == kind.camel_case())
                    {
                        found.insert(word);
                    }
                }
                TokenTree::Punct(punct) => match punct.as_char() {
                    ':' => colons = after_path + 1,
                    ';' => in_use = false,
                    _ => {}
                },
                TokenTree::Literal(_) => {}
            }
        }
    }

    /// No kind has the name of something else in a file that uses its type, whatever flags made that file.
    #[test]
    fn no_kind_shadows_a_name_of_the_generated_code() {
        let projects = Path::new(env!("CARGO_MANIFEST_DIR")).join("snapshots/projects");
        let mut shadowed = BTreeSet::new();
        for project in fs::read_dir(projects).unwrap() {
            let project = project.unwrap().path();
            let Ok(text) = fs::read_to_string(project.join("PROJECT")) else {
                continue;
            };
            let kinds = text
                .lines()
                .filter_map(|line| line.trim().strip_prefix("kind: "));
            let kinds: Vec<_> = kinds.collect();
            // The types of kinds, their specs, and the names of those that would shadow something.
            let is_of_kind = |word: &str| {
                let ends = ["", "Resource", "ResourceStatus", "Status"];
                let kind = ends.into_iter().filter_map(|end| word.strip_suffix(end));
                kind.into_iter().any(|kind| kinds.contains(&kind))
            };
            for directory in [
                "src/controllers",
                "src/webhooks",
                "tests/controllers",
                "tests/webhooks",
            ] {
                let mut found = BTreeSet::new();
                for entry in WalkDir::new(project.join(directory)) {
                    let Ok(entry) = entry else { continue };
                    if entry.path().extension().is_some_and(|end| end == "rs") {
                        let text = fs::read_to_string(entry.path()).unwrap();
                        words(text.parse().unwrap(), false, &mut found);
                    }
                }
                let imports = match directory {
                    "tests/controllers" => CONTROLLER_TEST_IMPORTS,
                    // A variant of an enum, and what is imported into the unit tests alone, before which a glob stands back.
                    "src/controllers" => &[
                        CHART_CONTROLLER_IMPORTS,
                        ANSIBLE_CONTROLLER_IMPORTS,
                        &["Kube"],
                    ]
                    .concat(),
                    // The types of a conversion are behind the module of their version, and have these names in its test.
                    _ => &[WEBHOOK_IMPORTS, &["Hub", "Spoke"]].concat(),
                };
                let is_constant = |word: &str| word.len() > 1 && !word.contains(char::is_lowercase);
                found.retain(|word| {
                    !has(COLLIDING_KINDS, word)
                        && !imports.contains(&&**word)
                        && !is_of_kind(word)
                        && !is_constant(word)
                });
                shadowed.extend(found.into_iter().map(|word| format!("{directory}: {word}")));
            }
        }
        assert_eq!(shadowed, BTreeSet::new());
    }

    #[test]
    fn modules_beside_versions() {
        for (kind, ident) in [
            ("Memcached", "memcached"),
            ("Type", "r#type"),
            ("V1", "v1_"),
            ("V2beta1", "v2beta1_"),
            ("V1x", "v1x"),
        ] {
            assert_eq!(Module::of_hub(&kind.parse().unwrap()).ident, ident);
        }
    }

    #[test]
    fn variables() {
        let long = format!("K{}", "k".repeat(VARIABLE_MAX));
        for (kind, variable) in [
            ("Memcached", "memcached"),
            ("HTTPRoute", "http_route"),
            ("Type", "object"),
            ("Kube", "object"),
            ("Status", "object"),
            (&long[..VARIABLE_MAX], &long[..VARIABLE_MAX].to_lowercase()),
            (&long, "object"),
        ] {
            assert_eq!(super::variable(&kind.parse().unwrap()), variable);
        }
    }

    #[track_caller]
    fn check_group(group: &str, domain: &str, ident: &str, file: &str) {
        let module = Module::of_group(&group.parse().unwrap(), &domain.parse().unwrap());
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
        assert_eq!(package_name(&project.parse().unwrap()), package);
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
            LOCALS,
            IMAGE_LOCALS,
            CONTROLLER_TEST_IMPORTS,
            WEBHOOK_IMPORTS,
            CHART_IMPORTS,
            CHART_CONTROLLER_IMPORTS,
            CHART_LOCALS,
            ANSIBLE_IMPORTS,
            ANSIBLE_CONTROLLER_IMPORTS,
            ANSIBLE_LOCALS,
        ] {
            assert!(list.is_sorted_by(|a, b| a < b), "{list:?}");
        }
    }
}
