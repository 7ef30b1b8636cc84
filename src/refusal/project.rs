//! The refusals of a project.

mod command;
mod rule;

use heck::ToKebabCase as _;

use crate::{
    advice::{Advice, Flag, Script},
    error::Failure,
    name::Version,
    project::{Error, FILE, Key, LAYOUT, TEMPLATES, Unreadable, Webhooks},
};

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Broken(violation) => rule::failure(violation),
            Error::Refused(refused) => command::failure(refused),
            Error::Unreadable(unreadable) => unreadable_file(unreadable),
        }
    }
}

fn unreadable_file(unreadable: Unreadable) -> Failure {
    let refused = |what: String| Failure::refused(what);
    match unreadable {
        Unreadable::NoDirectory(path) => refused(format!("no directory `{}`", path.display()))
            .note("`-C DIR` names the directory that the command works in")
            .advise(Advice::set("--directory", ".")),
        Unreadable::NoProject(path) => refused(format!("no `{FILE}` in `{}`", path.display()))
            .note("no directory above it has one either; `-C DIR` names another directory")
            .advise(Script::forge("init --domain example.com")),
        Unreadable::NotUtf8 { line } => {
            refused(format!("`{FILE}:{line}`: the file is not UTF-8 text")).advise(restore())
        }
        Unreadable::Empty { comments } => refused(match comments {
            true => format!("`{FILE}` has nothing but comments"),
            false => format!("`{FILE}` is empty"),
        })
        .note("perhaps a command was stopped, or the disk was full")
        .advise(restore()),
        Unreadable::Conflict { line } => refused(format!(
            "`{FILE}:{line}`: a merge conflict is not resolved"
        ))
        .note("entries of `resources` are independent: keep those of both sides, in any order")
        .advise(edit()),
        Unreadable::NoVersion => refused(format!("`{FILE}` has no `version`"))
            .note("it is the last line that operator-forge writes: the file was perhaps cut off")
            .advise(restore()),
        Unreadable::OtherVersion(version) => refused(format!("`{FILE}` has version `{version}`"))
            .note("this operator-forge reads version 3, which every release so far writes")
            .newer_tool(),
        Unreadable::NewerLayout(newer) => refused(format!(
            "`{FILE}` has layout `{newer}`, this operator-forge knows `{LAYOUT}`"
        ))
        .note("it was made by a newer release")
        .newer_tool(),
        Unreadable::NoLayout => refused(format!("`{FILE}` has no `layout`"))
            .note(format!(
                "it names the tool of a project; for operator-forge, it is `{LAYOUT}`"
            ))
            .advise(restore()),
        Unreadable::Foreign {
            layout,
            domain,
            name,
        } => {
            let plugin = layout.split('/').next().unwrap_or_default();
            let is_go = plugin.split('.').any(|part| part == "go");
            let kind = match plugin {
                _ if is_go => "a Go project of kubebuilder or operator-sdk",
                _ if plugin.starts_with("helm") => "a Helm operator of operator-sdk",
                _ if plugin.starts_with("ansible") => "an Ansible operator of operator-sdk",
                _ => "one of another tool",
            };
            let domain = domain.unwrap_or_else(|| "example.com".to_owned());
            let name = name.unwrap_or_else(|| "operator".to_owned());
            let beside = format!("{name}-rs");
            let refused = refused(format!(
                "`{FILE}` belongs to another kind of project: {kind} (layout `{layout}`)"
            ))
            .note("operator-forge makes Rust projects, and writes only into its own");
            match is_go {
                true => refused
                    .note("`init --from-kubebuilder` makes one beside it, with the same APIs, controllers and webhooks")
                    .advise(Script::forge("init").arg(format!("../{beside}")).code("--from-kubebuilder .")),
                false => refused
                    .note("init a project beside it, then add its APIs: `create api --from-crd` generates the types of its CRDs")
                    .advise(init(&beside, &domain, &name)),
            }
        }
        Unreadable::NoSettings => refused(format!("`{FILE}`: `plugins` has no `{LAYOUT}`"))
            .note("it records the template set of the project")
            .note(change(&format!(
                "plugins: {{{LAYOUT}: {{templates: {TEMPLATES}}}}}"
            )))
            .advise(edit()),
        Unreadable::Value {
            place,
            explanation,
            note,
        } => {
            let mut lines = explanation.lines();
            let what = lines.next().unwrap_or_default();
            let mut failure = refused(format!("`{place}`: {what}"));
            let lines: Vec<_> = lines.collect();
            let of = |prefix| {
                lines
                    .iter()
                    .filter_map(move |line| line.strip_prefix(prefix))
            };
            failure.notes.extend(of("note: ").map(str::to_owned));
            if failure.notes.is_empty() {
                failure.notes.extend(note.map(str::to_owned));
            }
            let fixes: Vec<_> = of("help: ").map(change).collect();
            let advice = match fixes.is_empty() {
                true => Script::of("diff .operator-forge/PROJECT PROJECT"),
                false => edit(),
            };
            failure.notes.extend(fixes);
            failure.advise(advice)
        }
    }
}

/// The note with the corrected line of `PROJECT`.
fn change(field: &str) -> String {
    format!("change it there: {field}")
}

/// An edit of `PROJECT`, then `sync`.
fn edit() -> Script {
    Script::edit([FILE]).then(Script::forge("sync"))
}

/// Restores the last applied `PROJECT`, which needs no git.
fn restore() -> Script {
    Script::of("cp .operator-forge/PROJECT PROJECT")
}

/// The status of the project, which lists its names.
fn status() -> Advice {
    Script::forge("status").into()
}

/// Another project beside this one.
fn init(directory: &str, domain: &str, name: &str) -> Script {
    Script::forge("init")
        .arg(format!("../{directory}"))
        .code("--domain")
        .arg(domain)
        .code("--project-name")
        .arg(name)
}

/// The flag that sets a field of an entry.
fn flag_of(field: &str) -> String {
    let name = match field {
        "api" => "resource",
        "controllers" => "controller-name",
        "finalizers" => "finalizer",
        "shortNames" => "short-name",
        "fields" => "field",
        "statusFields" => "status-field",
        "domain" => "external-api-domain",
        "path" => "external-api-path",
        "deployImage" => "image",
        "containerCommand" => "image-container-command",
        "containerPort" => "image-container-port",
        other => return format!("--{}", other.to_kebab_case()),
    };
    format!("--{name}")
}

fn flag(name: impl Into<String>, value: impl ToString) -> Flag {
    Flag::new(name, Some(value.to_string()))
}

/// The flags that name an entry.
pub fn of(key: &Key) -> Vec<Flag> {
    vec![
        flag("--group", &key.group),
        flag("--version", key.version),
        flag("--kind", &key.kind),
    ]
}

fn spokes<'a>(versions: impl IntoIterator<Item = &'a Version>) -> Vec<Flag> {
    let versions = versions.into_iter();
    versions.map(|version| flag("--spoke", version)).collect()
}

/// The flags that create webhooks, and delete them.
fn of_webhooks(webhooks: &Webhooks) -> Vec<Flag> {
    let kinds = [
        (webhooks.defaulting.is_some(), "--defaulting"),
        (webhooks.validation.is_some(), "--validation"),
        (webhooks.is_hub(), "--conversion"),
    ];
    let kinds = kinds.into_iter().filter(|(is_there, _)| *is_there);
    let kinds = kinds.map(|(_, flag)| Flag::new(flag, None));
    kinds.chain(spokes(&webhooks.spokes)).collect()
}

/// `v1, v2`.
fn list<T: ToString>(items: impl IntoIterator<Item = T>) -> String {
    let items = items.into_iter().map(|it| it.to_string());
    items.collect::<Vec<_>>().join(", ")
}
