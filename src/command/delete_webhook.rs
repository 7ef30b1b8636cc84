//! `delete webhook`: the inverse of `create webhook`.

use super::{
    Edit, Workspace,
    delete::{kept_files, next},
    reconcile_named,
    type_of::type_of,
};
use crate::{
    cli::{self, Global},
    error::Result,
    name::{Invalid, Version},
    project::{DeleteWebhook, Project},
    prompt::Prompt,
    report::Report,
};

const EXAMPLE: &str =
    "operator-forge delete webhook --group cache --version v1alpha1 --kind Memcached --defaulting";

pub fn run(flags: &Global, webhook: &cli::DeleteWebhook, report: &Report) -> Result<u8> {
    let (workspace, before) = Workspace::open(&flags.directory)?;
    let request = request(&before, webhook, Prompt::new(!flags.no_input))?;
    let project = before.delete_webhook(&request)?;
    let (named, remarks) = kept_files(&workspace, &before, &project, webhook.keep_files)?;
    let next = next(&before, &project);
    let edit = Edit {
        command: "delete webhook",
        project,
        forced: Default::default(),
        remarks,
        next,
    };
    reconcile_named(&workspace, &edit, &named, flags, report)
}

fn request(
    project: &Project,
    webhook: &cli::DeleteWebhook,
    prompt: Prompt,
) -> Result<DeleteWebhook> {
    let of = type_of(project, &webhook.of, prompt, EXAMPLE)?;
    let spoke = |text: &String| {
        let flag = "--spoke";
        Version::parse(text).map_err(|invalid| Invalid { flag, ..invalid })
    };
    Ok(DeleteWebhook {
        group: of.group,
        version: of.version,
        kind: of.kind,
        defaulting: webhook.defaulting,
        validation: webhook.validation,
        conversion: webhook.conversion,
        spokes: webhook.spoke.iter().map(spoke).collect::<Result<_, _>>()?,
    })
}
