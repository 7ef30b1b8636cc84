//! `create webhook`: defaulting, validation or conversion of a kind.

use crate::{
    advice::{Flag, NextStep, Script},
    arguments::{
        external,
        type_of::{one_of, type_of},
    },
    cli::Webhook,
    engine::{Request, Workspace, next},
    error::Result,
    name::{Version, WebhookPath, parse_flag},
    project::{CreateWebhook, Project, WebhookView},
    prompt::Prompt,
    template,
};

/// The kinds of webhooks, each with the question for it.
const WEBHOOKS: [(&str, &str); 3] = [
    ("--defaulting", "Fill in defaults?"),
    ("--validation", "Validate?"),
    ("--conversion", "Convert versions?"),
];

pub fn run(workspace: &Workspace, webhook: &Webhook, prompt: Prompt<'_>) -> Result<Request> {
    webhook.scaffold.check()?;
    let remarks = webhook.foreign.remarks();
    let before = &workspace.project;
    let create = create(before, webhook, prompt)?;
    let target = create.target(before)?;
    let project = before.create_webhook(&create)?;
    let files = template::files_of_webhook(&project, &target)?;
    let mut steps = next::use_external(&project, &target.key, create.external.as_ref());
    for path in files
        .iter()
        .filter(|path| path.as_str().starts_with("src/"))
    {
        let what = match path.as_str().rsplit('/').next() {
            Some("default.rs") => "set the defaults",
            Some("validate.rs") => "write the validation",
            _ => "write the conversion",
        };
        steps.push(NextStep::by_hand(format!("{what} in {path}")));
    }
    steps.push(next::manifests());
    let views = project.webhooks();
    let is_opt_in = |view: &&WebhookView<'_>| *view.key == target.key && view.is_opt_in();
    let namespace = views.iter().find(is_opt_in).map(|_| {
        let label = format!("{}/webhooks=enabled", project.operator());
        NextStep::new(
            "after the operator is deployed, label each namespace that the webhook is for:",
            Script::anywhere("kubectl label namespace NAMESPACE").arg(label),
        )
    });
    steps.extend(namespace);
    Ok(Request {
        forced: if webhook.force { files } else { [].into() },
        remarks,
        next: steps,
        ..Request::of("create webhook", project)
    })
}

fn create(project: &Project, webhook: &Webhook, prompt: Prompt<'_>) -> Result<CreateWebhook> {
    // A type with a path is none of the project's.
    let chosen = match webhook.external.external_api_path {
        None => one_of(project, &webhook.of, prompt)?,
        Some(_) => None,
    };
    let gvk = match chosen {
        Some(gvk) => gvk,
        None => type_of(project, &webhook.of, prompt, false)?,
    };
    // A command line that names one webhook does not mean the others.
    let named = [webhook.defaulting, webhook.validation, webhook.conversion];
    let [defaulting, validation, conversion] = match named {
        [None, None, None] => {
            let switches = WEBHOOKS.map(|(flag, question)| (Flag::new(flag, None), question));
            prompt.switches("Which webhooks?", &switches, [false; 3])?
        }
        given => given.map(Option::unwrap_or_default),
    };
    Ok(CreateWebhook {
        gvk,
        plural: webhook.plural.as_deref().map(str::parse).transpose()?,
        defaulting,
        defaulting_path: path("--defaulting-path", webhook.defaulting_path.as_deref())?,
        validation,
        validation_path: path("--validation-path", webhook.validation_path.as_deref())?,
        conversion,
        spokes: spokes(&webhook.spoke)?,
        external: external::external(&webhook.external)?,
        certificates: webhook.certificates,
        force: webhook.force,
    })
}

fn path(flag: &'static str, given: Option<&str>) -> Result<Option<WebhookPath>> {
    given.map(|text| parse_flag(flag, text)).transpose()
}

/// The versions of `--spoke`.
pub fn spokes(given: &[String]) -> Result<Vec<Version>> {
    let parse = |text: &String| parse_flag("--spoke", text);
    given.iter().map(parse).collect()
}
