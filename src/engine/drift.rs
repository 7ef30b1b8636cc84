//! Drift: types whose attributes contradict `PROJECT`.

use super::{
    attributes::{self, Expected},
    snapshot::Snapshot,
};
use crate::{
    error::Result,
    project::ApiView,
    report::Drift,
    template,
    tree::{File, Found, Owner, RelPath, unix_line_ends},
};

/// The types whose attributes contradict `PROJECT`.
pub fn drifts(snapshot: &Snapshot<'_>) -> Result<Vec<Drift>> {
    let is_edited = |(path, file): (_, &File)| match snapshot.found.get(path) {
        Some(Found::File(bytes)) => file.owner == Owner::User && **bytes != *file.content,
        _ => false,
    };
    // A file as it was rendered from `PROJECT` cannot contradict it.
    if !snapshot.desired.iter().any(is_edited) {
        return Ok(Vec::new());
    }
    let types = template::all_types(snapshot.project)?;
    let drifts = types.iter();
    Ok(drifts
        .flat_map(|(path, api)| drifts_of(path, api, snapshot))
        .collect())
}

/// The drift of one type.
fn drifts_of(path: &RelPath, api: &ApiView<'_>, snapshot: &Snapshot<'_>) -> Vec<Drift> {
    let Some(Found::File(bytes)) = snapshot.found.get(path) else {
        return Vec::new();
    };
    let generated = snapshot.desired.get(path);
    if generated.is_some_and(|file| *file.content == **bytes) {
        return Vec::new();
    }
    let source = unix_line_ends(bytes);
    let source = String::from_utf8_lossy(&source);
    attributes::compare(path, &source, &Expected::of(api))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::Project;

    #[test]
    fn what_is_rendered_from_a_project_says_what_it_says() {
        let entry = |group: &str, version: &str, kind: &str, rest: &str| {
            format!(
                "- {{domain: example.com, group: '{group}', version: {version}, kind: {kind}, {rest}}}\n"
            )
        };
        let namespaced = "api: {crdVersion: v1, namespaced: true}";
        let entries = [
            entry("cache", "v1", "Memcached", namespaced),
            entry("cache", "v1alpha1", "Memcached", namespaced),
            entry("cache", "v1", "Cluster", "api: {crdVersion: v1}"),
            entry(
                "crew",
                "v1",
                "Admiral",
                &format!("plural: admirales, {namespaced}"),
            ),
            entry("type", "v2beta3", "Option", namespaced),
            entry("", "v1", &"K".repeat(59), namespaced),
            entry(&"g".repeat(63), "v10", "HTTPRoute", namespaced),
        ];
        let text = format!(
            "domain: example.com\nlayout: [rust.operator-forge/v1]\nprojectName: demo\nversion: \"3\"\nplugins:\n  \
             rust.operator-forge/v1:\n    templates: {}\n    resources:\n    - {{domain: example.com, group: crew, \
             version: v1, kind: Admiral, options: {{shortNames: [ad, adm]}}}}\nresources:\n{}",
            template::SET,
            entries.concat()
        );
        let project = Project::read(text.as_bytes()).unwrap();
        let tree = template::tree(&project).unwrap();
        let types = template::all_types(&project).unwrap();
        assert_eq!(types.len(), entries.len());
        for (path, api) in types {
            let source = String::from_utf8_lossy(&tree[&path].content);
            let drifts = attributes::compare(&path, &source, &Expected::of(&api));
            assert_eq!(drifts, Vec::new(), "{source}");
        }
    }
}
