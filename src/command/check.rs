//! `check`: changes nothing, and fails unless `sync` would find nothing to do. With `--crds` it compares CRDs instead.

use rayon::prelude::*;

use super::{
    Request, Snapshot, Workspace,
    attributes::{self, Expected},
    lost,
};
use crate::{
    advice::Advice,
    change::{ChangeSet, Policy},
    cli::{Check, Global},
    error::{Failure, Result},
    project::{ApiView, Project},
    report::{Drift, Outcome, Report},
    template,
    tree::{File, Found, Owner, RelPath, unix_line_ends},
};

mod crds;

pub fn run(flags: &Global, check: &Check, report: &Report) -> Result<u8> {
    match &check.crds {
        None if !check.allow.is_empty() => Err(Failure::usage("`--allow` without `--crds`")
            .note("it accepts what a change of the CRDs breaks")
            .advise("operator-forge check --help")),
        Some(released) => crds::run(flags, released, &check.allow, report),
        None => files(flags, report),
    }
}

fn files(flags: &Global, report: &Report) -> Result<u8> {
    let (workspace, project) = Workspace::open(&flags.directory)?;
    report.at("Rendering", super::entries(&project));
    let mut snapshot = Snapshot::of(&workspace, &project)?;
    report.at("Comparing", format!("{} files", snapshot.found.len()));
    lost::settle(
        &workspace,
        &Request::of("check", project.clone()),
        &mut snapshot,
        Policy::Abort,
    )?;
    let (set, drifts) = rayon::join(|| snapshot.drift(&project), || drifts(&project, &snapshot));
    let (set, drifts) = (set?, drifts?);
    let failure = failure(&set, &drifts);
    let remarks: Vec<String> = snapshot.lacking(&set).into_iter().collect();
    report.check(
        &Outcome {
            command: "check",
            set: &set,
            remarks: &remarks,
            next: &[],
        },
        &drifts,
        failure.as_ref(),
    );
    Ok(u8::from(failure.is_some()))
}

/// Where the attributes of types are not what `PROJECT` says.
pub fn drifts(project: &Project, snapshot: &Snapshot) -> Result<Vec<Drift>> {
    let is_edited = |(path, file): (_, &File)| match snapshot.found.get(path) {
        Some(Found::File(bytes)) => file.owner == Owner::User && **bytes != *file.content,
        _ => false,
    };
    // What holds what was rendered from `PROJECT` says what that says.
    if !snapshot.desired.iter().any(is_edited) {
        return Ok(Vec::new());
    }
    let types = template::all_types(project)?;
    let drifts = types.par_iter();
    Ok(drifts
        .flat_map_iter(|(path, api)| drifts_of(path, api, snapshot))
        .collect())
}

/// Those of one type.
fn drifts_of(path: &RelPath, api: &ApiView<'_>, snapshot: &Snapshot) -> Vec<Drift> {
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

/// Why the check fails, if it does.
fn failure(set: &ChangeSet, drifts: &[Drift]) -> Option<Failure> {
    let mut failure = Failure::refused("the files are not what `PROJECT` says");
    let (files, record) = (set.shown().len(), set.all().count());
    match files {
        0 if record == 0 => {}
        0 => {
            failure =
                failure.note("`.operator-forge/` is not as the last command would have left it")
        }
        1 => failure = failure.note("1 file would change"),
        n => failure = failure.note(format!("{n} files would change")),
    }
    if set.notes.len() + set.conflicts.len() > 0 {
        failure = failure.note("the warnings above need a decision");
    }
    let room = set.makes_room();
    if room.is_empty() && record + set.conflicts.len() > 0 {
        failure = failure.advise("operator-forge sync");
    }
    failure.advice.extend(room.into_iter().map(Advice::from));
    for note in &set.notes {
        failure.advice.extend(note.help());
    }
    for drift in drifts {
        failure = failure.note(drift.note());
        let help = Advice::from(drift.help());
        if !failure.advice.contains(&help) {
            failure = failure.advise(help);
        }
    }
    let settled = record + set.conflicts.len() + set.notes.len() + drifts.len() == 0;
    (!settled).then_some(failure)
}

#[cfg(test)]
mod tests {
    use super::*;

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
