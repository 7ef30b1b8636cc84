//! `edit`: settings of the whole project.

use super::{Edit, Workspace, init, reconcile};
use crate::{
    cli::{self, Global},
    error::Result,
    project::{self, EditSettings, License, Owner, Project},
    report::Report,
};

pub fn run(flags: &Global, edit: &cli::Edit, report: &Report) -> Result<u8> {
    let (workspace, before) = Workspace::open(&flags.directory)?;
    if let Some(domain) = &edit.domain {
        return Err(project::domain_stays(&before, domain));
    }
    if let Some(name) = &edit.project_name {
        return Err(project::name_stays(&before, name));
    }
    let settings = EditSettings {
        namespaced: edit.namespaced,
        owner: edit.owner.as_deref().map(Owner::parse).transpose()?,
        license: edit.license.as_deref().map(License::parse).transpose()?,
        header: edit.license_file.as_deref().map(init::header).transpose()?,
        certificates: edit.certificates.map(Into::into),
    };
    let project = before.edit(&settings)?;
    let mut remarks = Vec::new();
    if project.settings.header_comment() != before.settings.header_comment() {
        remarks.push(
            "files of yours keep the comment that they begin with; new ones, and those that operator-forge keeps current, get this one"
                .to_owned(),
        );
    }
    let next = next(&before, &project);
    let edit = Edit {
        remarks,
        next,
        ..Edit::of("edit", project)
    };
    reconcile(&workspace, &edit, flags, report)
}

fn next(before: &Project, after: &Project) -> Vec<(String, Option<String>)> {
    let mut next = Vec::new();
    let certificates = |project: &Project| project.settings.certificates;
    if before.namespaced != after.namespaced || certificates(before) != certificates(after) {
        next.push((
            "derive RBAC and webhook configurations again:".to_owned(),
            Some("make manifests".to_owned()),
        ));
    }
    let name = &after.name;
    if before.namespaced != after.namespaced {
        next.push((
            match after.namespaced {
                true => "what the operator was allowed in the whole cluster stays in clusters until you take it away:",
                false => "what it was allowed in single namespaces stays in clusters until you take it away:",
            }
            .to_owned(),
            Some(match after.namespaced {
                true => format!("kubectl delete clusterrolebinding/{name}-manager-rolebinding clusterrole/{name}-manager-role"),
                false => format!("kubectl delete -n NAMESPACE rolebinding/{name}-manager-rolebinding role/{name}-manager-role"),
            }),
        ));
    }
    next
}
