//! rustfmt changes nothing in rendered Rust, for names of every length: no formatter runs in the tool.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use operator_forge::{
    name::{ChartPath, ProjectName, kubernetes, rust},
    project::Project,
    syntax::Conversion,
    template,
};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The roots of the crates, from which rustfmt finds all other files.
const ROOTS: [&str; 6] = [
    "examples/control-plane.rs",
    "src/lib.rs",
    "src/main.rs",
    "src/bin/manifests.rs",
    "src/bin/migrate-storage.rs",
    "tests/main.rs",
];

/// Kinds with names of Rust or of the generated code, and one with many words.
const KINDS: [&str; 31] = [
    "Action",
    "Api",
    "Arc",
    "Async",
    "Change",
    "Client",
    "Condition",
    "Context",
    "Controller",
    "Crate",
    "Debug",
    "Denied",
    "Error",
    "FieldErrors",
    "HTTPRoute",
    "IPAddressV6",
    "Option",
    "Request",
    "Result",
    "Self",
    "Spec",
    "Spoke",
    "Status",
    "String",
    "Time",
    "Type",
    "V1",
    "Vec",
    "Webhook",
    "Nul",
    "AaBbCcDdEeFfGgHhIiJjKkLlMmNnOoPpQqRrSsTtUuVvWwXxYyZzAaBbCcD",
];

fn project(name: &str, domain: &str, namespaced: bool, resources: &[Value]) -> Project {
    let mut resources = resources.to_vec();
    let mut options = Vec::new();
    for resource in &mut resources {
        let mut of_resource = serde_json::Map::new();
        for name in ["chart", "finalizers"] {
            let option = resource.as_object_mut().and_then(|it| it.remove(name));
            of_resource.extend(option.map(|option| (name.to_owned(), option)));
        }
        if !of_resource.is_empty() {
            options.push(json!({
                "group": resource["group"],
                "domain": resource["domain"],
                "version": resource["version"],
                "kind": resource["kind"],
                "options": of_resource,
            }));
        }
    }
    let text = json!({
        "version": "3",
        "layout": ["rust.operator-forge/v1"],
        "domain": domain,
        "projectName": name,
        "namespaced": namespaced,
        "plugins": { "rust.operator-forge/v1": { "templates": template::SET, "license": "mit", "owner": "Someone", "resources": options } },
        "resources": resources,
    });
    Project::read(text.to_string().as_bytes()).unwrap_or_else(|failure| panic!("{failure:?}"))
}

fn api(group: &str, version: &str, kind: &str, domain: &str, namespaced: bool) -> Value {
    json!({
        "group": group,
        "version": version,
        "kind": kind,
        "domain": domain,
        "controller": true,
        "api": { "crdVersion": "v1", "namespaced": namespaced },
    })
}

/// `first` and a filler without word boundaries, up to the length.
fn long(first: char, filler: &str, length: usize) -> String {
    std::iter::once(first)
        .chain(filler.chars().cycle())
        .take(length)
        .collect()
}

/// Kinds of every length in groups of these lengths.
fn lengths(namespaced: bool, groups: impl Iterator<Item = usize> + Clone) -> Vec<Value> {
    let group = |length: usize| match length {
        // A label has at most 63 characters; dots become one character of the module.
        64.. => format!("{}.{}", long('g', "a", 63), long('g', "b", length - 64)),
        _ => long('g', "a", length),
    };
    groups
        .flat_map(|g| (1..=59).map(move |k| (group(g), long('K', "a", k))))
        .map(|(group, kind)| api(&group, "v1alpha1", &kind, "example.com", namespaced))
        .collect()
}

/// Controllers with names of their own: of core types, and of two kinds with names of every length.
fn controllers() -> Vec<Value> {
    let mut resources: Vec<Value> = kubernetes::all()
        .map(|core| {
            json!({
                "group": core.group,
                "domain": core.domain(),
                "version": core.version,
                "kind": core.kind,
                "core": true,
            })
        })
        .collect();
    let short = api("a", "v1", "K", "example.com", true);
    let long_kind = api(
        "b",
        "v4294967295alpha4294967295",
        &long('K', "a", 59),
        "example.com",
        true,
    );
    resources.extend([short, long_kind]);
    let count = resources.len();
    for (at, resource) in resources.iter_mut().enumerate() {
        // Names in one group must differ; the last two kinds get every length.
        let lengths = if at + 2 >= count { 1..64 } else { 20..22 };
        let first = if at + 1 == count { 'x' } else { 'y' };
        let names = lengths.map(|length| {
            let number = if at + 2 >= count {
                String::new()
            } else {
                format!("{at:03}")
            };
            json!({ "name": long(first, "o", length - number.len()) + &number })
        });
        resource["controllers"] = names.collect();
    }
    resources
}

/// The resources with admission webhooks, and with a second version that is the hub.
fn with_webhooks(resources: Vec<Value>, hub: &str) -> Vec<Value> {
    let asked = json!({ "webhookVersion": "v1", "defaulting": true, "validation": true });
    let both = |mut resource: Value| {
        let mut stored = resource.clone();
        stored["version"] = hub.into();
        stored["controller"] = false.into();
        stored["webhooks"] = json!({ "conversion": true, "spoke": [resource["version"]] });
        resource["webhooks"] = asked.clone();
        [resource, stored]
    };
    resources.into_iter().flat_map(both).collect()
}

/// The resources, with webhook paths of many lengths.
fn paths(mut resources: Vec<Value>) -> Vec<Value> {
    for (at, resource) in resources.iter_mut().enumerate() {
        if resource["webhooks"]["defaulting"] == true {
            let path = long('p', "a", at % 230 + 1);
            resource["webhooks"]["defaultingPath"] = format!("/{path}-{at}").into();
        }
    }
    resources
}

/// Webhooks and controllers of types that the project does not define.
fn foreign_webhooks() -> Vec<Value> {
    let core = kubernetes::all().map(|core| {
        json!({
            "group": core.group,
            "domain": core.domain(),
            "version": core.version,
            "kind": core.kind,
            "core": true,
            "webhooks": { "defaulting": true, "validation": true, "validationPath": format!("/{}-{}-{}", core.group, core.version, core.plural) },
        })
    });
    let paths = [
        "a::Request",
        "a::Kk",
        "kube::Event",
        "kube::z::Event",
        "my_crate::v1::Foo",
        "crate::a::Webhook",
        "crate::zed::Change",
        "cert_manager_crds::v1::Certificate",
        "kube_b::Context",
        "manager_a::Denied",
        "zed::r#type::Option",
    ];
    let external = paths.iter().enumerate().map(|(at, path)| {
        json!({
            "group": format!("external{at}.io"),
            "version": "v1",
            "kind": "Kind",
            "external": true,
            "path": path,
            "controller": true,
            "controllers": [{ "name": format!("other{at}") }],
            "webhooks": { "defaulting": true, "validation": true },
        })
    });
    core.chain(external).collect()
}

/// The resources that the project defines, with a finalizer for each controller.
fn with_finalizers(mut resources: Vec<Value>) -> Vec<Value> {
    resources.retain(|resource| resource["api"].is_object());
    for resource in &mut resources {
        let text = |field: &str| resource[field].as_str().unwrap().to_lowercase();
        let default = match text("group").replace('.', "-") {
            group if group.is_empty() => text("kind"),
            group => format!("{group}-{}", text("kind")),
        };
        // A longer one ends in a hash.
        let has_default = resource["controller"] == true && default.len() <= 63;
        let named = resource["controllers"].as_array().cloned();
        let named = named
            .unwrap_or_default()
            .into_iter()
            .map(|it| it["name"].clone());
        let all = has_default.then(|| default.into()).into_iter().chain(named);
        resource["finalizers"] = all.collect();
    }
    resources
}

/// The resources as kinds with charts, whose names have every length, and admission webhooks.
fn with_charts(mut resources: Vec<Value>) -> Vec<Value> {
    let odd = ["3scale", "type", "self", "nginx-ingress.controller", "A_b"];
    for (at, resource) in resources.iter_mut().enumerate() {
        let name = match odd.get(at) {
            Some(name) => (*name).to_owned(),
            None => long('c', "h", at % ChartPath::MAX + 1),
        };
        resource["chart"] = format!("charts/{name}").into();
        resource["webhooks"] =
            json!({ "webhookVersion": "v1", "defaulting": true, "validation": true });
    }
    resources
}

fn write(project: &Project, directory: &Path) {
    for (path, file) in template::tree(project).unwrap_or_else(|failure| panic!("{failure:?}")) {
        if path.extension() == "rs" {
            let target = directory.join(path.as_str());
            fs::create_dir_all(target.parent().unwrap()).unwrap();
            fs::write(target, &file.content).unwrap();
        }
    }
}

#[test]
fn rendered_rust_is_formatted() {
    let domain = "example.com";
    let nasty = |namespaced| -> Vec<Value> {
        ["type", "self", "a-b.c"]
            .iter()
            .flat_map(|group| {
                KINDS
                    .iter()
                    .map(move |kind| api(group, "v10beta2", kind, domain, namespaced))
            })
            .chain([api("", "v1", "Lakers", domain, namespaced)])
            .collect()
    };
    let projects = [
        project("empty", "", false, &[]),
        project(
            &long('p', "q", ProjectName::MAX),
            &format!("{}.example.com", long('d', "e", 63)),
            false,
            &[],
        ),
        project(
            "lengths",
            domain,
            true,
            &lengths(true, (1..=12).chain([30, 63, 100])),
        ),
        project(
            "cluster",
            domain,
            false,
            &lengths(false, (1..=6).chain([63, 100])),
        ),
        project("nasty", domain, false, &nasty(true)),
        project("nasty-cluster", domain, false, &nasty(false)),
        project("controllers", domain, false, &controllers()),
        project(
            "webhooks",
            domain,
            false,
            &with_webhooks(lengths(true, [1, 8, 30, 63, 100].into_iter()), "v1"),
        ),
        project(
            "old-hub",
            domain,
            false,
            &with_webhooks(
                lengths(true, [2, 20].into_iter()),
                "v4294967295alpha4294967294",
            ),
        ),
        project(
            "nasty-webhooks",
            domain,
            false,
            &with_webhooks(nasty(true), "v2"),
        ),
        project(
            "paths",
            domain,
            false,
            &paths(with_webhooks(lengths(true, [1, 6, 8].into_iter()), "v2")),
        ),
        project("foreign-webhooks", domain, false, &foreign_webhooks()),
        project(
            "finalizers",
            domain,
            true,
            &with_finalizers(lengths(true, [1, 2, 7, 30].into_iter())),
        ),
        project(
            "charts",
            domain,
            true,
            &with_charts(lengths(true, [1, 6, 30, 63].into_iter())),
        ),
        project("nasty-charts", domain, false, &with_charts(nasty(false))),
        project("f", domain, false, &with_finalizers(nasty(false))),
        project(
            &long('p', "q", ProjectName::MAX),
            domain,
            false,
            &with_finalizers(controllers()),
        ),
    ];
    let directory = TempDir::new().unwrap();
    let mut roots = Vec::new();
    for (at, project) in projects.iter().enumerate() {
        let directory = directory.path().join(at.to_string());
        write(project, &directory);
        roots.extend(ROOTS.map(|root| directory.join(root)));
    }
    check(&roots);
}

/// The conversions of `create api --from-version`, for types with many sorts of fields.
#[test]
fn conversions_of_copies_are_formatted() {
    let resources = lengths(true, [1, 8, 63].into_iter());
    let project = project(
        "copies",
        "example.com",
        false,
        &with_webhooks(resources, "v2"),
    );
    let directory = TempDir::new().unwrap();
    let mut files = Vec::new();
    for api in project.apis() {
        let name = rust::type_name(&api.key.kind);
        let types = format!(
            "pub struct {name}Spec {{
                pub size: u32, pub mode: Mode, pub disks: Option<Vec<Disk>>, pub first: Disk, pub last: Box<Disk>
            }}
            pub struct {name}Status {{ pub a: Mode }}
            pub enum Mode {{ Off, On {{ since: String }}, Both(Disk, u8), Of {{ disk: Disk, modes: Vec<Mode>, other: u8 }} }}
            pub struct Disk {{ pub labels: BTreeMap<String, Mode>, pub a: Vec<Option<Mode>> }}"
        );
        let fields = Conversion::of(&types, &name).expect("these are known");
        let Some((_, file)) = template::conversion(&project, api.key, fields).unwrap() else {
            continue;
        };
        let path = directory.path().join(format!("{}.rs", files.len()));
        fs::write(&path, file.content).unwrap();
        files.push(path);
    }
    assert!(files.len() > 100, "{}", files.len());
    check(&files);
}

/// Asserts that rustfmt changes none of the files and of the modules that they declare.
#[track_caller]
fn check(files: &[PathBuf]) {
    let output = Command::new("rustfmt")
        .args([
            "--check",
            "--color",
            "never",
            "--edition",
            "2024",
            "--style-edition",
            "2024",
        ])
        .args(["--config-path", "/dev/null"])
        .args(files)
        .output()
        .expect("rustfmt runs");
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    let shown: Vec<&str> = text
        .lines()
        .take(if std::env::var_os("ALL").is_some() {
            usize::MAX
        } else {
            120
        })
        .collect();
    assert!(
        output.status.success() && text.is_empty(),
        "{} lines of differences:\n{}",
        text.lines().count(),
        shown.join("\n")
    );
}
