//! What templates see. Everything computed for them is computed here and in `name`, so that a template holds no rule.

#[cfg(test)]
mod tests;
mod webhooks;

use std::cmp::Ordering;

use heck::ToUpperCamelCase as _;
use serde::Serialize;

use crate::{
    name::{
        kubernetes,
        rust::{self, Module},
    },
    project::{ApiView, ControllerView, Key, KindView, Project, Resource, Runtime},
};

pub use self::webhooks::{
    AdmissionContext, ConversionContext, ModuleContext, ServerContext, SpokeContext, WebhookContext,
};

/// The context of the templates of scope `project`. Any other template sees `project`, `header` and its own subject.
#[derive(Clone, Debug, Serialize)]
pub struct Context {
    /// The project.
    pub project: ProjectContext,
    /// The comment at the top of Rust files with the blank line below it, or empty.
    pub header: String,
    /// The groups with an API, by file.
    pub groups: Vec<GroupContext>,
    /// The kinds with an API, by file.
    pub kinds: Vec<KindContext>,
    /// The groups with a controller, by file.
    pub controller_groups: Vec<ControllerGroupContext>,
    /// The webhook server.
    pub server: ServerContext,
    /// The entries with admission webhooks, in the order of `PROJECT`.
    pub webhooks: Vec<WebhookContext>,
    /// Their admission webhooks, one by one.
    pub admissions: Vec<AdmissionContext>,
    /// The kinds with conversion, by group and kind.
    pub conversions: Vec<ConversionContext>,
    /// The modules of all webhooks: groups, versions, kinds, files.
    pub webhook_modules: Vec<ModuleContext>,
    /// The modules of the integration tests of webhooks.
    pub tested_webhook_modules: Vec<ModuleContext>,
}

/// `project`.
#[derive(Clone, Debug, Serialize)]
pub struct ProjectContext {
    /// The prefix of the objects in the manifests.
    pub name: String,
    /// The operator's name in a cluster: the project's name and its domain.
    pub operator: String,
    /// The Cargo package.
    pub package: String,
    /// The library crate.
    pub library: String,
    /// Whether the user's code may call the runtime `manager`, as it did up to template set 4.
    pub knows_manager: bool,
    /// The value of the dependency `operator-runtime` in `Cargo.toml`.
    pub runtime: String,
    /// The value of the dev-dependency.
    pub runtime_of_tests: String,
    /// The URL of the runtime's git repository, as a TOML string.
    pub runtime_repository: Option<String>,
    /// Whether `vendor/` holds the runtime's source.
    pub vendored: bool,
    /// The suffix of API groups; may be empty.
    pub domain: String,
    /// Whether the operator watches single namespaces.
    pub namespaced: bool,
    /// An SPDX identifier, or empty.
    pub license: String,
    /// The copyright holder, or empty.
    pub owner: String,
    /// The Tool files that the user owns now.
    pub owned: Vec<String>,
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
    /// The API group: `cache.example.com`; empty for Kubernetes' `core`.
    pub api_group: String,
    /// The version, which is its module, too.
    pub version: String,
    /// The kind.
    pub kind: String,
    /// The Rust type, as the file calls it.
    #[serde(rename = "type")]
    pub type_name: String,
    /// An object of the kind in Rust code: `memcached`, or `object` where that name is taken or long.
    pub variable: String,
    /// The Rust module of the kind, or of the controller.
    pub module: String,
    /// The name of that module's file or directory.
    pub file: String,
    /// The resource name.
    pub plural: String,
}

/// An item of `groups`.
#[derive(Clone, Debug, Serialize)]
pub struct GroupContext {
    /// The Rust module.
    pub module: String,
    /// The versions, by name.
    pub versions: Vec<VersionContext>,
}

/// An item of a group's `versions`.
#[derive(Clone, Debug, Serialize)]
pub struct VersionContext {
    /// The Rust module, which is the version.
    pub module: String,
    /// The APIs, by file.
    pub apis: Vec<ApiContext>,
}

/// `api`: one version of a kind that the project defines.
#[derive(Clone, Debug, Serialize)]
pub struct ApiContext {
    /// The names.
    #[serde(flatten)]
    pub names: Names,
    /// Whether the type does not have the name of the kind, so that kube's derive needs `root`.
    pub root: bool,
    /// Whether objects live in namespaces.
    pub namespaced: bool,
    /// Short names for kubectl.
    pub short_names: Vec<String>,
    /// The category for kubectl, such as `memcached-operator` or `demo-all`; empty if the project's name cannot be one.
    pub category: String,
    /// Whether etcd holds this version. Changes when a version is added: not for User files.
    pub storage: bool,
}

/// `kind`: a kind that the project defines, under the names of its stored version.
#[derive(Clone, Debug, Serialize)]
pub struct KindContext {
    /// The names.
    #[serde(flatten)]
    pub names: Names,
    /// The versions, by age.
    pub apis: Vec<ApiContext>,
}

/// An item of `controller_groups`.
#[derive(Clone, Debug, Serialize)]
pub struct ControllerGroupContext {
    /// The Rust module.
    pub module: String,
    /// The controllers, by file.
    pub controllers: Vec<ControllerContext>,
}

/// `controller`.
#[derive(Clone, Debug, Serialize)]
pub struct ControllerContext {
    /// The names.
    #[serde(flatten)]
    pub names: Names,
    /// The name at run time.
    pub name: String,
    /// Whether it is its kind's default controller: the others have names of their own.
    pub default: bool,
    /// The condition that it sets: `Ready`, or one with its name, so that two controllers of a kind do not share one.
    pub condition: String,
    /// The finalizer that it puts on objects, named after the operator and the controller; empty without one.
    pub finalizer: String,
    /// The path of the type in the file's `use`, perhaps with another name for it.
    pub import: String,
    /// The same in an integration test.
    pub test_import: String,
    /// The module with the type, its spec and its status; empty for a type that the project does not define.
    pub type_module: String,
    /// Whether the project defines the type.
    pub own: bool,
    /// Whether another project defines the type.
    pub external: bool,
    /// Whether the objects live in namespaces.
    pub namespaced: bool,
}

impl Context {
    /// The APIs.
    pub fn apis(&self) -> impl Iterator<Item = &ApiContext> {
        self.kinds.iter().flat_map(|kind| &kind.apis)
    }

    /// The versions that are converted to a hub.
    pub fn spokes(&self) -> impl Iterator<Item = &SpokeContext> {
        self.conversions.iter().flat_map(|it| &it.spokes)
    }

    /// The controllers.
    pub fn controllers(&self) -> impl Iterator<Item = &ControllerContext> {
        let groups = self.controller_groups.iter();
        groups.flat_map(|group| &group.controllers)
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

    /// The order of the files, which rustfmt wants of `mod` declarations, too.
    fn by_file(&self, other: &Self) -> Ordering {
        (&self.group_file, &self.file).cmp(&(&other.group_file, &other.file))
    }

    /// The path of the type if the project defines it.
    fn own_path(&self) -> String {
        let (group, version) = (&self.group_module, &self.version);
        format!("crate::api::{group}::{version}::{}", self.type_name)
    }
}

/// The path of a type that the project does not define.
fn foreign_path(key: &Key, resource: &Resource) -> Option<String> {
    let core = || kubernetes::find(key.group.as_str(), key.version, &key.kind);
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

/// The context of a project.
pub fn context(project: &Project) -> Context {
    let settings = &project.settings;
    let library = project.library();
    let kinds = kinds(project);
    let webhooks = webhooks::webhooks(project, &library);
    let conversions = webhooks::conversions(project);
    let (webhook_modules, tested_webhook_modules) = webhooks::modules(&webhooks, &conversions);
    Context {
        groups: groups(&kinds),
        controller_groups: controller_groups(project, &library),
        kinds,
        server: webhooks::server(project),
        webhooks,
        admissions: webhooks::admissions(project),
        conversions,
        webhook_modules,
        tested_webhook_modules,
        header: settings.header_comment(),
        project: ProjectContext {
            name: project.name.to_string(),
            operator: operator(project),
            library,
            knows_manager: settings.library.is_some(),
            package: rust::package_name(&project.name),
            runtime: settings.runtime.dependency(),
            runtime_of_tests: settings.runtime.dev_dependency(),
            runtime_repository: settings.runtime.repository(),
            vendored: settings.runtime == Runtime::Vendored,
            domain: project.domain.to_string(),
            namespaced: project.namespaced,
            license: settings.license.spdx().to_owned(),
            owner: settings.owner.as_str().to_owned(),
            owned: settings.owned.iter().map(ToString::to_string).collect(),
        },
    }
}

/// The operator's name in a cluster.
fn operator(project: &Project) -> String {
    match project.domain.as_str() {
        "" => project.name.to_string(),
        domain => format!("{}.{domain}", project.name),
    }
}

/// The project's name as a kubectl category: `kubectl get memcached-operator` lists all objects of the project's kinds. A name
/// without a dash gets one, because kubectl prefers a category to a resource, and no kind has a dash. Empty for a name that is
/// no DNS label (RFC 1035).
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

fn kinds(project: &Project) -> Vec<KindContext> {
    let category = category(project);
    let kind = |view: &KindView<'_>| {
        let apis: Vec<_> = view.apis.iter().map(|view| api(view, &category)).collect();
        let stored = apis.iter().find(|api| api.storage).unwrap_or(&apis[0]);
        KindContext {
            names: stored.names.clone(),
            apis,
        }
    };
    let mut kinds: Vec<_> = project.kinds().iter().map(kind).collect();
    kinds.sort_by(|a, b| a.names.by_file(&b.names));
    kinds
}

fn api(view: &ApiView<'_>, category: &str) -> ApiContext {
    let names = Names::of(view.key, view.resource);
    ApiContext {
        root: names.type_name != names.kind,
        namespaced: view.api.namespaced,
        short_names: view
            .api
            .short_names
            .iter()
            .map(ToString::to_string)
            .collect(),
        category: category.to_owned(),
        storage: view.storage,
        names,
    }
}

fn groups(kinds: &[KindContext]) -> Vec<GroupContext> {
    let mut apis: Vec<_> = kinds.iter().flat_map(|kind| kind.apis.clone()).collect();
    let path = |api: &ApiContext| (api.names.group_file.clone(), api.names.version.clone());
    // Within a version, the kinds stay in the order of their files.
    apis.sort_by_cached_key(path);
    let of_version = |apis: &[ApiContext]| VersionContext {
        module: apis[0].names.version.clone(),
        apis: apis.to_vec(),
    };
    let of_group = |apis: &[ApiContext]| GroupContext {
        module: apis[0].names.group_module.clone(),
        versions: apis
            .chunk_by(|a, b| a.names.version == b.names.version)
            .map(of_version)
            .collect(),
    };
    apis.chunk_by(|a, b| a.names.group_file == b.names.group_file)
        .map(of_group)
        .collect()
}

fn controller_groups(project: &Project, library: &str) -> Vec<ControllerGroupContext> {
    let operator = operator(project);
    let views = project.controllers().into_iter();
    let mut all: Vec<_> = views
        .map(|view| controller(view, &operator, library))
        .collect();
    all.sort_by(|a, b| a.names.by_file(&b.names));
    let of_group = all.chunk_by(|a, b| a.names.group_file == b.names.group_file);
    of_group
        .map(|controllers| ControllerGroupContext {
            module: controllers[0].names.group_module.clone(),
            controllers: controllers.to_vec(),
        })
        .collect()
}

fn controller(view: ControllerView<'_>, operator: &str, library: &str) -> ControllerContext {
    let ControllerView { key, resource, .. } = view;
    let mut names = Names::of(key, resource);
    let foreign = foreign_path(key, resource);
    let own = foreign.is_none();
    let (group, version) = (&names.group_module, &names.version);
    let type_module = format!("crate::api::{group}::{version}::{}", names.module);
    let import = match foreign {
        Some(path) => {
            let (type_name, import) = rust::import_beside_controllers(&path);
            names.type_name = type_name;
            import
        }
        None => names.own_path(),
    };
    names.file = view.module.file().to_owned();
    names.module = view.module.ident;
    ControllerContext {
        names,
        default: view.default,
        condition: match view.default {
            true => "Ready".to_owned(),
            false => format!("{}Ready", view.name.to_upper_camel_case()),
        },
        finalizer: match view.finalizer {
            true => format!("{operator}/{}", view.name),
            false => String::new(),
        },
        name: view.name,
        test_import: in_tests(&import, library),
        import,
        type_module: if own { type_module } else { String::new() },
        own,
        external: resource.external.is_some(),
        namespaced: view.namespaced,
    }
}
