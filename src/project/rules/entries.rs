//! The rules of one entry alone: one of the project's APIs, a type of Kubernetes, or one of another project.

use super::{Check, unknown_kind};
use crate::name::kubernetes;
use crate::project::error::{Rule, Use};
use crate::project::{Key, Project, Resource};

/// The rules of one entry alone.
pub fn check(project: &Project, key: &Key, resource: &Resource) -> Check {
    if resource.core {
        core_entry(key, resource)?;
    } else if resource.external.is_some() {
        external_entry(project, key)?;
    } else {
        own_entry(project, key, resource)?;
    }
    if resource.holds_nothing() {
        return Err(Rule::Idle.at(key));
    }
    if project.namespaced && resource.is_watched() && !is_namespaced(key, resource) {
        let core = resource.core;
        return Err(Rule::ClusterScoped { core }.at(key));
    }
    Ok(())
}

fn core_entry(key: &Key, resource: &Resource) -> Check {
    let Some(core) = kubernetes::find(key.group.as_str(), key.version, &key.kind) else {
        return Err(Rule::NotCore.at(key));
    };
    let same = core.group == key.group.as_str() && core.domain() == key.domain.as_str();
    if !same || resource.plural.as_str() != core.plural {
        return Err(Rule::UnlikeCore(core).at(key));
    }
    if resource.api.is_some() {
        return Err(Rule::CoreApi.at(key));
    }
    match resource.external {
        Some(_) => Err(Rule::NotExternal { core: true }.at(key)),
        None => Ok(()),
    }
}

/// A type that another project defines.
fn external_entry(project: &Project, key: &Key) -> Check {
    let group = key.api_group(false);
    let own = |(other, resource): (&Key, &Resource)| {
        resource.api.is_some() && other.kind == key.kind && other.api_group(false) == group
    };
    let core = kubernetes::find(&group, key.version, &key.kind).is_some();
    if core || project.resources().any(own) {
        return Err(Rule::NotExternal { core }.at(key));
    }
    match group.contains('.') {
        true => Ok(()),
        false => Err(Rule::NoDotElsewhere.at(key)),
    }
}

fn own_entry(project: &Project, key: &Key, resource: &Resource) -> Check {
    if key.domain != project.domain {
        return Err(Rule::OtherDomain(project.domain.clone()).at(key));
    }
    if resource.api.is_some() {
        return Ok(());
    }
    if resource.has_controllers() {
        return Err(unknown_kind(project, key, Use::Controller));
    }
    match resource.webhooks {
        Some(_) => Err(unknown_kind(project, key, Use::Webhook)),
        None => Ok(()),
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
