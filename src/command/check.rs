//! `check`: changes nothing, and fails unless `sync` would find nothing to do. With `--crds` it compares CRDs instead.

use rayon::prelude::*;

use super::{
    Survey, Workspace,
    attributes::{self, Expected},
};
use crate::{
    change::ChangeSet,
    cli::{Check, Global},
    error::{Failure, Result},
    project::{ApiView, Project},
    report::{Outcome, Report},
    tree::{Found, RelPath, unix_line_ends},
};

mod crds;

pub fn run(flags: &Global, check: &Check, report: &Report) -> Result<u8> {
    match &check.crds {
        None if !check.allow.is_empty() => Err(Failure::usage("`--allow` without `--crds`")
            .note("it accepts what a change of the CRDs breaks")
            .help("operator-forge check --crds RELEASED --allow RULE")),
        Some(released) => crds::run(flags, released, &check.allow, report),
        None => files(flags, report),
    }
}

fn files(flags: &Global, report: &Report) -> Result<u8> {
    let (workspace, project) = Workspace::open(&flags.directory)?;
    let survey = Survey::of(&workspace, &project)?;
    let set = survey.drift(&project)?;
    let drifts = drifts(&project, &survey)?;
    let failure = failure(&set, &drifts);
    report.check(
        &Outcome {
            command: "check",
            set: &set,
            remarks: &[],
            next: &[],
        },
        failure.as_ref(),
    );
    Ok(u8::from(failure.is_some()))
}

/// Where the attributes of types are not what `PROJECT` says: what is wrong, and what makes it right.
fn drifts(project: &Project, survey: &Survey) -> Result<Vec<(String, String)>> {
    let apis = project.apis();
    let of_each: Vec<_> = apis.par_iter().map(|api| drifts_of(api, survey)).collect();
    let of_each: Result<Vec<_>> = of_each.into_iter().collect();
    Ok(of_each?.concat())
}

/// Those of one type.
fn drifts_of(api: &ApiView<'_>, survey: &Survey) -> Result<Vec<(String, String)>> {
    let path = RelPath::parse(&Expected::path(api))?;
    let Some(Found::File(bytes)) = survey.found.get(&path) else {
        return Ok(Vec::new());
    };
    let generated = survey.desired.get(&path);
    if generated.is_some_and(|file| *file.content == **bytes) {
        // It was rendered from `PROJECT`.
        return Ok(Vec::new());
    }
    let source = unix_line_ends(bytes);
    let expected = Expected::of(api);
    let found = match attributes::compare(&String::from_utf8_lossy(&source), &expected) {
        Ok(found) => found,
        Err((line, column, why)) => {
            let note = format!(
                "`{path}:{line}:{column}` does not parse, so it was not compared with `PROJECT`: {why}"
            );
            return Ok(vec![(note, "cargo check".to_owned())]);
        }
    };
    let told = found.into_iter().map(|drift| {
        let at = format!("{path}:{}", drift.line);
        let has = |text: &str| match text {
            "" => format!("no {}", drift.field),
            text => format!("{} `{text}`", drift.field),
        };
        let field = drift.field;
        let note = format!(
            "`{at}` has {}, `PROJECT` has {}",
            has(&drift.file),
            has(&drift.project)
        );
        let edit = match drift.paste.as_str() {
            "" if field == "scope" => "remove `namespaced`".to_owned(),
            "" => "remove `shortname`".to_owned(),
            paste => format!("write `{paste}`"),
        };
        let help = match field {
            "group" | "version" | "kind" => format!("in `{at}`, {edit}"),
            _ => format!("in `{at}`, {edit}; or make `PROJECT` agree with the file"),
        };
        (note, help)
    });
    Ok(told.collect())
}

/// Why the check fails, if it does.
fn failure(set: &ChangeSet, drifts: &[(String, String)]) -> Option<Failure> {
    let mut failure = Failure::refused("the files are not what `PROJECT` says");
    let (files, record) = (set.visible().count(), set.changes.len());
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
    if record + set.conflicts.len() > 0 {
        failure = failure.help("operator-forge sync");
    }
    for note in &set.notes {
        failure.help.extend(note.what.help(&note.path));
    }
    for (note, help) in drifts {
        failure = failure.note(note).help(help);
    }
    let settled = record + set.conflicts.len() + set.notes.len() + drifts.len() == 0;
    (!settled).then_some(failure)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::template;

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
        assert_eq!(project.apis().len(), entries.len());
        for api in project.apis() {
            let path = RelPath::parse(&Expected::path(&api)).unwrap();
            let source = String::from_utf8_lossy(&tree[&path].content);
            let drifts = attributes::compare(&source, &Expected::of(&api));
            assert_eq!(drifts, Ok(Vec::new()), "{source}");
        }
    }
}
