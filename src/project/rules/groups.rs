//! Rules of API groups.

use std::collections::BTreeMap;

use super::{Check, STATUS, Violation, in_order};
use crate::name::kubernetes;
use crate::name::rust::{Module, is_device};
use crate::project::{Key, Project, Resource};

/// The API server's rules for the group of a CRD, and what a file system holds.
pub fn of_api(key: &Key, resource: &Resource) -> Check {
    if resource.api.is_none() {
        return Ok(());
    }
    let group = key.api_group(false);
    let at = Some(key);
    if group.is_empty() {
        return Err(Violation::new(
            at,
            format!(
                "`{}` has no API group: group and domain are both empty",
                key.kind
            ),
        )
        .note("the group may be empty when the domain is not")
        .flag("--group cache.example.com")
        .field("group: cache.example.com"));
    }
    if !group.contains('.') {
        return Err(Violation::new(at, format!("the API group `{group}` has no dot"))
            .note("the API server takes a CRD only in a group that is a domain with at least one dot")
            .note(match key.domain.as_str() {
                "" => "the project has no domain, so the group must bring one",
                _ => "the group is empty, and the project's domain is one word",
            })
            .flag(match key.domain.as_str() {
                "" => format!("--group {group}.example.com"),
                domain => format!("--group {}.{domain}", key.kind.singular()),
            })
            .field(format!("group: {group}.example.com")));
    }
    if let Some(suffix) = ["k8s.io", "kubernetes.io"]
        .into_iter()
        .find(|s| group == *s || group.ends_with(&format!(".{s}")))
    {
        return Err(Violation::new(
            at,
            format!("the API group `{group}` is reserved for Kubernetes"),
        )
        .note(format!(
            "the API server refuses CRDs in `{suffix}` that the community has not approved"
        ))
        .note("for a controller of one of Kubernetes' own types, say `--resource=false`")
        .flag("--resource=false")
        .field("core: true"));
    }
    // `make manifests` writes `<group>_<plural>.yaml`, of which Windows reads what is before the first dot.
    if let Some(first) = group.split('.').next().filter(|first| is_device(first)) {
        return Err(Violation::new(at, format!("the API group `{group}` begins with a device of Windows"))
            .note(format!("its CRDs would be `config/crd/bases/{group}_….yaml`, and no file there can be called `{first}`"))
            .flag(format!("--group {first}-group"))
            .field(format!("group: {first}-group")));
    }
    let crd = format!("{}.{group}", resource.plural);
    if crd.len() > CRD_MAX {
        return Err(Violation::new(at, format!("the name of the CRD, `{crd}`, has {} characters", crd.len()))
            .note(format!("it is `<plural>.<group>`; {CRD_MAX} characters are allowed, because it names a file, too"))
            .flag(format!("--plural {}", key.kind.singular().chars().take(8).collect::<String>()))
            .field("shorten `plural`, `group` or `domain`"));
    }
    let file = Module::of_group(&key.group, &key.domain).file().len()
        + Module::of_kind(&key.kind).file().len();
    if file > FILE_MAX {
        return Err(Violation::new(at, format!("group and kind of `{key}` have {file} characters together"))
            .note(format!("they name files such as `<group>_<version>_<kind>.yaml`; {FILE_MAX} characters are allowed"))
            .flag("--group with a shorter name, or --kind")
            .field("shorten `group` or `kind`"));
    }
    Ok(())
}

/// An object's name may have 253 characters, a file's 255 bytes; `.yaml` takes five of them.
const CRD_MAX: usize = 250;

/// What a file's name of 255 bytes leaves when a version and words such as `_editor_role.yaml` are in it.
const FILE_MAX: usize = 200;

/// A group, version and kind on the command line means one entry, whatever domains there are.
pub fn meanings(project: &Project, last: Option<&Key>) -> Check {
    let mut seen: BTreeMap<_, &Key> = BTreeMap::new();
    for (key, resource) in in_order(project.resources(), |(key, _)| key, last) {
        // Kubernetes' types are found by the full names of their groups, too.
        let core = kubernetes::find(key.group.as_str(), key.version, &key.kind);
        let group = core.map_or(key.group.as_str(), |core| core.group);
        if let Some(other) = seen.insert((group, key.version, &key.kind), key) {
            return Err(
                Violation::new(Some(key), format!("`{key}` would mean two types"))
                    .note(format!(
                        "one is in the API group `{}`, the other in `{}`",
                        other.api_group(false),
                        key.api_group(resource.core)
                    ))
                    .note("another kind or another group is another type")
                    .flag(match resource.api {
                        Some(_) => "--resource=false",
                        None => STATUS,
                    })
                    .field("remove one of the two"),
            );
        }
    }
    Ok(())
}

/// Two groups must not meet in one Rust module, where they would share a directory.
pub fn modules(project: &Project, last: Option<&Key>) -> Check {
    let mut modules = BTreeMap::new();
    let apis = project
        .resources()
        .filter(|(_, resource)| resource.api.is_some());
    for (key, _) in in_order(apis, |(key, _)| key, last) {
        let module = Module::of_group(&key.group, &key.domain).file().to_owned();
        let first: &Key = modules.entry(module.clone()).or_insert(key);
        if first.group != key.group {
            let name = |key: &Key| match key.group.as_str() {
                "" => format!("`{}` (the empty group)", key.domain),
                group => format!("`{group}`"),
            };
            return Err(Violation::new(
                Some(key),
                format!("the groups {} and {} would both be the Rust module `{module}`", name(first), name(key)),
            )
            .note("a group's types are in `src/api/<module>`: the names have to differ in letters or digits")
            .flag(match first.group.as_str() {
                "" => "--group ''".to_owned(),
                group => format!("--group {group}"),
            })
            .field(format!("group: {}", first.group)));
        }
    }
    Ok(())
}

/// A sample is called `<group>_<version>_<kind>.yaml`, and two of them must not be one file: group `a-v1-ba` with kind `Ca` and
/// group `a` with kind `BaV1Ca` would be, in version `v1`.
pub fn files(project: &Project, last: Option<&Key>) -> Check {
    let mut seen: BTreeMap<String, &Key> = BTreeMap::new();
    for (key, resource) in in_order(project.resources(), |(key, _)| key, last) {
        if resource.api.is_none() {
            continue;
        }
        let group = Module::of_group(&key.group, &key.domain);
        let kind = Module::of_kind(&key.kind);
        let (group, version, kind) = (group.file(), key.version, kind.file());
        let file = format!("config/samples/{group}_{version}_{kind}.yaml");
        let first = *seen.entry(file.clone()).or_insert(key);
        if (&first.group, &first.kind) != (&key.group, &key.kind) {
            return Err(Violation::new(
                Some(key),
                format!("`{first}` and `{key}` would both be `{file}`"),
            )
            .note(
                "group, version and kind name the sample together: they have to differ there, too",
            )
            .flag(STATUS)
            .field("rename one of the kinds"));
        }
    }
    Ok(())
}
