//! `edit`: settings of the whole project.

use std::str::FromStr;

use super::{import_api::older_types, init};
use crate::{
    advice::{Advice, NextStep, Script},
    arguments::{plugins, runtime},
    cli::{self, Global},
    engine::{Request, Workspace, next},
    error::Result,
    name::Invalid,
    project::{self, Certificates, EditSettings, PluginEdit, Project},
    prompt::Prompt,
};

pub fn run(
    workspace: &Workspace,
    flags: &Global,
    edit: &cli::Edit,
    prompt: Prompt<'_>,
) -> Result<Request> {
    let before = &workspace.project;
    if let Some(domain) = &edit.domain {
        return Err(project::fixed(before, "domain", domain));
    }
    if let Some(name) = &edit.project_name {
        return Err(project::fixed(before, "projectName", name));
    }
    let (owner, license) = (edit.owner.as_deref(), edit.license.as_deref());
    let runtime = edit.runtime.as_deref();
    let mut settings = EditSettings {
        namespaced: edit.namespaced,
        owner: owner.map(str::parse).transpose()?,
        license: license.map(str::parse).transpose()?,
        header: init::header(flags, license, edit.license_file.as_deref())?,
        certificates: edit.certificates,
        runtime: runtime
            .map(|text| runtime::parse(&workspace.root, text))
            .transpose()?,
        kubernetes: edit.kubernetes.as_deref().map(str::parse).transpose()?,
        crypto: edit.crypto,
        description_length: edit.crd_description_length,
        shards: edit.shards,
        plugins: PluginEdit::parse(&edit.plugins)?,
    };
    let mut remarks = edit.foreign.remarks();
    let is_default = |settings: &EditSettings| *settings == EditSettings::default();
    let is_asked = prompt.is_allowed() && is_default(&settings) && remarks.is_empty();
    if is_asked {
        settings = ask(before, prompt)?;
    }
    let project = match is_default(&settings) && (is_asked || !remarks.is_empty()) {
        true => before.clone(),
        false => before.edit(&settings)?,
    };
    if project.settings.header_comment() != before.settings.header_comment() {
        remarks.push(
            "new files and the source files that operator-forge keeps current get the new header; your own files keep theirs"
                .to_owned(),
        );
    }
    if project.kubernetes() != before.kubernetes() {
        remarks.extend(older_types(&project));
    }
    if project.settings.runtime != before.settings.runtime {
        remarks.extend(runtime::outer_workspace(&workspace.root, &project));
    }
    Ok(Request {
        remarks,
        next: steps(before, &project),
        ..Request::of("edit", project)
    })
}

/// Asks for the setting to change, and for its value.
fn ask(before: &Project, prompt: Prompt<'_>) -> Result<EditSettings> {
    let mut names = vec!["plugins", "namespaced", "license", "owner", "kubernetes"];
    if !before.webhooks().is_empty() {
        names.push("certificates");
    }
    let items: Vec<String> = names.iter().map(ToString::to_string).collect();
    let at = prompt.choose("Which setting?", &["edit --help"], Advice::Help, &items)?;
    let flag = format!("--{}", names[at]);
    let flag = flag.as_str();
    let mut settings = EditSettings::default();
    match names[at] {
        "plugins" => {
            let plugins = before.plugins();
            settings.plugins = plugins::ask(prompt, |plugin| plugins.contains(&plugin))?;
        }
        "certificates" => {
            let all = Certificates::ALL;
            let words = all.map(|it| it.word().to_owned());
            let at = prompt.choose("Which certificates?", &[flag], Advice::Help, &words)?;
            settings.certificates = Some(all[at]);
        }
        "namespaced" => {
            let question = "Watch some namespaces instead of the cluster?";
            settings.namespaced = Some(prompt.yes(flag, question, None, before.namespaced)?);
        }
        "license" => {
            settings.license = Some(parsed(prompt, flag, "License: apache2, mit or none")?);
        }
        "owner" => {
            let question = "Copyright holder; an empty answer removes it";
            settings.owner = Some(parsed(prompt, flag, question)?);
        }
        _ => {
            let question = "Oldest Kubernetes that the operator works with";
            settings.kubernetes = Some(parsed(prompt, flag, question)?);
        }
    }
    Ok(settings)
}

/// Asks for a value without a default.
fn parsed<T: FromStr<Err = Invalid>>(prompt: Prompt<'_>, flag: &str, question: &str) -> Result<T> {
    let parse = |text: &str| Ok(text.parse()?);
    prompt.value(flag, question, None, ("", Advice::Help), parse)
}

fn steps(before: &Project, after: &Project) -> Vec<NextStep> {
    let mut steps = Vec::new();
    let (old, new) = (&before.settings, &after.settings);
    let is_other_scope = before.namespaced != after.namespaced;
    let is_other_kubernetes = before.kubernetes() != after.kubernetes();
    let is_other_crd = is_other_kubernetes || old.description_length != new.description_length;
    if is_other_scope || is_other_crd || old.certificates != new.certificates {
        steps.push(next::manifests());
    }
    if after.resources().next().is_some()
        && let Some(find) = with_another_header(&old.header_comment(), &new.header_comment())
    {
        steps.push(NextStep::new("list your files with another header:", find));
    }
    if old.runtime != new.runtime || old.crypto != new.crypto {
        steps.push(NextStep::new(
            "update Cargo.lock, before a build with `--locked`:",
            Script::of("cargo fetch"),
        ));
    }
    if let Some(shards) = new.shards.filter(|_| old.shards.is_none()) {
        let controllers = !before.controllers().is_empty();
        if controllers {
            steps.push(NextStep::new(
                format!(
                    "add `.sharded(ShardKey::uid())` to each controller whose objects {shards} replicas share:"
                ),
                Script::of("grep -rn 'Controller::new\\|Controller::external' src/controllers"),
            ));
        }
    }
    if old.shards.is_some() && new.shards.is_none() {
        steps.push(NextStep::new(
            "before the next deployment, leave one replica, because one without shares waits for no other:",
            Script::anywhere("kubectl scale -n NAMESPACE")
                .arg(format!("deployment/{}-controller-manager", after.name))
                .code("--replicas=1"),
        ));
    }
    if is_other_scope {
        let (delete, role) = match after.namespaced {
            true => ("kubectl delete", "clusterrole"),
            false => ("kubectl delete -n NAMESPACE", "role"),
        };
        let name = &after.name;
        steps.push(NextStep::new(
            format!(
                "after the next deployment, delete the old {role} and its binding in each cluster:"
            ),
            Script::anywhere(delete)
                .arg(format!("{role}binding/{name}-manager-rolebinding"))
                .arg(format!("{role}/{name}-manager-role")),
        ));
    }
    steps
}

/// The command that lists source files without the new header, or, if the new one is a part of the old one, those with the old
/// one; `None` if both are the same.
fn with_another_header(old: &str, new: &str) -> Option<Script> {
    let only_in = |one: &str, other: &str| {
        let has_words = |line: &&str| line.contains(char::is_alphanumeric);
        let mut lines = one.lines().filter(has_words);
        let line = lines.find(|line| other.lines().all(|other| other != *line));
        line.map(str::to_owned)
    };
    let (grep, line) = match only_in(new, old) {
        Some(line) => ("grep -rLF --include='*.rs'", line),
        None => ("grep -rlF --include='*.rs'", only_in(old, new)?),
    };
    Some(Script::of(grep).arg(line).code("src tests"))
}
