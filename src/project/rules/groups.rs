//! Rules of API groups.

use super::{Defined, Entry, clash, path_of};
use crate::name::rust::{Module, is_device};
use crate::project::violation::{Remedy, Violation, violation};
use crate::project::{Key, Resource};

/// An object's name may have 253 characters, a file's 255 bytes; `.yaml` takes five of them.
const CRD_MAX: usize = 250;

/// The longest group and kind in a file's name of 255 bytes, beside a version and words like `_editor_role.yaml`.
const FILE_MAX: usize = 200;

/// The API server's rules for the group of a CRD, and the limits of file systems.
pub fn of_api(key: &Key, resource: &Resource) -> Option<Violation> {
    resource.api.as_ref()?;
    let (kind, group, domain) = (&key.kind, key.api_group(false), key.domain.as_str());
    if group.is_empty() {
        let broken =
            violation!(key => "`{kind}` has no API group: group and domain are both empty",
            "the group may be empty when the domain is not")
            .set("group", "cache.example.com");
        return Some(broken);
    }
    if !group.contains('.') {
        let broken = violation!(key => "the API group `{group}` has no dot",
            "the API server takes a CRD only in a group that is a domain with at least one dot");
        let broken = match domain.is_empty() {
            true => broken
                .note("the project has no domain, so the group must bring one")
                .set("group", format!("{group}.example.com")),
            false => broken
                .note("the group is empty, and the project's domain is one word")
                .set("group", format!("{}.{domain}", kind.singular())),
        };
        return Some(broken.in_file(format!("group: {group}.example.com")));
    }
    let is_in = |suffix: &&str| group == *suffix || group.ends_with(&format!(".{suffix}"));
    let reserved = ["k8s.io", "kubernetes.io"].into_iter().find(is_in);
    if let Some(suffix) = reserved.filter(|_| !resource.is_approved()) {
        let broken = violation!(key => "the API group `{group}` is reserved for Kubernetes",
            "the API server refuses CRDs in `{suffix}` that the community has not approved",
            "a controller can watch Kubernetes' own types without defining them");
        let broken = broken.in_file("core: true");
        return Some(match resource.source {
            Some(_) => broken
                .note("the annotation `api-approved.kubernetes.io` of the CRD would say so")
                .by_command(Remedy::set([("external", true)])),
            None => broken.by_command(Remedy::set([("api", false)])),
        });
    }
    // `make manifests` writes `<group>_<plural>.yaml`, of which Windows reads what is before the first dot.
    if let Some(first) = group.split('.').next().filter(|first| is_device(first)) {
        let broken = violation!(key => "the API group `{group}` begins with a device of Windows",
            "its CRDs would be `config/crd/bases/{group}_….yaml`, and no file there can be called `{first}`");
        return Some(broken.set("group", format!("{first}-group")));
    }
    let crd = format!("{}.{group}", resource.plural);
    let length = crd.len();
    if length > CRD_MAX {
        let broken = violation!(key => "the name of the CRD, `{crd}`, has {length} characters",
            "it is `<plural>.<group>`; {CRD_MAX} characters are allowed, because it names a file, too")
            .set("plural", kind.singular().chars().take(8).collect::<String>());
        return Some(broken.in_file("shorten `plural`, `group` or `domain`"));
    }
    let length =
        Module::of_group(&key.group, &key.domain).file().len() + Module::of_kind(kind).file().len();
    if length > FILE_MAX {
        let broken = violation!(key => "group and kind of `{key}` have {length} characters together",
            "they name files such as `<group>_<version>_<kind>.yaml`; {FILE_MAX} characters are allowed");
        return Some(broken.in_file("shorten `group` or `kind`"));
    }
    None
}

const ONE_OF_TWO: &str = "remove one of the two";

/// The violation by a type in the API group `group` that has the name of another one.
pub fn two_types(key: &Key, other: &Key, group: &str) -> Violation {
    let theirs = other.api_group(false);
    violation!(key => "`{key}` would mean two types",
        "one is in the API group `{theirs}`, the other in `{group}`",
        "another kind or another group is another type")
    .beside(other)
    .by_command(Remedy::Inspect)
    .in_file(ONE_OF_TWO)
}

/// A group, version and kind on the command line means one entry, whatever domains there are.
pub fn meanings(entries: &[Entry<'_>]) -> Option<Violation> {
    // Kubernetes' types are found by the full names of their groups, too.
    let group = |key: &Key| {
        let core = key.core_type();
        core.map_or(key.group.to_string(), |core| core.group.to_owned())
    };
    let meaning = |(key, _): &Entry<'_>| (group(key), key.version, key.kind.clone());
    let ((other, _), (key, resource), _) = clash(entries, meaning, |it| it.0)?;
    let broken = two_types(key, other, &key.api_group(resource.core));
    Some(match resource.api {
        Some(_) => broken.set("api", false).in_file(ONE_OF_TWO),
        None => broken,
    })
}

/// Two groups need two Rust modules, or they would share a directory.
pub fn modules(typed: &[Entry<'_>]) -> Option<Violation> {
    let module = |(key, _): &Entry<'_>| {
        let module = Module::of_group(&key.group, &key.domain);
        module.file().to_owned()
    };
    let ((first, _), (key, _), module) =
        clash(typed, module, |(key, _)| (&key.group, &key.domain))?;
    let is_same = key.group == first.group;
    let name = |key: &Key| match key.group.as_str() {
        _ if is_same => format!("`{}`", key.api_group(false)),
        "" => format!("`{}` (the empty group)", key.domain),
        group => format!("`{group}`"),
    };
    let groups = format!("the groups {} and {}", name(first), name(key));
    let broken = violation!(key => "{groups} would both be the Rust module `{module}`",
        "a group's types are in `src/api/<module>`: the names have to differ in letters or digits");
    let broken = match is_same {
        true => broken
            .note("the group may be the whole name, which is another module")
            .set("group", key.api_group(false)),
        false => broken.set("group", &first.group),
    };
    Some(broken.beside(first))
}

/// A sample is called `<group>_<version>_<kind>.yaml`, and two of them must not be one file: group `a-v1-ba` with kind `Ca` and
/// group `a` with kind `BaV1Ca` would be, in version `v1`.
pub fn samples(apis: &[Defined<'_>]) -> Option<Violation> {
    let path = |it: &Defined<'_>| format!("config/samples/{}.yaml", path_of(it.key, '_'));
    let (first, it, file) = clash(apis, path, |it| it.key)?;
    let (other, key) = (first.key, it.key);
    let broken = violation!(key => "`{other}` and `{key}` would both be `{file}`",
        "group, version and kind name the sample together: they have to differ there, too");
    Some(broken.another_kind().beside(other))
}
