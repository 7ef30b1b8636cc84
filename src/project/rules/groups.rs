//! Rules of API groups.

use std::collections::BTreeMap;

use super::{Check, in_order};
use crate::name::kubernetes;
use crate::name::rust::{Module, is_device};
use crate::project::error::Rule;
use crate::project::{Key, Project, Resource};

/// The API server's rules for the group of a CRD, and the limits of file systems.
pub fn of_api(key: &Key, resource: &Resource) -> Check {
    if resource.api.is_none() {
        return Ok(());
    }
    let group = key.api_group(false);
    if group.is_empty() {
        return Err(Rule::NoGroup.at(key));
    }
    if !group.contains('.') {
        return Err(Rule::NoDot.at(key));
    }
    let is_in = |suffix: &&str| group == *suffix || group.ends_with(&format!(".{suffix}"));
    if let Some(suffix) = ["k8s.io", "kubernetes.io"].into_iter().find(is_in) {
        return Err(Rule::Reserved(suffix).at(key));
    }
    // `make manifests` writes `<group>_<plural>.yaml`, of which Windows reads what is before the first dot.
    if let Some(first) = group.split('.').next().filter(|first| is_device(first)) {
        return Err(Rule::Device(first.to_owned()).at(key));
    }
    let crd = format!("{}.{group}", resource.plural);
    if crd.len() > CRD_MAX {
        return Err(Rule::LongCrd(crd).at(key));
    }
    let file = Module::of_group(&key.group, &key.domain).file().len()
        + Module::of_kind(&key.kind).file().len();
    match file > FILE_MAX {
        true => Err(Rule::LongFile(file).at(key)),
        false => Ok(()),
    }
}

/// An object's name may have 253 characters, a file's 255 bytes; `.yaml` takes five of them.
pub const CRD_MAX: usize = 250;

/// What a file's name of 255 bytes leaves beside a version and words such as `_editor_role.yaml`.
pub const FILE_MAX: usize = 200;

/// A group, version and kind on the command line means one entry, whatever domains there are.
pub fn meanings(project: &Project, last: Option<&Key>) -> Check {
    let mut seen: BTreeMap<_, &Key> = BTreeMap::new();
    for (key, resource) in in_order(project.resources(), |(key, _)| key, last) {
        // Kubernetes' types are found by the full names of their groups, too.
        let core = kubernetes::find(key.group.as_str(), key.version, &key.kind);
        let group = core.map_or(key.group.as_str(), |core| core.group);
        if let Some(other) = seen.insert((group, key.version, &key.kind), key) {
            let (core, defined) = (resource.core, resource.api.is_some());
            return Err(Rule::TwoTypes { core, defined }.at(key).beside(other));
        }
    }
    Ok(())
}

/// Two groups need two Rust modules, or they would share a directory.
pub fn modules(project: &Project, last: Option<&Key>) -> Check {
    let mut modules = BTreeMap::new();
    for key in apis(project, last) {
        let module = Module::of_group(&key.group, &key.domain).file().to_owned();
        let first: &Key = modules.entry(module.clone()).or_insert(key);
        if first.group != key.group {
            return Err(Rule::SameModule(module).at(key).beside(first));
        }
    }
    Ok(())
}

/// A sample is called `<group>_<version>_<kind>.yaml`, and two of them must not be one file: group `a-v1-ba` with kind `Ca` and
/// group `a` with kind `BaV1Ca` would be, in version `v1`.
pub fn files(project: &Project, last: Option<&Key>) -> Check {
    let mut seen: BTreeMap<String, &Key> = BTreeMap::new();
    for key in apis(project, last) {
        let group = Module::of_group(&key.group, &key.domain);
        let kind = Module::of_kind(&key.kind);
        let (group, version, kind) = (group.file(), key.version, kind.file());
        let file = format!("config/samples/{group}_{version}_{kind}.yaml");
        let first = *seen.entry(file.clone()).or_insert(key);
        if (&first.group, &first.kind) != (&key.group, &key.kind) {
            return Err(Rule::SameFile(file).at(key).beside(first));
        }
    }
    Ok(())
}

fn apis<'a>(project: &'a Project, last: Option<&Key>) -> Vec<&'a Key> {
    let apis = project.resources().filter(|(_, it)| it.api.is_some());
    in_order(apis.map(|(key, _)| key), |key| key, last)
}
