//! Controllers that name the type of a spoke, in a file that was generated or written before another version became the hub.

use crate::{
    name::rust::{self, Module},
    project::{Key, KindView, Project},
    report::{Drift, DriftKind},
    syntax,
    tree::RelPath,
};

/// The paths in the source of a controller that name a spoke of the project. None if the controller uses spokes on purpose; a file
/// that does not parse is left to the compiler.
pub fn of_controller(path: &RelPath, source: &str, project: &Project) -> Vec<Drift> {
    let mut kinds = project.kinds();
    kinds.retain(|kind| kind.apis.len() > 1);
    let is_meant = |path: &syntax::Path| path.iter().any(|(name, _)| name == "uses_spokes");
    let paths = match kinds.is_empty() {
        true => return Vec::new(),
        false => syntax::paths(source).unwrap_or_default(),
    };
    if paths.iter().any(is_meant) {
        return Vec::new();
    }
    let mut drifts: Vec<Drift> = Vec::new();
    for named in paths.iter().flat_map(|path| spokes_in(path, &kinds)) {
        let drift = Drift {
            path: path.clone(),
            line: named.0,
            what: named.1,
        };
        if !drifts.contains(&drift) {
            drifts.push(drift);
        }
    }
    drifts
}

/// The spokes that a path names, each with its line.
fn spokes_in(path: &syntax::Path, kinds: &[KindView<'_>]) -> Vec<(usize, DriftKind)> {
    let spokes = kinds.iter().flat_map(|kind| {
        let spokes = kind.apis.iter().filter(|api| !api.storage);
        spokes.map(|api| (api.key, kind.storage.to_string()))
    });
    let named = spokes.filter_map(|(spoke, hub)| {
        let (line, found, paste) = named(path, spoke)?;
        let version = spoke.version.to_string();
        let what = DriftKind::Spoke {
            version,
            hub,
            found,
            paste,
        };
        Some((line, what))
    });
    named.collect()
}

/// The line at which a path names a version of a kind, the path up to there, and the one of the hub.
fn named(path: &syntax::Path, spoke: &Key) -> Option<(usize, String, String)> {
    let group = Module::of_group(&spoke.group, &spoke.domain);
    let version = spoke.version.to_string();
    let module = Module::of_kind(&spoke.kind);
    let type_name = rust::type_name(&spoke.kind);
    let is = |at: usize, name: &str| path.get(at).is_some_and(|(found, _)| found == name);
    let at = (0..path.len()).find(|&at| {
        let is_of_group = at == 0 || is(at - 1, group.file());
        is_of_group && is(at, &version) && (is(at + 1, module.file()) || is(at + 1, &type_name))
    })?;
    let hub = spoke.hub_module();
    let (last, paste) = match is(at + 1, module.file()) {
        true => (module.ident, hub),
        false => (type_name.clone(), format!("{hub}::{type_name}")),
    };
    let found = format!("{}::{version}::{last}", group.ident);
    Some((path[at].1, found, paste))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of a source that name a spoke, and what to write there.
    #[track_caller]
    fn check(source: &str, expected: &[&str]) {
        let kind = |version, kind, rest| {
            format!(
                "- {{api: {{crdVersion: v1, namespaced: true}}, domain: example.com, group: cache, version: {version}, \
                 kind: {kind}{rest}}}\n"
            )
        };
        let text = format!(
            "domain: example.com\nlayout: [rust.operator-forge/v1]\nprojectName: demo\nversion: \"3\"\nplugins:\n  \
             rust.operator-forge/v1: {{templates: {}}}\nresources:\n{}{}{}",
            crate::template::SET,
            kind("v1alpha1", "Memcached", ", controller: true"),
            kind("v1", "Memcached", ""),
            kind("v1alpha1", "Other", ""),
        );
        let project = Project::read(text.as_bytes()).unwrap();
        let path = RelPath::constant("src/controllers/cache/memcached.rs");
        let found = of_controller(&path, source, &project).into_iter();
        let found = found.map(|drift| match drift.what {
            DriftKind::Spoke { found, paste, .. } => format!("{} {found} {paste}", drift.line),
            _ => String::new(),
        });
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_spoke_is_found_however_it_is_named() {
        let module = "cache::v1alpha1::memcached crate::api::cache::memcached";
        let of_type = "cache::v1alpha1::Memcached crate::api::cache::memcached::Memcached";
        check(
            "use std::sync::Arc;\n\nuse crate::api::cache::v1alpha1::memcached::{Memcached, MemcachedStatus};",
            &[&format!("3 {module}")],
        );
        check(
            "use crate::{\n    Context,\n    api::cache::{\n        v1alpha1::Memcached,\n    },\n};",
            &[&format!("4 {of_type}")],
        );
        check(
            "use crate::api::cache::v1alpha1;\nfn f(_: v1alpha1::Memcached) {}",
            &[&format!("2 {of_type}")],
        );
    }

    #[test]
    fn other_types_are_no_spokes() {
        check("use crate::api::cache::memcached::Memcached;", &[]);
        check("use crate::api::cache::v1::memcached::Memcached;", &[]);
        check("use crate::api::cache::v1alpha1::other::Other;", &[]);
        check("use other::v1alpha1::memcached::Memcached;", &[]);
        let meant = "use crate::api::cache::v1alpha1::Memcached;\nfn f() { Controller::new(a, b).uses_spokes() }";
        check(meant, &[]);
        check("use crate::api::cache::v1alpha1::{", &[]);
    }
}
