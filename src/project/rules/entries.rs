//! The rules of one entry alone: one of the project's APIs, a type of Kubernetes, or one of another project.

use super::{Check, Use, Violation, known_types, unknown_kind};
use crate::name::kubernetes;
use crate::project::{Key, Project, Resource};

/// The rules of one entry alone.
pub fn check(project: &Project, key: &Key, resource: &Resource) -> Check {
    if resource.core {
        core_entry(key, resource)?;
    } else if resource.external.is_some() {
        external_entry(project, key, resource)?;
    } else {
        own_entry(project, key, resource)?;
    }
    let namespaced = is_namespaced(key, resource);
    if project.namespaced && !namespaced && (resource.api.is_some() || resource.has_controllers()) {
        return Err(cluster_scoped(key, resource.core));
    }
    Ok(())
}

fn core_entry(key: &Key, resource: &Resource) -> Check {
    let Some(core) = kubernetes::find(key.group.as_str(), key.version, &key.kind) else {
        return Err(Violation::new(
            Some(key),
            format!("`{key}` is `core`, but Kubernetes has no such type"),
        )
        .note(known_types(key.group.as_str()))
        .field("remove `core: true` or correct the group, version or kind"));
    };
    let same = core.group == key.group.as_str() && core.domain() == key.domain.as_str();
    if !same || resource.plural.as_str() != core.plural {
        let domain = if core.domain().is_empty() {
            "none"
        } else {
            core.domain()
        };
        return Err(Violation::new(
            Some(key),
            format!("`{key}` does not describe Kubernetes' type of that name"),
        )
        .note(format!(
            "its group is `{}`, its domain {domain}, its plural `{}`",
            core.group, core.plural
        ))
        .field(format!("group: {}", core.group)));
    }
    if resource.api.is_some() {
        return Err(Violation::new(
            Some(key),
            format!("`{key}` is both `core` and an API of this project"),
        )
        .note("Kubernetes serves that type itself: there is no CRD to make")
        .field("remove `api` or `core`"));
    }
    if resource.external.is_some() {
        return Err(not_external(key, true));
    }
    if resource.holds_nothing() {
        return Err(asks_for_nothing(
            key,
            "is `core` and has neither controllers nor webhooks",
        ));
    }
    Ok(())
}

/// A type that another project defines.
fn external_entry(project: &Project, key: &Key, resource: &Resource) -> Check {
    let group = key.api_group(false);
    let own = |(other, resource): (&Key, &Resource)| {
        resource.api.is_some() && other.kind == key.kind && other.api_group(false) == group
    };
    let core = kubernetes::find(&group, key.version, &key.kind);
    if core.is_some() || project.resources().any(own) {
        return Err(not_external(key, core.is_some()));
    }
    if !group.contains('.') {
        return Err(Violation::new(Some(key), format!("the API group `{group}` has no dot"))
            .note("the types of other projects are CRDs, whose groups are domains with at least one dot")
            .flag("--group cert-manager --external-api-domain io")
            .field("domain: io"));
    }
    if resource.holds_nothing() {
        return Err(asks_for_nothing(
            key,
            "is `external` and has neither controllers nor webhooks",
        ));
    }
    Ok(())
}

/// By hand an entry is emptied as no command leaves it.
fn asks_for_nothing(key: &Key, what: &str) -> Violation {
    Violation::new(Some(key), format!("`{key}` {what}"))
        .note("an entry without `controller`, `controllers` and `webhooks` asks for nothing")
        .field("remove that entry")
}

/// `--external-api-path` for a type that needs none.
pub fn not_external(key: &Key, core: bool) -> Violation {
    let whose = match core {
        true => "one of Kubernetes' types",
        false => "an API of this project",
    };
    Violation::new(
        Some(key),
        format!("`{key}` is {whose}, not of another project"),
    )
    .note("its Rust type is known")
    .flag("leave out --external-api-path")
    .field("remove `external` and `path`")
}

fn own_entry(project: &Project, key: &Key, resource: &Resource) -> Check {
    if key.domain != project.domain {
        return Err(Violation::new(
            Some(key),
            format!(
                "`{key}` has domain `{}`, the project has `{}`",
                key.domain, project.domain
            ),
        )
        .note("the APIs of a project share its domain")
        .field(format!("domain: {}", project.domain)));
    }
    if resource.api.is_none() && resource.has_controllers() {
        return Err(unknown_kind(project, key, Use::Controller));
    }
    if resource.api.is_none() && resource.webhooks.is_some() {
        return Err(unknown_kind(project, key, Use::Webhook));
    }
    if resource.api.is_none() {
        return Err(Violation::new(
            Some(key),
            format!("`{key}` has neither an API, a controller nor webhooks"),
        )
        .note("an entry without `api`, `controller`, `controllers` and `webhooks` asks for nothing")
        .field("remove that entry"));
    }
    Ok(())
}

fn cluster_scoped(key: &Key, core: bool) -> Violation {
    let violation = Violation::new(Some(key), format!("`{key}` is cluster-scoped, but the project is namespaced"))
        .note("a namespaced operator has a Role in each namespace, and a Role cannot allow watching such a kind");
    let field = "remove `namespaced: true` at the top of the file";
    match core {
        true => violation
            .note("a project without `--namespaced` can watch it, this one or one of its own")
            .flag("operator-forge edit --namespaced=false --dry-run --diff")
            .field(field),
        false => violation
            .flag("--namespaced=true")
            .field("api: {crdVersion: v1, namespaced: true}"),
    }
}

/// Whether objects of an entry live in namespaces; Kubernetes says so for its own types.
pub fn is_namespaced(key: &Key, resource: &Resource) -> bool {
    match &resource.api {
        Some(api) => api.namespaced,
        None => kubernetes::find(key.group.as_str(), key.version, &key.kind)
            .is_none_or(|core| core.namespaced),
    }
}
