//! Rules of a single entry: an API of the project, a type of Kubernetes, or a type of another project.

use super::groups::two_types;
use crate::name::{Group, Kind, is_near, kubernetes};
use crate::project::violation::{Purpose, Remedy, Violation, violation};
use crate::project::{Key, Project, Resource};

/// The first violation by the entry itself.
pub fn check(project: &Project, key: &Key, resource: &Resource) -> Option<Violation> {
    let of_type = match resource.external {
        _ if resource.core => core_entry(project, key, resource),
        Some(_) => external_entry(project, key, resource),
        None => own_entry(project, key, resource),
    };
    of_type.or_else(|| {
        let is_wide = || resource.is_watched() && !is_namespaced(key, resource);
        if resource.holds_nothing() {
            let broken = violation!(key => "`{key}` has neither an API, a controller nor webhooks",
                "an entry without `api`, `controller`, `controllers` and `webhooks` asks for nothing");
            Some(broken.in_file("remove that entry"))
        } else if project.namespaced && is_wide() {
            Some(cluster_scoped(key, resource.core))
        } else {
            None
        }
    })
}

fn cluster_scoped(key: &Key, core: bool) -> Violation {
    let broken = violation!(key => "`{key}` is cluster-scoped, but the project is namespaced",
        "a namespaced operator has a Role in each namespace, and a Role cannot allow watching such a kind");
    match core {
        true => broken
            .note("a project that is not namespaced can watch it, this one or one of its own")
            .by_command(Remedy::ClusterWide)
            .in_file("remove `namespaced: true` at the top of the file"),
        false => broken
            .set("namespaced", true)
            .in_file("api: {crdVersion: v1, namespaced: true}"),
    }
}

/// A type of Kubernetes.
fn core_entry(project: &Project, key: &Key, resource: &Resource) -> Option<Violation> {
    let Some(core) = key.core_type() else {
        let broken = violation!(key => "`{key}` is `core`, but Kubernetes has no such type");
        let broken = broken.in_file("remove `core: true` or correct the group, version or kind");
        return Some(broken.note(known_types(key)));
    };
    let (group, domain, plural) = (core.group, core.domain(), core.plural);
    let named = (key.group.as_str(), key.domain.as_str());
    if (group, domain) != named || plural != resource.plural.as_str() {
        let domain = if domain.is_empty() { "none" } else { domain };
        let broken = violation!(key => "`{key}` does not describe Kubernetes' type of that name",
            "its group is `{group}`, its domain {domain}, its plural `{plural}`");
        return Some(broken.in_file(format!("group: {group}")));
    }
    let (chosen, since) = (project.kubernetes(), core.since());
    if chosen < since {
        let broken = violation!(key => "Kubernetes {chosen}, which the project is for, has no `{key}`",
            "Kubernetes has that type since {since}, and k8s-openapi has the types of one version");
        return Some(
            broken
                .by_command(Remedy::Kubernetes(since))
                .in_file(format!("kubernetes: \"{since}\"")),
        );
    }
    if resource.api.is_some() {
        let broken = violation!(key => "`{key}` is both `core` and an API of this project",
            "Kubernetes serves that type itself: there is no CRD to make");
        return Some(broken.in_file("remove `api` or `core`"));
    }
    resource.external.as_ref().map(|_| not_external(key, true))
}

/// A type that another project defines.
fn external_entry(project: &Project, key: &Key, resource: &Resource) -> Option<Violation> {
    let group = key.api_group(false);
    let own = |(other, resource): (&Key, &Resource)| {
        resource.api.is_some() && other.kind == key.kind && other.api_group(false) == group
    };
    let core = kubernetes::find(&group, key.version, &key.kind).is_some();
    // A command line without the path would mean the API of this project, not Kubernetes' type.
    let is_meant = |(other, it): &(&Key, &Resource)| it.api.is_some() && other.gvk() == key.gvk();
    if core && let Some((other, _)) = project.resources().find(is_meant) {
        return Some(two_types(key, other, &group));
    }
    if core || project.resources().any(own) {
        return Some(not_external(key, core));
    }
    if group.contains('.') {
        let path = resource
            .external
            .as_ref()
            .filter(|_| resource.source.is_some())?;
        let ours = key.type_path();
        if path.as_str() == ours {
            return None;
        }
        let broken = violation!(key => "`{key}` has `crd` and the path `{path}`",
            "types that are generated from a CRD are in a module of this project");
        return Some(broken.in_file(format!("path: {ours}, or remove `crd`")));
    }
    let broken = violation!(key => "the API group `{group}` has no dot",
        "the types of other projects are CRDs, whose groups are domains with at least one dot");
    let remedy = Remedy::set([("group", "cert-manager"), ("domain", "io")]);
    Some(broken.by_command(remedy).in_file("domain: io"))
}

/// The violation by a Rust path for a type of this project or of Kubernetes.
pub fn not_external(key: &Key, core: bool) -> Violation {
    let what = match core {
        true => "one of Kubernetes' types",
        false => "an API of this project",
    };
    violation!(key => "`{key}` is {what}, not of another project",
        "its Rust type is known")
    .by_command(Remedy::Drop(vec!["path"]))
    .in_file("remove `external` and `path`")
}

/// An API of the project, or a controller or webhook of a type that nobody defines.
fn own_entry(project: &Project, key: &Key, resource: &Resource) -> Option<Violation> {
    let (domain, ours) = (&key.domain, &project.domain);
    let imports = |(other, it): (&Key, &Resource)| it.source.is_some() && other.is_same_kind(key);
    let is_imported = project.resources().any(imports);
    let camel = key.kind.camel_case();
    if resource.api.is_some() && !is_imported && camel != key.kind {
        let kind = &key.kind;
        let broken = violation!(key => "the kind `{kind}` starts with a lower-case letter",
            "kinds are CamelCase (Kubernetes API conventions); only an imported CRD may have another one");
        return Some(broken.set("kind", camel));
    }
    // A kind with a chart, a role or a playbook may be one that another operator had.
    if domain != ours && !is_imported && resource.recipe().is_none() {
        let broken = violation!(key => "`{key}` has domain `{domain}`, the project has `{ours}`",
            "the APIs of a project share its domain");
        return Some(broken.in_file(format!("domain: {ours}")));
    }
    let to_be = match resource.has_controllers() {
        true => Purpose::Controller,
        false => Purpose::Webhook,
    };
    let is_used = resource.has_controllers() || resource.webhooks.is_some();
    (resource.api.is_none() && is_used).then(|| unknown_kind(project, key, to_be))
}

/// The violation by a finalizer for a type that the project does not define.
pub fn foreign_finalizer(key: &Key) -> Violation {
    let kind = &key.kind;
    violation!(key => "`{key}` is not defined by this project, and its controller gets no finalizer",
        "it would be put on every {kind} of the cluster, and without the operator none of them could be deleted",
        "write one by hand for the objects that the operator works on: `finalizer::ensure` in `reconcile`")
        .by_command(Remedy::Drop(vec!["finalizers"]))
        .in_file("remove `finalizers`")
}

/// Whether objects of an entry live in namespaces; Kubernetes determines that for its own types.
pub fn is_namespaced(key: &Key, resource: &Resource) -> bool {
    match &resource.api {
        Some(api) => api.namespaced,
        None => key.core_type().is_none_or(|core| core.namespaced),
    }
}

/// Whether the second kind may have been meant by the first: the same kind in another group, or a kind of the same group
/// whose name is a typing error away.
pub fn may_be_meant(
    (group, kind): (&Group, &Kind),
    (other_group, other_kind): (&Group, &Kind),
) -> bool {
    match group == other_group {
        true => is_near(kind.as_str(), other_kind.as_str()),
        false => kind == other_kind,
    }
}

/// The violation by a controller or a webhook for a kind that neither the project nor Kubernetes defines. It names the type
/// that was probably meant.
pub fn unknown_kind(project: &Project, key: &Key, to_be: Purpose) -> Violation {
    let broken = violation!(key => "`{key}` is defined neither by this project nor by Kubernetes");
    let broken = broken.note(match to_be {
        Purpose::Controller => {
            "a controller watches a Rust type: of this project, of Kubernetes or of another crate"
        }
        Purpose::Webhook => {
            "a webhook takes a Rust type: of this project, of Kubernetes or of another crate"
        }
    });
    if let Some((Key { version, .. }, _)) = project.apis_of(&key.group, &key.kind).next() {
        let broken = broken.note(format!("this project defines it in version {version}"));
        return broken.set("version", version);
    }
    if let Some((other, is_only)) = meant(project, key) {
        let broken = broken.note(format!("this project has `{other}`"));
        let broken = broken.in_file(format!("group: {}, kind: {}", other.group, other.kind));
        return broken.by_command(match is_only {
            true => Remedy::entry(&other.group, other.version, &other.kind),
            false => Remedy::Inspect,
        });
    }
    let broken = broken.note(known_types(key));
    let Some(core) = kubernetes::nearest(key.group.as_str(), &key.kind) else {
        let (key, controller) = (key.clone(), true);
        let broken = broken.by_command(Remedy::Define { key, controller });
        return broken.in_file("api: {crdVersion: v1, namespaced: true}");
    };
    let (group, version, kind) = (core.group, core.version, core.kind);
    let broken = broken.in_file(format!("core: true, group: {group}, kind: {kind}"));
    broken.by_command(match to_be {
        Purpose::Controller => Remedy::set([
            ("group", group),
            ("version", version),
            ("kind", kind),
            ("api", "false"),
        ]),
        Purpose::Webhook => Remedy::entry(group, version, kind),
    })
}

/// An entry of a kind or group with a similar name, and whether it is the only one.
fn meant<'a>(project: &'a Project, key: &Key) -> Option<(&'a Key, bool)> {
    let wanted = (&key.group, &key.kind);
    let others = project.resources().map(|(other, _)| other);
    let is_meant =
        |other: &&Key| *other != key && may_be_meant(wanted, (&other.group, &other.kind));
    let mut found: Vec<_> = others.filter(is_meant).collect();
    if found.iter().any(|other| other.version == key.version) {
        found.retain(|other| other.version == key.version);
    }
    Some((*found.first()?, found.len() == 1))
}

/// The types that Kubernetes has in a group, or its groups.
fn known_types(key: &Key) -> String {
    let Some(group) = kubernetes::group(key.group.as_str()) else {
        return "Kubernetes' own groups are `core`, `apps`, `batch`, `networking` and so on"
            .to_owned();
    };
    let types = kubernetes::all().filter(|it| it.group == group);
    let types = types.map(|it| format!("{}/{}", it.version, it.kind));
    let types = types.collect::<Vec<_>>().join(", ");
    format!("Kubernetes has in `{}`: {types}", key.group)
}
