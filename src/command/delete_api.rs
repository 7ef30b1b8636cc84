//! `delete api`: the inverse of `create api`.

use std::collections::BTreeSet;

use super::{
    delete::{Deletion, delete},
    type_of::{TypeOf, flags_of},
};
use crate::{
    advice::{NextStep, Script},
    cli::{self, Global},
    error::Result,
    name::{Group, Kind},
    project::{ControllerView, DeleteApi, Key, Project},
    report::Report,
};

pub fn run(flags: &Global, api: &cli::DeleteApi, report: &Report) -> Result<u8> {
    let deletion = Deletion {
        command: "delete api",
        of: &api.of,
        there,
        keep_files: api.keep_files,
    };
    delete(flags, &deletion, report, |before, of, _| {
        let project = before.delete_api(&request(of, api)?)?;
        let next = uncontrolled(before, &project);
        Ok((project, None, next))
    })
}

fn there(project: &Project) -> BTreeSet<&Key> {
    let apis = project.apis().into_iter().map(|api| api.key);
    apis.chain(project.controllers().into_iter().map(|it| it.key))
        .collect()
}

fn request(of: TypeOf, api: &cli::DeleteApi) -> Result<DeleteApi> {
    let name = api.controller_name.as_deref();
    Ok(DeleteApi {
        group: of.group,
        version: of.version,
        kind: of.kind,
        resource: api.resource,
        controller: api.controller,
        controller_name: name.map(str::parse).transpose()?,
    })
}

/// A kind that is still defined, but has lost its last controller with a version.
fn uncontrolled(before: &Project, after: &Project) -> Option<NextStep> {
    let (was, is) = (before.controllers(), after.controllers());
    let (was, is) = (watched(&was), watched(&is));
    let kinds = after.kinds();
    let lost = kinds.iter().find(|kind| {
        let kind = of_kind(kind.apis[0].key);
        was.contains(&kind) && !is.contains(&kind)
    })?;
    let key = lost.apis.iter().find(|api| api.storage)?.key;
    Some(NextStep::new(
        format!(
            "no controller watches {} any more; add one for {}:",
            key.kind, key.version
        ),
        Script::forge("create api")
            .flags(&flags_of(key))
            .code("--resource=false"),
    ))
}

fn watched<'a>(controllers: &[ControllerView<'a>]) -> BTreeSet<(&'a Group, &'a Kind)> {
    let keys = controllers.iter().map(|controller| controller.key);
    keys.map(of_kind).collect()
}

fn of_kind(key: &Key) -> (&Group, &Kind) {
    (&key.group, &key.kind)
}
