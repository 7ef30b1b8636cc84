//! `delete webhook`: the inverse of `create webhook`.

use super::{
    delete::{Deletion, delete},
    type_of::TypeOf,
};
use crate::{
    cli::{self, Global},
    error::Result,
    name::{Invalid, Version},
    project::{DeleteWebhook, Project},
    report::Report,
};

pub fn run(flags: &Global, webhook: &cli::DeleteWebhook, report: &Report) -> Result<u8> {
    let deletion = Deletion {
        command: "delete webhook",
        of: &webhook.of,
        keep_files: webhook.keep_files,
    };
    delete(flags, &deletion, report, |before, of| {
        let request = request(of, webhook)?;
        let project = before.delete_webhook(&request)?;
        let remark = unconverted(&project, &request);
        Ok((project, remark))
    })
}

fn request(of: TypeOf, webhook: &cli::DeleteWebhook) -> Result<DeleteWebhook> {
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

/// What becomes of the versions of a kind that are no longer converted.
fn unconverted(after: &Project, request: &DeleteWebhook) -> Option<String> {
    let kinds = after.kinds();
    let kind = kinds.iter().find(|kind| {
        let key = kind.apis[0].key;
        request.conversion && (&key.group, &key.kind) == (&request.group, &request.kind)
    })?;
    Some(match kind.spokes.is_empty() {
        true => format!(
            "no version of {} is converted any more: the API server only changes `apiVersion`, and drops what a version does not have",
            request.kind
        ),
        false => format!(
            "{} is still converted in other versions: one without conversion can be neither read nor written until `delete api` removes it",
            request.kind
        ),
    })
}
