//! `delete webhook`: the inverse of `create webhook`.

use std::collections::BTreeSet;

use super::{
    delete::{Deletion, delete},
    type_of::TypeOf,
};
use crate::{
    advice::Advice,
    cli::{self, Global},
    error::Result,
    project::{DeleteWebhook, Key, Project},
    prompt::Prompt,
    refusal,
    report::Report,
};

pub fn run(flags: &Global, webhook: &cli::DeleteWebhook, report: &Report) -> Result<u8> {
    let deletion = Deletion {
        command: "delete webhook",
        of: &webhook.of,
        there,
        keep_files: webhook.keep_files,
    };
    delete(flags, &deletion, report, |before, of, prompt| {
        let mut request = request(of, webhook)?;
        if prompt.is_allowed() && !(request.defaulting || request.validation || request.conversion)
        {
            choose(before, &mut request, prompt)?;
        }
        let project = before.delete_webhook(&request)?;
        let remark = unconverted(&project, &request);
        Ok((project, remark, None))
    })
}

fn there(project: &Project) -> BTreeSet<&Key> {
    project.webhooks().iter().map(|it| it.key).collect()
}

fn request(of: TypeOf, webhook: &cli::DeleteWebhook) -> Result<DeleteWebhook> {
    let spoke = |text: &String| {
        let flag = "--spoke";
        text.parse()
            .map_err(|invalid| refusal::of_flag(flag, invalid))
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

/// Selects one of the webhooks that are there.
fn choose(before: &Project, request: &mut DeleteWebhook, prompt: Prompt<'_>) -> Result<()> {
    let views = before.webhooks();
    let of_it = |key: &Key| {
        (&key.group, &key.kind, key.version) == (&request.group, &request.kind, request.version)
    };
    let Some(webhooks) = views.iter().find(|it| of_it(it.key)).map(|it| it.webhooks) else {
        return Ok(());
    };
    let mut items = Vec::new();
    items.extend(
        webhooks
            .defaulting
            .is_some()
            .then(|| "defaulting".to_owned()),
    );
    items.extend(
        webhooks
            .validation
            .is_some()
            .then(|| "validation".to_owned()),
    );
    let spokes = webhooks.spokes.iter();
    items.extend(spokes.map(|spoke| format!("conversion of {spoke}")));
    let flags = ["--defaulting", "--validation", "--conversion"];
    let help = Advice::Help;
    let at = prompt.choose("Which webhook?", &flags, help, &items)?;
    match items[at].strip_prefix("conversion of ") {
        Some(version) => {
            request.conversion = true;
            request.spokes = vec![version.parse()?];
        }
        None => {
            request.defaulting = items[at] == "defaulting";
            request.validation = items[at] == "validation";
        }
    }
    Ok(())
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
