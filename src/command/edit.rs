//! `edit`: settings of the whole project.

use super::{init, runtime};
use crate::{
    advice::{NextStep, Script},
    cli::{self, Global},
    engine::{Request, Workspace, reconcile},
    error::Result,
    project::{self, CopyrightHolder, EditSettings, License, Project},
    report::Report,
};

pub fn run(flags: &Global, edit: &cli::Edit, report: &Report) -> Result<u8> {
    let (workspace, before) = Workspace::open(&flags.directory)?;
    if let Some(domain) = &edit.domain {
        return Err(project::domain_stays(&before, domain).into());
    }
    if let Some(name) = &edit.project_name {
        return Err(project::name_stays(&before, name).into());
    }
    let settings = EditSettings {
        namespaced: edit.namespaced,
        owner: edit
            .owner
            .as_deref()
            .map(CopyrightHolder::parse)
            .transpose()?,
        license: edit.license.as_deref().map(License::parse).transpose()?,
        header: init::header(flags, edit.license.as_deref(), edit.license_file.as_deref())?,
        certificates: edit.certificates,
        runtime: match &edit.runtime {
            Some(text) => Some(runtime::parse(&workspace.root, text)?),
            None => None,
        },
    };
    let mut remarks = edit.foreign.answer()?;
    let project = match settings == EditSettings::default() && !remarks.is_empty() {
        true => before.clone(),
        false => before.edit(&settings)?,
    };
    if project.settings.header_comment() != before.settings.header_comment() {
        remarks.push(
            "the comment at the top changes in the source files that operator-forge keeps current, and new files get it; files of yours keep the one that they have"
                .to_owned(),
        );
    }
    if project.settings.runtime != before.settings.runtime {
        remarks.extend(runtime::outer_workspace(&workspace.root, &project));
    }
    let next = next(&before, &project);
    let request = Request {
        remarks,
        next,
        ..Request::of("edit", project)
    };
    reconcile(&workspace, &request, flags, report)
}

fn next(before: &Project, after: &Project) -> Vec<NextStep> {
    let mut next = Vec::new();
    let certificates = |project: &Project| project.settings.certificates;
    if before.namespaced != after.namespaced || certificates(before) != certificates(after) {
        next.push(NextStep::new(
            "derive RBAC and webhook configurations again:",
            Script::of("make manifests"),
        ));
    }
    if after.resources().next().is_some()
        && let Some(find) = with_another_comment(before, after)
    {
        next.push(NextStep::new(
            "files of yours that keep another comment, should you want to change it:",
            find,
        ));
    }
    if before.settings.runtime != after.settings.runtime {
        next.push(NextStep::new(
            "lock the crate's new source, before a build with `--locked`:",
            Script::of("cargo fetch"),
        ));
    }
    let name = &after.name;
    if before.namespaced != after.namespaced {
        next.push(NextStep::new(match after.namespaced {
                true => "what the operator was allowed in the whole cluster stays in clusters until you take it away:",
                false => "what it was allowed in single namespaces stays in clusters until you take it away:",
            }, match after.namespaced {
                true => Script::anywhere("kubectl delete")
                    .arg(format!("clusterrolebinding/{name}-manager-rolebinding"))
                    .arg(format!("clusterrole/{name}-manager-role")),
                false => Script::anywhere("kubectl delete -n NAMESPACE")
                    .arg(format!("rolebinding/{name}-manager-rolebinding"))
                    .arg(format!("role/{name}-manager-role")),
            }));
    }
    next
}

/// The line that lists source files without the comment of `after`, or where it says less than that of `before`, those that say
/// more; `None` where both are the same.
fn with_another_comment(before: &Project, after: &Project) -> Option<Script> {
    let (old, new) = (
        before.settings.header_comment(),
        after.settings.header_comment(),
    );
    let only_in = |one: &str, other: &str| {
        let says = |line: &&str| line.contains(char::is_alphanumeric);
        let mut lines = one.lines().filter(says);
        let line = lines.find(|line| other.lines().all(|other| other != *line))?;
        Some(line.to_owned())
    };
    let (grep, line) = match only_in(&new, &old) {
        Some(line) => ("grep -rLF --include='*.rs'", line),
        None => ("grep -rlF --include='*.rs'", only_in(&old, &new)?),
    };
    Some(Script::of(grep).arg(line).code("src tests"))
}
