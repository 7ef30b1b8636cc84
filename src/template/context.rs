//! What templates see. All naming is done here and in `name`, so that a template holds no rule.

mod of_project;
mod of_webhooks;
#[cfg(test)]
mod tests;
mod webhooks;

use serde::Serialize;

pub use self::of_project::context;
pub use self::webhooks::{
    AdmissionContext, ConversionContext, ModuleContext, ServerContext, SpokeContext, WebhookContext,
};

/// The context of every template; those of one API, kind or controller get it under `api`, `kind` or `controller` too.
#[derive(Clone, Debug, Serialize)]
pub struct Context {
    /// `project`.
    pub project: ProjectContext,
    /// The comment at the top of Rust files with the blank line below it, or empty.
    pub header: String,
    /// The groups with an API, as rustfmt sorts modules.
    pub groups: Vec<GroupContext>,
    /// The kinds with an API, by group module and module.
    pub kinds: Vec<KindContext>,
    /// The groups with a controller, as rustfmt sorts modules.
    pub controller_groups: Vec<ControllerGroupContext>,
    /// `server`.
    pub server: ServerContext,
    /// The entries whose objects are defaulted or validated, in the order of `PROJECT`.
    pub webhooks: Vec<WebhookContext>,
    /// The single webhooks of these.
    pub admissions: Vec<AdmissionContext>,
    /// The kinds whose versions are converted, by group and kind.
    pub conversions: Vec<ConversionContext>,
    /// The modules of all webhooks: groups, versions, kinds, files.
    pub webhook_modules: Vec<ModuleContext>,
    /// Those of them that have an integration test.
    pub tested_webhook_modules: Vec<ModuleContext>,
}

/// `project`.
#[derive(Clone, Debug, Serialize)]
pub struct ProjectContext {
    /// The prefix of the objects in the manifests.
    pub name: String,
    /// What the operator is called in a cluster: the name before the domain.
    pub operator: String,
    /// The Cargo package.
    pub package: String,
    /// The library, as code names it.
    pub library: String,
    /// Whether its own code may know the runtime as the crate `manager`, as up to template set 4.
    pub knows_manager: bool,
    /// The dependency on `operator-runtime`, as `Cargo.toml` has it.
    pub runtime: String,
    /// The same for its tests.
    pub runtime_of_tests: String,
    /// The URL of the git repository that the runtime comes from, as a string of TOML.
    pub runtime_repository: Option<String>,
    /// Whether it has the runtime's source in `vendor/`.
    pub vendored: bool,
    /// The suffix of API groups; may be empty.
    pub domain: String,
    /// Whether it watches single namespaces.
    pub namespaced: bool,
    /// An SPDX identifier, or empty.
    pub license: String,
    /// The copyright holder, or empty.
    pub owner: String,
    /// The files that were taken over.
    pub owned: Vec<String>,
}

/// An item of `groups`.
#[derive(Clone, Debug, Serialize)]
pub struct GroupContext {
    /// The module.
    pub module: String,
    /// Its versions, as rustfmt sorts modules.
    pub versions: Vec<VersionContext>,
}

/// An item of a group's `versions`.
#[derive(Clone, Debug, Serialize)]
pub struct VersionContext {
    /// The module, which is the version.
    pub module: String,
    /// The APIs, in the order of `mod` declarations.
    pub apis: Vec<ApiContext>,
    /// The same APIs, in the order of `use` declarations.
    pub imports: Vec<ApiContext>,
}

/// `api`: one version of a kind that the project defines.
#[derive(Clone, Debug, Serialize)]
pub struct ApiContext {
    /// The group without the domain; may be empty.
    pub group: String,
    /// The group's module.
    pub group_module: String,
    /// The group's directory.
    pub group_file: String,
    /// The API group: `cache.example.com`.
    pub api_group: String,
    /// The version, also its module.
    pub version: String,
    /// The kind.
    pub kind: String,
    /// The Rust type of the object.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Whether the type is not called as the kind is, so that kube's derive needs `root`.
    pub root: bool,
    /// The module of the types.
    pub module: String,
    /// The module's file, without `.rs`.
    pub file: String,
    /// The resource name.
    pub plural: String,
    /// Whether kube's derive would guess another plural.
    pub irregular: bool,
    /// Whether objects live in namespaces.
    pub namespaced: bool,
    /// Short names for kubectl.
    pub short_names: Vec<String>,
    /// The category for kubectl, such as `memcached-operator` or `demo-all`; empty if the name cannot be one.
    pub category: String,
    /// Whether etcd holds this version. Changes when a version is added: not for User files.
    pub storage: bool,
}

/// `kind`: a kind that the project defines, in all its versions.
#[derive(Clone, Debug, Serialize)]
pub struct KindContext {
    /// The group without the domain; may be empty.
    pub group: String,
    /// The group's module.
    pub group_module: String,
    /// The group's directory.
    pub group_file: String,
    /// The API group.
    pub api_group: String,
    /// The kind.
    pub kind: String,
    /// The module of the kind.
    pub module: String,
    /// The module's file, without `.rs`.
    pub file: String,
    /// The resource name.
    pub plural: String,
    /// Whether objects live in namespaces.
    pub namespaced: bool,
    /// The version that etcd holds.
    pub storage: String,
    /// The versions, by age.
    pub apis: Vec<ApiContext>,
}

/// An item of `controller_groups`.
#[derive(Clone, Debug, Serialize)]
pub struct ControllerGroupContext {
    /// The module.
    pub module: String,
    /// The controllers, in the order of `mod` declarations.
    pub controllers: Vec<ControllerContext>,
}

/// `controller`.
#[derive(Clone, Debug, Serialize)]
pub struct ControllerContext {
    /// The name at run time.
    pub name: String,
    /// The module.
    pub module: String,
    /// The module's file, without `.rs`.
    pub file: String,
    /// The group's module.
    pub group_module: String,
    /// The group's directory.
    pub group_file: String,
    /// Whether it is its kind's default controller: the others have names of their own.
    pub default: bool,
    /// The condition that it sets: `Ready`, or one with its name, so that two controllers of a kind do not share one.
    pub condition: String,
    /// The finalizer that it puts on objects, named by the operator and the controller; empty without one.
    pub finalizer: String,
    /// The kind that it watches.
    pub kind: String,
    /// The Rust type that it watches, as the file calls it.
    #[serde(rename = "type")]
    pub type_name: String,
    /// What the file imports: the type's full path, perhaps with another name for it.
    pub import: String,
    /// The module that has that type, its spec and its status; empty for a type that the project does not define.
    pub type_module: String,
    /// Whether the project defines that type.
    pub own: bool,
    /// Whether the objects live in namespaces.
    pub namespaced: bool,
    /// The API group; empty for Kubernetes' `core`.
    pub api_group: String,
    /// The version that it watches.
    pub version: String,
    /// The resource name.
    pub plural: String,
}

impl Context {
    /// Every API, for the templates of scope `api`.
    pub fn apis(&self) -> impl Iterator<Item = &ApiContext> {
        self.kinds.iter().flat_map(|kind| &kind.apis)
    }

    /// Every version that is converted to a hub, for the templates of scope `webhook/convert`.
    pub fn spokes(&self) -> impl Iterator<Item = &SpokeContext> {
        let conversions = self.conversions.iter();
        conversions.flat_map(|conversion| &conversion.spokes)
    }

    /// Every controller, for the templates of scope `controller`.
    pub fn controllers(&self) -> impl Iterator<Item = &ControllerContext> {
        self.controller_groups
            .iter()
            .flat_map(|group| &group.controllers)
    }
}
