//! Go projects whose `PROJECT` does not say what they are, beside inventories of what they are: everything that one has is in its
//! port, or in the list of what is left to a person; never in neither.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use operator_forge::name::{Kind, Plural};
use serde::{Deserialize, de::IgnoredAny};
use serde_yaml::{Mapping, Value};

use crate::session::{repository, scratch};

/// What a Go project has.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Inventory {
    /// `cache.example.com/Memcached: v1alpha1, v1`.
    kinds: Vec<Mapping>,
    /// `defaulting cache.example.com/v1 Memcached`.
    webhooks: Vec<String>,
    /// `cache.example.com/Memcached: v1alpha1 -> v1`.
    conversions: Vec<Mapping>,
    /// `cache.example.com/v1 Memcached: controllers/memcached_controller.go`.
    controllers: Vec<Mapping>,
    /// `"" secrets: get, list  (controllers/memcached_controller.go)`.
    permissions: Vec<String>,
    /// `config.example.com/v1, Kind ProjectConfig`.
    configuration: Vec<String>,
    libraries: Vec<String>,
    flags: Vec<String>,
    /// What is unusual, for people.
    notes: IgnoredAny,
}

/// The port of a Go project.
struct Port {
    name: String,
    inventory: Inventory,
    entries: Vec<Value>,
    list: String,
}

/// The Go projects with an inventory.
fn projects() -> Vec<PathBuf> {
    let directory = repository().join("tests/go-projects");
    let entries = fs::read_dir(directory)
        .unwrap()
        .map(|it| it.unwrap().path());
    let mut all: Vec<_> = entries
        .filter(|it| it.extension().is_some_and(|it| it == "yaml"))
        .collect();
    all.sort();
    assert!(all.len() >= 8);
    all
}

impl Port {
    fn of(inventory: &Path) -> Self {
        let go = inventory.with_extension("");
        let directory = scratch();
        let port = directory.path().join("port");
        let output = Command::new(env!("CARGO_BIN_EXE_operator-forge"))
            .args(["init", "--quiet", "--vcs", "none", "--runtime", "registry"])
            .arg(&port)
            .arg("--from-kubebuilder")
            .arg(&go)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{}: {said}", go.display());
        let read = |file: &str| fs::read_to_string(port.join(file)).unwrap();
        let project: Value = serde_yaml::from_str(&read("PROJECT")).unwrap();
        Self {
            name: go.file_name().unwrap().to_string_lossy().into_owned(),
            inventory: serde_yaml::from_str(&fs::read_to_string(inventory).unwrap()).unwrap(),
            entries: project["resources"].as_sequence().unwrap().clone(),
            list: read("PORTING.md"),
        }
    }

    /// The entry of a version of a kind.
    fn entry(&self, group: &str, version: &str, kind: &str) -> Option<&Value> {
        let is = |entry: &&Value| {
            let text = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default();
            let api_group = match (text("group"), text("domain")) {
                ("core", _) => String::new(),
                (group, "") => group.to_owned(),
                (group, domain) => format!("{group}.{domain}"),
            };
            (api_group.as_str(), text("version"), text("kind")) == (group, version, kind)
        };
        self.entries.iter().find(is)
    }

    /// A part of the list, without its title.
    fn section(&self, title: &str) -> &str {
        let start = format!("\n## {title}\n");
        let Some((_, rest)) = self.list.split_once(start.as_str()) else {
            return "";
        };
        rest.split("\n## ").next().unwrap_or_default()
    }

    /// The kinds in calls of the list.
    fn kinds_of_calls(&self) -> BTreeSet<&str> {
        let calls = self.list.split("::<").skip(1);
        calls.filter_map(|it| it.split('>').next()).collect()
    }

    /// The verbs that the calls of the list have for a kind, or for one of its subresources.
    fn called(&self, kind: &str, subresource: &str) -> BTreeSet<String> {
        let mut verbs = BTreeSet::new();
        for line in self.list.lines() {
            let Some((call, arguments)) = line.split_once(&format!("::<{kind}>(")) else {
                continue;
            };
            let is_of = match call.contains("subresource") {
                true => arguments.starts_with(&format!("\"{subresource}\"")),
                false => subresource.is_empty(),
            };
            let granted: &[&str] = match call.trim() {
                // Server-side apply both creates and updates, and garbage collection deletes.
                ".owns" if subresource.is_empty() => {
                    &["create", "get", "list", "patch", "update", "watch"]
                }
                ".watches" if subresource.is_empty() => &["get", "list", "watch"],
                // The object of a watch has its status.
                ".owns" | ".watches" if subresource == "status" => &["get"],
                _ => &[],
            };
            verbs.extend(granted.iter().map(|&it| it.to_owned()));
            let named = arguments.split("Verb::").skip(1).filter(|_| is_of);
            let named = named.filter_map(|it| it.split(|c: char| !c.is_alphabetic()).next());
            verbs.extend(named.map(str::to_lowercase));
        }
        verbs
    }

    #[track_caller]
    fn has(&self, is_there: bool, what: &str) {
        assert!(is_there, "{}: nothing has {what}\n{}", self.name, self.list);
    }

    /// The number of a sort that the port says there is.
    fn all(&self, sort: &str) -> usize {
        let mut counts = self
            .list
            .lines()
            .find(|line| line.starts_with("The port has "))
            .unwrap()
            .split(", ");
        let count = counts
            .find(|it| it.contains(sort))
            .map_or("", |it| it.trim_start_matches("The port has "));
        count.split(' ').nth(2).map_or(0, |it| it.parse().unwrap())
    }
}

/// The two sides of each line of a list.
fn pairs(list: &[Mapping]) -> Vec<(&str, &str)> {
    let entries = list.iter().flatten();
    entries
        .map(|(key, value)| (key.as_str().unwrap(), value.as_str().unwrap()))
        .collect()
}

#[test]
fn every_kind_is_added_or_listed() {
    for port in projects().iter().map(|it| Port::of(it)) {
        let kinds = pairs(&port.inventory.kinds);
        assert_eq!(port.all("kind"), kinds.len(), "{}", port.name);
        for (name, versions) in kinds {
            let (group, kind) = name.split_once('/').unwrap();
            for version in versions.split(", ") {
                let is_added = port
                    .entry(group, version, kind)
                    .is_some_and(|it| it.get("api").is_some());
                let end = format!("Kind {kind}` is left out");
                let mut lines = port.section("Not added").lines();
                let is_listed =
                    lines.any(|line| line.starts_with("- [ ] `") && line.contains(&end));
                port.has(is_added != is_listed, &format!("{version} of {name}"));
            }
        }
        for configuration in &port.inventory.configuration {
            let (_, kind) = configuration.rsplit_once(' ').unwrap();
            port.has(port.section("Flags").contains(kind), configuration);
        }
    }
}

#[test]
fn every_controller_and_webhook_is_somewhere() {
    for port in projects().iter().map(|it| Port::of(it)) {
        for (of, file) in pairs(&port.inventory.controllers) {
            port.has(
                port.list.contains(file),
                &format!("the controller of {of}, {file}"),
            );
        }
        assert!(
            port.all("webhook") >= port.inventory.webhooks.len(),
            "{}",
            port.name
        );
        for webhook in &port.inventory.webhooks {
            let words: Vec<_> = webhook.split(' ').collect();
            let [purpose, api_version, kind, rest @ ..] = words.as_slice() else {
                panic!("{webhook}")
            };
            let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
            let field = if *purpose == "defaulting" {
                "defaulting"
            } else {
                "validation"
            };
            let entry = port.entry(group, version, kind);
            let is_added = entry.is_some_and(|it| it["webhooks"][field] == true);
            let is_listed = match (kind, rest.last()) {
                (_, Some(path)) => port.list.contains(path.trim_end_matches(')')),
                (&"*", _) => port.section("Not added").contains("resources=*"),
                _ => {
                    let singular = kind.to_lowercase();
                    let mut lines = port.section("Not added").lines();
                    lines.any(|it| {
                        it.contains(&format!("{purpose} webhook")) && it.contains(&singular)
                    })
                }
            };
            port.has(is_added || is_listed, webhook);
        }
    }
}

#[test]
fn every_conversion_is_added_or_urgent() {
    for port in projects().iter().map(|it| Port::of(it)) {
        let conversions = pairs(&port.inventory.conversions);
        assert_eq!(port.all("conversion"), conversions.len(), "{}", port.name);
        for (name, versions) in conversions {
            let (group, kind) = name.split_once('/').unwrap();
            let (spoke, hub) = versions.split_once(" -> ").unwrap();
            let hub = port.entry(group, hub, kind).unwrap();
            let spokes = hub["webhooks"]["spoke"].as_sequence();
            let is_added = spokes.is_some_and(|it| it.iter().any(|it| it == spoke));
            port.has(is_added != port.section("First").contains(kind), name);
        }
    }
}

#[test]
fn every_permission_is_called_or_named() {
    for port in projects().iter().map(|it| Port::of(it)) {
        let controllers = pairs(&port.inventory.controllers);
        for permission in &port.inventory.permissions {
            let (rule, file) = permission.rsplit_once("  (").unwrap();
            let file = file.trim_end_matches(')');
            if rule.starts_with("URLs ") {
                port.has(port.list.contains("urls="), rule);
                continue;
            }
            let (group, rest) = rule.split_once(' ').unwrap();
            let (resource, verbs) = rest.split_once(": ").unwrap();
            let resource = resource.split(' ').next().unwrap();
            let (plural, subresource) = resource.split_once('/').unwrap_or((resource, ""));
            // Every operator may do both.
            if file == "cmd/main.go" && ["leases", "events"].contains(&plural) {
                continue;
            }
            let is = |kind: &str| {
                let plurals = [("Codex", "codices"), ("Shelf", "shelves")];
                let irregular = plurals
                    .into_iter()
                    .find(|(it, _)| *it == kind)
                    .map(|(_, plural)| plural.to_owned());
                let regular = kind.parse::<Kind>().map(|it| Plural::of(&it).to_string());
                irregular.or(regular.ok()).as_deref() == Some(plural)
            };
            let is_own = controllers.iter().any(|(of, at)| {
                let (api_version, kind) = of.split_once(' ').unwrap();
                *at == file && api_version.split('/').next() == Some(group) && is(kind)
            });
            let called = port.kinds_of_calls().into_iter().filter(|it| is(it));
            let kinds: Vec<_> = called.collect();
            let is_named = port.list.contains(&format!("`{resource}` of"))
                || port.list.contains(&format!("resources={resource}"));
            for verb in verbs.split(", ") {
                let is_called = kinds
                    .iter()
                    .any(|kind| port.called(kind, subresource).contains(verb));
                let is_noted = kinds
                    .iter()
                    .any(|kind| port.list.contains(&format!("`{verb}` of `{kind}`")));
                // A controller may read its own kind with its status, which it patches. The list says that writing it is no call.
                let is_of_own = is_own && (subresource.is_empty() || subresource == "finalizers")
                    || is_own && subresource == "status" && ["get", "update"].contains(&verb);
                port.has(
                    is_called || is_noted || is_named || is_of_own,
                    &format!("{verb} of {permission}"),
                );
            }
        }
    }
}

#[test]
fn libraries_and_flags_are_listed() {
    for port in projects().iter().map(|it| Port::of(it)) {
        for library in &port.inventory.libraries {
            let start = format!("- [ ] `{library}");
            port.has(port.section("Libraries").contains(&start), library);
        }
        let lines = port.section("Flags").lines();
        let own = lines.filter(|it| !it.contains("the manager has"));
        let found: BTreeSet<_> = own
            .filter_map(|it| it.strip_prefix("- [ ] `--")?.split('`').next())
            .collect();
        let expected: BTreeSet<_> = port.inventory.flags.iter().map(String::as_str).collect();
        assert_eq!(found, expected, "{}", port.name);
    }
}
