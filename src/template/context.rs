//! The variables of the templates. Everything that they need is computed here and in `name`, so that no template contains a rule.
//!
//! A template of scope `project` sees everything. Any other template sees `project`, `header` and the entry that it is rendered for
//! (`api`, `controller`, `webhook` or `spoke`), so that its file does not depend on another entry.

mod ansible;
mod charts;
mod controllers;
pub mod former;
mod modules;
#[cfg(test)]
mod tests;
mod types;
mod webhooks;

pub use self::webhooks::generated;

use std::collections::BTreeMap;

use guarded_yaml as yaml;
use serde::Serialize;
use serde_json::{Value, json};

use self::modules::modules;
use super::catalogue::Scope;
use crate::{
    name::{
        Recipe,
        rust::{self, Module},
    },
    project::{ApiView, Key, KindView, Plugin, Project, Resource, Runtime},
};

/// The variables of the templates, and what they are rendered for.
pub struct Context {
    /// The variables of the templates of scope `project`, as an object.
    pub variables: Value,
    /// The Cargo package.
    pub package: String,
    /// The scopes whose templates are rendered once for the project.
    pub scopes: Vec<Scope>,
    /// The subjects of the other scopes.
    pub subjects: Vec<Subject>,
}

/// An API, controller, webhook or conversion that the templates of one scope are rendered for.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The scope.
    pub scope: Scope,
    /// The names.
    pub names: Names,
    /// The variable that the templates see it as.
    pub variable: &'static str,
    /// Its value, with the names.
    pub value: Value,
    /// The directory whose templates are left out: `tests/` if no minimal object is known, `config/` for an external type.
    pub without: Option<&'static str>,
}

/// The names of an entry of `PROJECT`; part of `kind`, `api`, `controller`, `webhook` and `spoke`.
#[derive(Clone, Debug, Serialize)]
pub struct Names {
    /// The key of the entry.
    #[serde(skip)]
    pub key: Key,
    /// The group without the domain; may be empty.
    pub group: String,
    /// The Rust module of the group.
    pub group_module: String,
    /// The directory of the group.
    pub group_file: String,
    /// The API group: `cache.example.com`; empty for the core group.
    pub api_group: String,
    /// The version, which is also its module.
    pub version: String,
    /// The kind.
    pub kind: String,
    /// The Rust type, as the file calls it.
    #[serde(rename = "type")]
    pub type_name: String,
    /// The variable for an object of the kind: `memcached`, or `object` where that name is taken or long.
    pub variable: String,
    /// The Rust module of the kind, or of the controller.
    pub module: String,
    /// The name of that module's file or directory.
    pub file: String,
    /// The plural.
    pub plural: String,
}

impl Subject {
    /// A subject of all templates of its scope. Its value has the names and `more`.
    fn new(scope: Scope, names: Names, more: Value) -> Self {
        Self {
            scope,
            value: with(&names, more),
            variable: match scope {
                scope if scope.is_api() => "api",
                Scope::Schemas => "schemas",
                Scope::ExternalCrd => "crd",
                scope if scope.is_controller() => "controller",
                Scope::Convert => "spoke",
                _ => "webhook",
            },
            names,
            without: None,
        }
    }
}

impl Names {
    fn of(key: &Key, resource: &Resource) -> Self {
        let group = Module::of_group(&key.group, &key.domain);
        let module = Module::of_kind(&key.kind);
        Self {
            key: key.clone(),
            group: key.group.to_string(),
            group_file: group.file().to_owned(),
            group_module: group.ident,
            api_group: key.api_group(resource.core),
            version: key.version.to_string(),
            kind: key.kind.to_string(),
            type_name: rust::type_name(&key.kind),
            variable: rust::variable(&key.kind),
            file: module.file().to_owned(),
            module: module.ident,
            plural: resource.plural.to_string(),
        }
    }
}

/// The context of a project.
pub fn context(project: &Project) -> Context {
    let settings = &project.settings;
    let library = project.library();
    let apis = apis(project);
    let external = external(project);
    let controllers = controllers::controllers(project, &library);
    let webhooks = webhooks::webhooks(project, &library);
    let conversions = webhooks::conversions(project);
    let server = webhooks::server(project);
    let exists = server["exists"] == true;
    let has_charts = project.resources().any(|(_, it)| it.chart.is_some());
    let has_ansible = project.resources().any(|(_, it)| it.ansible.is_some());
    let package = rust::package_name(&project.name);
    let plugins = project.plugins();
    let all = Plugin::ALL.into_iter();
    let has_plugin = all.map(|it| (it.word(), plugins.contains(&it)));
    let kind = |apis: &Vec<Subject>| {
        let is_stored = |api: &&Subject| api.value["storage"] == true;
        let stored = apis.iter().find(is_stored).unwrap_or(&apis[0]);
        with(&stored.names, json!({ "apis": values(apis) }))
    };
    let spokes = || conversions.iter().flat_map(|(_, spokes)| spokes);
    let of_webhooks = || webhooks.iter().chain(spokes());
    let variables = json!({
        "project": {
            // The prefix of the objects in the manifests.
            "name": project.name.to_string(),
            // The operator's name in a cluster: the project's name and its domain.
            "operator": project.operator(),
            // Its Lease, and whether that is the one of an operator that it replaces.
            "lease": settings.lease.as_ref().map_or_else(|| project.operator(), ToString::to_string),
            "replaces": settings.lease.is_some(),
            // The replicas that share the objects, or null if only the leader reconciles.
            "shards": settings.shards,
            "package": package,
            // The library crate.
            "library": library,
            // The dependency and the dev-dependency `operator-runtime` in `Cargo.toml`.
            "runtime": settings.runtime.dependency(settings.crypto, plugins.iter().copied()),
            // The dependency `operator-helm`, of a project with charts.
            "chart_runtime": settings.runtime.dependency_for("operator-helm"),
            // The dependency `operator-ansible`, of a project with Ansible roles or playbooks.
            "ansible_runtime": settings.runtime.dependency_for("operator-ansible"),
            "runtime_of_tests": settings.runtime.dev_dependency(settings.crypto),
            // The crate of the cryptography of TLS, and the crate that no dependency may bring beside it.
            "crypto": settings.crypto.word(),
            "other_crypto": settings.crypto.other().word(),
            // The longest description of Kubernetes' types in CRDs, in characters, or null for the runtime's default.
            "description_length": settings.description_length,
            // The URL of the runtime's git repository, as a TOML string.
            "runtime_repository": settings.runtime.repository(),
            // The oldest Kubernetes that the operator works with, and the feature of k8s-openapi with its types.
            "kubernetes": project.kubernetes().to_string(),
            "kubernetes_feature": project.kubernetes().feature(),
            // The suffix of API groups; may be empty.
            "domain": project.domain.to_string(),
            // Whether the operator watches single namespaces.
            "namespaced": project.namespaced,
            // An SPDX identifier, or empty.
            "license": settings.license.spdx(),
            // The paths of owned files.
            "owned": settings.owned.iter().map(ToString::to_string).collect::<Vec<_>>(),
        },
        // The comment at the top of Rust files with a blank line below it, or empty.
        "header": settings.header_comment(),
        // The modules of `src/api.rs`: groups, versions, types.
        "groups": groups(project, modules(apis.iter().flatten().chain(&external))),
        // The paths of the storage versions of kinds with several versions, by group and kind.
        "hubs": hubs(project),
        // The kinds that the project defines, by file, under the names of their storage versions.
        "kinds": apis.iter().map(kind).collect::<Vec<_>>(),
        // The charts: the function of each and its directory, and the controllers that install them.
        "charts": charts::charts(project),
        "releases": charts::releases(&controllers),
        // Whether a kind has an Ansible role or playbook, and the controllers that run them.
        "ansible": has_ansible,
        "automations": ansible::automations(&controllers),
        // The images of controllers, which environment variables of the manager name.
        "images": controllers::images(project),
        // The modules of `src/controllers.rs`: groups, controllers.
        "controller_groups": modules(&controllers),
        "server": server,
        // Whether the project has each plugin.
        "plugins": has_plugin.collect::<BTreeMap<_, _>>(),
        // The admission webhooks, in the order of `PROJECT`.
        "admissions": values(&webhooks),
        // The kinds with conversion, by group and kind.
        "conversions": conversions.iter().map(|(hub, spokes)| json!({
            "hub": hub,
            "spokes": values(spokes),
        })).collect::<Vec<_>>(),
        // The modules of `src/webhooks.rs` and of the integration tests: groups, versions, kinds, files.
        "webhook_modules": modules(of_webhooks()),
        "tested_webhook_modules": modules(of_webhooks().filter(|it| it.without.is_none())),
    });

    let is_vendored = settings.runtime == Runtime::Vendored;
    let has_certificates = |from: &str| exists && server["certificates"] == from;
    let scopes = [
        (Scope::Project, true),
        (Scope::Runtime(None), is_vendored),
        (
            Scope::RecipeRuntime,
            (has_charts || has_ansible) && is_vendored,
        ),
        (Scope::Charts, has_charts),
        (Scope::ChartRuntime, has_charts && is_vendored),
        (Scope::Ansible, has_ansible),
        (Scope::AnsibleRuntime, has_ansible && is_vendored),
        (Scope::Server, exists),
        (Scope::SelfManaged, has_certificates("self-managed")),
        (Scope::CertManager, has_certificates("cert-manager")),
    ];
    let scopes = scopes.into_iter().filter(|(_, exists)| *exists);
    let plugins = plugins.into_iter().flat_map(|plugin| {
        let of_runtime = is_vendored.then_some(Scope::Runtime(Some(plugin)));
        [Scope::Plugin(plugin)].into_iter().chain(of_runtime)
    });
    let spokes = conversions.into_iter().flat_map(|(_, spokes)| spokes);
    let apis = apis
        .into_iter()
        .flatten()
        .map(|api| with_types(project, api));
    let types = apis.chain(external);
    let schemas = schemas(project);
    let subjects = types
        .chain(schemas)
        .chain(external_crds(project))
        .chain(controllers);
    Context {
        scopes: scopes.map(|(scope, _)| scope).chain(plugins).collect(),
        subjects: subjects.chain(webhooks).chain(spokes).collect(),
        variables,
        package,
    }
}

/// An API with its types and its sample, which only its own templates need.
fn with_types(project: &Project, mut api: Subject) -> Subject {
    if let Some(resource) = project.resource(&api.names.key)
        && let Some(defined) = &resource.api
        && resource.recipe().is_none()
    {
        api.value["types"] = match resource.definition() {
            Some(definition) => types::of_definition(definition),
            None => types::of(&api.names.type_name, &defined.fields),
        };
    }
    api
}

fn values(subjects: &[Subject]) -> Vec<&Value> {
    subjects.iter().map(|subject| &subject.value).collect()
}

/// The names of an entry and `more`, as one object.
fn with(names: &Names, more: Value) -> Value {
    let mut value = json!(names);
    if let (Value::Object(value), Value::Object(more)) = (&mut value, more) {
        value.extend(more);
    }
    value
}

/// The groups of `src/api.rs`, each with the modules of its storage versions, in the order of rustfmt.
fn groups(project: &Project, mut groups: Vec<Value>) -> Vec<Value> {
    let mut kinds = project.kinds();
    let file = |key: &Key| Module::of_kind(&key.kind).file().to_owned();
    kinds.sort_by_cached_key(|kind| (kind.storage.spelled(), file(kind.apis[0].key)));
    for group in &mut groups {
        let is_inside =
            |key: &Key| group["module"] == Module::of_group(&key.group, &key.domain).ident;
        let hub = |kind: &KindView<'_>| {
            let key = kind.apis[0].key;
            let [module, hub] = [Module::of_kind(&key.kind), Module::of_hub(&key.kind)];
            let renamed = (hub != module).then_some(hub.ident);
            json!({ "version": kind.storage.to_string(), "module": module.ident, "renamed": renamed })
        };
        let kinds = kinds.iter().filter(|kind| is_inside(kind.apis[0].key));
        let hubs: Value = kinds.map(hub).collect();
        group["hubs"] = hubs;
    }
    groups
}

/// The types of the storage versions of kinds with several versions.
fn hubs(project: &Project) -> Vec<String> {
    let kinds = project.kinds().into_iter();
    let several = kinds.filter(|kind| kind.apis.len() > 1);
    let hub = |kind: KindView<'_>| {
        let key = kind.apis[0].key;
        format!("{}::{}", key.hub_module(), rust::type_name(&key.kind))
    };
    several.map(hub).collect()
}

/// The path of a type that the project does not define.
fn foreign_path(key: &Key, resource: &Resource) -> Option<String> {
    let core = || key.core_type();
    match &resource.external {
        Some(path) => Some(path.to_string()),
        None if resource.core => core().map(|core| core.path()),
        None => None,
    }
}

/// A path of the project's library in its tests, which are crates of their own.
fn in_tests(path: &str, library: &str) -> String {
    match path.strip_prefix("crate::") {
        Some(rest) => format!("{library}::{rest}"),
        None => path.to_owned(),
    }
}

/// The project's name as a kubectl category: `kubectl get memcached-operator` lists all objects of the project's kinds. A name
/// without a dash gets one, because kubectl prefers a category to a resource, and no kind has a dash. Empty for a name that is
/// not a DNS label (RFC 1035).
fn category(project: &Project) -> String {
    let name = project.name.as_str();
    if !name.starts_with(|c: char| c.is_ascii_lowercase()) {
        String::new()
    } else if name.contains('-') {
        name.to_owned()
    } else {
        format!("{name}-all")
    }
}

/// The APIs of each kind that the project defines, by file; those of one kind by age.
fn apis(project: &Project) -> Vec<Vec<Subject>> {
    let category = category(project);
    let api = |view: &ApiView<'_>| {
        let names = Names::of(view.key, view.resource);
        let short_names = view.api.short_names.iter().map(ToString::to_string);
        let more = json!({
            // Whether the type is not called after the kind, so that kube's derive needs `root`.
            "root": names.type_name != names.kind,
            "namespaced": view.api.namespaced,
            "short_names": short_names.collect::<Vec<_>>(),
            // Whether its controller names other objects after each object.
            "has_image": view.resource.image().is_some(),
            // The category for kubectl, such as `memcached-operator` or `demo-all`; may be empty.
            "category": category,
            // What the operator before this one did with the objects, where a command takes them over.
            "former": null,
            // The name of the object in the sample.
            "sample_name": match view.resource.recipe() {
                // Such a kind has one version, and what it creates has the name, too.
                Some(_) => view.key.sample_name_of_any_version(),
                None => view.key.sample_name(),
            },
            // Whether etcd holds this version. Changes when a version is added: not for User files.
            "storage": view.storage,
            // The types, if they are generated from a CRD.
            "source": source_of(view.key, view.resource),
            // The chart whose releases the objects are.
            "chart": view.resource.chart.as_ref().map(charts::chart),
            // The role or playbook that runs for each object.
            "ansible": view.resource.ansible.as_ref().map(ansible::content),
        });
        let scope = match view.resource.recipe() {
            Some(Recipe::Chart(_)) => Scope::ChartApi,
            Some(Recipe::Ansible(_)) => Scope::AnsibleApi,
            None => Scope::Api,
        };
        Subject::new(scope, names, more)
    };
    let kinds = project.kinds();
    let kinds = kinds.iter().map(|kind| kind.apis.iter().map(api).collect());
    let mut kinds: Vec<Vec<Subject>> = kinds.collect();
    kinds.sort_by_cached_key(|apis| {
        let names = &apis[0].names;
        (names.group_file.clone(), names.file.clone())
    });
    kinds
}

/// The source of the types of an entry, if they are generated from a CRD.
fn source_of(key: &Key, resource: &Resource) -> Value {
    let types = resource.definition().map(|it| it.types(key, resource));
    json!(types.map(|types| types.source.clone()))
}

/// The external types that are generated from a CRD.
fn external(project: &Project) -> Vec<Subject> {
    let external = project.sources().filter_map(|(key, _)| {
        let resource = project.resource(key)?;
        resource.external.as_ref()?;
        let more = json!({ "source": source_of(key, resource) });
        Some(Subject {
            without: Some("config/"),
            ..Subject::new(Scope::Api, Names::of(key, resource), more)
        })
    });
    external.collect()
}

/// The files with the schemas that no Rust type has, each beside the types that include it.
fn schemas(project: &Project) -> Vec<Subject> {
    let schemas = project.sources().filter_map(|(key, _)| {
        let resource = project.resource(key)?;
        let types = resource.definition()?.types(key, resource);
        let more = json!({ "text": types.schemas.as_ref()? });
        Some(Subject::new(Scope::Schemas, Names::of(key, resource), more))
    });
    schemas.collect()
}

/// The CRDs of external types, which the integration tests install: one for all versions of a kind that the project has.
fn external_crds(project: &Project) -> Vec<Subject> {
    let mut crds: BTreeMap<_, (Names, Value)> = BTreeMap::new();
    for (key, source) in project.sources() {
        let (Some(resource), Some(definition)) = (project.resource(key), &source.definition) else {
            continue;
        };
        if resource.external.is_none() {
            continue;
        }
        let crd = definition.value();
        let names = || Names {
            file: source.name.to_string(),
            ..Names::of(key, resource)
        };
        let (_, all) = crds.entry(&source.name).or_insert_with(|| {
            let mut all = crd.clone();
            all["spec"]["versions"] = json!([]);
            (names(), all)
        });
        if let (Value::Array(all), Value::Array(versions)) =
            (&mut all["spec"]["versions"], &crd["spec"]["versions"])
        {
            all.extend(versions.iter().cloned());
        }
    }
    let subject = |(names, crd): (Names, Value)| {
        Subject::new(
            Scope::ExternalCrd,
            names,
            json!({ "yaml": yaml::text(&crd) }),
        )
    };
    crds.into_values().map(subject).collect()
}
