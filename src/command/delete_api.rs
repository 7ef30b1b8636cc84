//! `delete api`: the inverse of `create api`.

use super::{
    delete::{Deletion, delete},
    type_of::TypeOf,
};
use crate::{
    cli::{self, Global},
    error::Result,
    name::ControllerName,
    project::{DeleteApi, Key, Project},
    report::Report,
};

const EXAMPLE: &str = "operator-forge delete api --group cache --version v1alpha1 --kind Memcached";

pub fn run(flags: &Global, api: &cli::DeleteApi, report: &Report) -> Result<u8> {
    let deletion = Deletion {
        command: "delete api",
        of: &api.of,
        example: EXAMPLE,
        keep_files: api.keep_files,
    };
    delete(flags, &deletion, report, |before, of| {
        let project = before.delete_api(&request(of, api)?)?;
        let remark = uncontrolled(before, &project);
        Ok((project, remark))
    })
}

fn request(of: TypeOf, api: &cli::DeleteApi) -> Result<DeleteApi> {
    let name = api.controller_name.as_deref();
    Ok(DeleteApi {
        group: of.group,
        version: of.version,
        kind: of.kind,
        resource: api.resource,
        controller: api.controller,
        controller_name: name.map(ControllerName::parse).transpose()?,
    })
}

/// A kind that is still defined, but has lost its last controller with a version.
fn uncontrolled(before: &Project, after: &Project) -> Option<String> {
    let watched = |project: &Project, key: &Key| {
        let controllers = project.controllers();
        let mut watched = controllers.iter().map(|controller| controller.key);
        watched.any(|other| (&other.group, &other.kind) == (&key.group, &key.kind))
    };
    let kinds = after.kinds();
    let lost = kinds.iter().find(|kind| {
        let key = kind.apis[0].key;
        watched(before, key) && !watched(after, key)
    })?;
    let key = lost.apis.iter().find(|api| api.storage)?.key;
    Some(format!(
        "no controller watches {} any more; `operator-forge create api {} --resource=false` makes one for {}",
        key.kind,
        key.flags(),
        key.version
    ))
}
