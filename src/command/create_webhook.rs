//! `create webhook`: defaulting, validation or conversion of a kind.

use std::collections::BTreeSet;

use super::{external, type_of::type_of};
use crate::{
    advice::{NextStep, Script},
    cli::{Global, Webhook},
    engine::{Request, Workspace, reconcile, refuse_keep},
    error::Result,
    name::{Plural, Version, WebhookPath},
    project::{CreateWebhook, Project},
    prompt::Prompt,
    refusal,
    report::Report,
    template,
    tree::RelPath,
};

pub fn run(flags: &Global, webhook: &Webhook, report: &Report) -> Result<u8> {
    let remarks = webhook.foreign.answer()?;
    if webhook.force {
        refuse_keep(flags, "--force")?;
    }
    let (workspace, before) = Workspace::open(&flags.directory)?;
    let request = request(&before, webhook, Prompt::new(report, !flags.no_input))?;
    let target = request.target(&before)?;
    let project = before.create_webhook(&request)?;
    let files = template::files_of_webhook(&project, &request, &target)?;
    let mut next = external::next(&project, &target.key, request.external.as_ref());
    next.extend(todo(&files));
    let forced = if webhook.force {
        files
    } else {
        BTreeSet::new()
    };
    let request = Request {
        forced,
        remarks,
        next,
        ..Request::of("create webhook", project)
    };
    reconcile(&workspace, &request, flags, report)
}

fn request(project: &Project, webhook: &Webhook, prompt: Prompt<'_>) -> Result<CreateWebhook> {
    let of = type_of(project, &webhook.of, prompt, false)?;
    // Whoever named one of the three did not mean the others.
    let named = [webhook.defaulting, webhook.validation, webhook.conversion];
    let asks = named.iter().all(Option::is_none);
    let ask = |flag, question, given: Option<bool>| match asks {
        true => prompt.yes(flag, question, given, false),
        false => Ok(given.unwrap_or(false)),
    };
    Ok(CreateWebhook {
        group: of.group,
        version: of.version,
        kind: of.kind,
        plural: webhook.plural.as_deref().map(Plural::parse).transpose()?,
        defaulting: ask("--defaulting", "Fill in defaults?", webhook.defaulting)?,
        defaulting_path: path("--defaulting-path", webhook.defaulting_path.as_deref())?,
        validation: ask("--validation", "Validate?", webhook.validation)?,
        validation_path: path("--validation-path", webhook.validation_path.as_deref())?,
        conversion: ask("--conversion", "Convert versions?", webhook.conversion)?,
        spokes: webhook
            .spoke
            .iter()
            .map(|text| spoke(text))
            .collect::<Result<_>>()?,
        external: external::external(&webhook.external)?,
        certificates: webhook.certificates,
        force: webhook.force,
    })
}

fn path(flag: &'static str, given: Option<&str>) -> Result<Option<WebhookPath>> {
    let parse = |text| WebhookPath::parse(text).map_err(|invalid| refusal::of_flag(flag, invalid));
    given.map(parse).transpose()
}

fn spoke(text: &str) -> Result<Version> {
    let flag = "--spoke";
    Version::parse(text).map_err(|invalid| refusal::of_flag(flag, invalid))
}

fn todo(files: &BTreeSet<RelPath>) -> Vec<NextStep> {
    let mut next = Vec::new();
    for path in files
        .iter()
        .filter(|path| path.as_str().starts_with("src/"))
    {
        let what = match path.as_str().rsplit('/').next() {
            Some("default.rs") => "what is filled in",
            Some("validate.rs") => "what is refused",
            _ => "how one version becomes the other",
        };
        next.push(NextStep::by_hand(format!("say {what}, in {path}")));
    }
    next.push(NextStep::new(
        "derive CRDs and webhook configurations, then test:",
        Script::of("make manifests && make test"),
    ));
    next
}
