//! From a project to what templates see.

use std::collections::BTreeMap;

use heck::ToUpperCamelCase as _;

use super::*;
use crate::name::rust::{self, Module, order};
use crate::name::{kubernetes, plural};
use crate::project::{ApiView, ControllerView, KindView, Project, Runtime};

/// The context of a project.
pub fn context(project: &Project) -> Context {
    let ((kinds, groups), controller_groups) = rayon::join(
        || {
            let kinds = kinds(project);
            let groups = groups(&kinds);
            (kinds, groups)
        },
        || controller_groups(project),
    );
    let settings = &project.settings;
    let webhooks = of_webhooks::webhooks(project);
    let conversions = of_webhooks::conversions(project);
    let (webhook_modules, tested_webhook_modules) = of_webhooks::modules(&webhooks, &conversions);
    Context {
        project: ProjectContext {
            name: project.name.to_string(),
            operator: operator(project),
            library: project.library(),
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
        header: settings.header_comment(),
        groups,
        controller_groups,
        kinds,
        server: of_webhooks::server(project),
        webhooks,
        admissions: of_webhooks::admissions(project),
        conversions,
        webhook_modules,
        tested_webhook_modules,
    }
}

/// What the operator is called in a cluster.
fn operator(project: &Project) -> String {
    match project.domain.as_str() {
        "" => project.name.to_string(),
        domain => format!("{}.{domain}", project.name),
    }
}

/// The project's name: `kubectl get memcached-operator` lists everything that it defines. It gets a dash if it has none,
/// because kubectl takes a word for a category before it takes it for a resource, and the name of a kind has no dash.
/// Empty if it is no DNS label (RFC 1035).
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
    let kinds = project.kinds().into_iter();
    let mut kinds: Vec<_> = kinds.map(|view| kind(&view, &category)).collect();
    kinds.sort_by(|a, b| {
        order::modules(&a.group_module, &b.group_module)
            .then_with(|| order::modules(&a.module, &b.module))
    });
    kinds
}

fn kind(view: &KindView<'_>, category: &str) -> KindContext {
    let apis: Vec<_> = view.apis.iter().map(|view| api(view, category)).collect();
    let ApiContext {
        group,
        group_module,
        group_file,
        api_group,
        kind,
        module,
        file,
        plural,
        namespaced,
        ..
    } = apis[0].clone();
    let storage = view.storage.to_string();
    KindContext {
        group,
        group_module,
        group_file,
        api_group,
        kind,
        module,
        file,
        plural,
        namespaced,
        storage,
        apis,
    }
}

fn api(view: &ApiView<'_>, category: &str) -> ApiContext {
    let ApiView {
        key,
        resource,
        api,
        storage,
    } = view;
    let group = Module::of_group(&key.group, &key.domain);
    let module = Module::of_kind(&key.kind);
    let type_name = rust::type_name(&key.kind);
    ApiContext {
        group: key.group.to_string(),
        group_file: group.file().to_owned(),
        group_module: group.ident,
        api_group: key.api_group(false),
        version: key.version.to_string(),
        kind: key.kind.to_string(),
        root: type_name != key.kind.as_str(),
        type_name,
        file: module.file().to_owned(),
        module: module.ident,
        plural: resource.plural.to_string(),
        irregular: resource.plural.as_str() != plural::by_kube(&key.kind.singular()),
        namespaced: api.namespaced,
        short_names: api.short_names.iter().map(ToString::to_string).collect(),
        category: category.to_owned(),
        storage: *storage,
    }
}

fn groups(kinds: &[KindContext]) -> Vec<GroupContext> {
    let mut groups: BTreeMap<&str, BTreeMap<&str, Vec<ApiContext>>> = BTreeMap::new();
    for api in kinds.iter().flat_map(|kind| &kind.apis) {
        let versions = groups.entry(&api.group_module).or_default();
        versions.entry(&api.version).or_default().push(api.clone());
    }
    let version = |(module, mut apis): (&str, Vec<ApiContext>)| {
        let mut imports = apis.clone();
        apis.sort_by(|a, b| order::modules(&a.module, &b.module));
        imports.sort_by(|a, b| order::imports(&a.module, &b.module));
        VersionContext {
            module: module.to_owned(),
            apis,
            imports,
        }
    };
    let group = |(module, versions): (&str, BTreeMap<_, _>)| {
        let mut versions: Vec<_> = versions.into_iter().map(version).collect();
        versions.sort_by(|a, b| order::modules(&a.module, &b.module));
        GroupContext {
            module: module.to_owned(),
            versions,
        }
    };
    let mut groups: Vec<_> = groups.into_iter().map(group).collect();
    groups.sort_by(|a, b| order::modules(&a.module, &b.module));
    groups
}

fn controller_groups(project: &Project) -> Vec<ControllerGroupContext> {
    let mut groups: BTreeMap<String, Vec<ControllerContext>> = BTreeMap::new();
    let operator = operator(project);
    for view in project.controllers() {
        groups
            .entry(view.group_module.ident.clone())
            .or_default()
            .push(controller(&view, &operator));
    }
    let group = |(module, mut controllers): (String, Vec<ControllerContext>)| {
        controllers.sort_by(|a, b| order::modules(&a.module, &b.module));
        ControllerGroupContext {
            module,
            controllers,
        }
    };
    let mut groups: Vec<_> = groups.into_iter().map(group).collect();
    groups.sort_by(|a, b| order::modules(&a.module, &b.module));
    groups
}

fn controller(view: &ControllerView<'_>, operator: &str) -> ControllerContext {
    let ControllerView {
        name,
        default,
        module,
        group_module,
        key,
        resource,
        namespaced,
        finalizer,
    } = view;
    let core = match resource.core {
        true => kubernetes::find(key.group.as_str(), key.version, &key.kind),
        false => None,
    };
    let foreign = match &resource.external {
        Some(path) => Some(path.to_string()),
        None => core.map(|core| core.path()),
    };
    let own = foreign.is_none();
    let parent = format!("crate::api::{}::{}", group_module.ident, key.version);
    let module_of_type = format!("{parent}::{}", Module::of_kind(&key.kind).ident);
    let (type_name, import) = match foreign {
        Some(path) => rust::import_beside_controllers(&path),
        None => {
            let name = rust::type_name(&key.kind);
            (name.clone(), format!("{parent}::{name}"))
        }
    };
    ControllerContext {
        name: name.clone(),
        module: module.ident.clone(),
        file: module.file().to_owned(),
        group_module: group_module.ident.clone(),
        group_file: group_module.file().to_owned(),
        default: *default,
        condition: match default {
            true => "Ready".to_owned(),
            false => format!("{}Ready", name.to_upper_camel_case()),
        },
        finalizer: match finalizer {
            true => format!("{operator}/{name}"),
            false => String::new(),
        },
        kind: key.kind.to_string(),
        type_name,
        import,
        type_module: if own { module_of_type } else { String::new() },
        own,
        namespaced: *namespaced,
        api_group: key.api_group(resource.core),
        version: key.version.to_string(),
        plural: resource.plural.to_string(),
    }
}
