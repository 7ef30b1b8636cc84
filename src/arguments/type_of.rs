//! The type that a command is about: its flags, or the answers to questions.

use std::str::FromStr;

use crate::{
    advice::{Advice, Script},
    cli::TypeFlags,
    error::Result,
    name::Invalid,
    project::{Gvk, Key, Project},
    prompt::Prompt,
};

/// The type that the flags name. On a terminal, questions ask for the flags that are missing. Without one, the refusal names the
/// types of the project, unless the type `is_new`.
pub fn type_of(
    project: &Project,
    flags: &TypeFlags,
    prompt: Prompt<'_>,
    is_new: bool,
) -> Result<Gvk> {
    let advice = |example: Advice| match is_new {
        true => example,
        false => known(project, flags),
    };
    let may_be_empty = !project.domain.as_str().is_empty() && !prompt.is_allowed();
    let group = flags.group.as_deref().or(may_be_empty.then_some(""));
    let absent = (
        "only a project with a domain can have an empty group",
        advice(Advice::set("--group", "cache.example.com")),
    );
    let group = prompt.value("--group", "API group", group, absent, parse)?;
    let absent = (
        "every API has a version, such as v1alpha1",
        advice(Advice::set("--version", "v1alpha1")),
    );
    let version = flags.version.as_deref();
    let version = prompt.value("--version", "API version", version, absent, parse)?;
    let absent = (
        "it is the kind of the resource, such as `Memcached`",
        advice(Script::forge("create api --help").into()),
    );
    let kind = prompt.value("--kind", "Kind", flags.kind.as_deref(), absent, parse)?;
    Ok(Gvk {
        group,
        version,
        kind,
    })
}

/// A type of the project that a person chooses where no flag names any; `None` for another type.
pub fn one_of(project: &Project, flags: &TypeFlags, prompt: Prompt<'_>) -> Result<Option<Gvk>> {
    let keys: Vec<&Key> = project.resources().map(|(key, _)| key).collect();
    let given = [&flags.group, &flags.version, &flags.kind];
    if !prompt.is_allowed() || keys.is_empty() || given.iter().any(|flag| flag.is_some()) {
        return Ok(None);
    }
    let mut names: Vec<String> = keys.iter().map(ToString::to_string).collect();
    names.push("another type, such as Pod".to_owned());
    let missing = ["--group", "--version", "--kind"];
    let chosen = prompt.choose("Which type?", &missing, Script::forge("status"), &names)?;
    Ok(keys.get(chosen).map(|key| key.gvk()))
}

fn parse<T: FromStr<Err = Invalid>>(text: &str) -> Result<T> {
    Ok(text.parse()?)
}

/// The type that a command changes: the one that the flags name, or on a terminal a choice of those `there` that fit the flags.
pub fn type_there<'a>(
    project: &Project,
    flags: &TypeFlags,
    prompt: Prompt<'_>,
    there: impl IntoIterator<Item = &'a Key>,
) -> Result<Gvk> {
    let all = [
        (&flags.group, "--group"),
        (&flags.version, "--version"),
        (&flags.kind, "--kind"),
    ];
    let missing = all.iter().filter(|(given, _)| given.is_none());
    let missing: Vec<&str> = missing.map(|(_, flag)| *flag).collect();
    let fitting: Vec<&Key> = there.into_iter().filter(|key| fits(flags, key)).collect();
    if missing.is_empty() || fitting.is_empty() || !prompt.is_allowed() {
        return type_of(project, flags, prompt, false);
    }
    let names: Vec<String> = fitting.iter().map(ToString::to_string).collect();
    let help = Script::forge("status");
    Ok(fitting[prompt.choose("Which API?", &missing, help, &names)?].gvk())
}

/// Whether a type has the group, version and kind of the flags, as far as they are set.
fn fits(flags: &TypeFlags, key: &Key) -> bool {
    let is = |flag: &Option<String>, text: &str| flag.as_deref().is_none_or(|flag| flag == text);
    is(&flags.group, key.group.as_str())
        && is(&flags.version, &key.version.to_string())
        && is(&flags.kind, key.kind.as_str())
}

/// The flags of the only type of the project that fits a given kind, else the command that lists all types.
fn known(project: &Project, flags: &TypeFlags) -> Advice {
    let keys = project.resources().map(|(key, _)| key);
    let fitting: Vec<&Key> = keys.filter(|key| fits(flags, key)).collect();
    match fitting[..] {
        [one] if flags.kind.is_some() => Advice::Set(one.flags()),
        _ => Script::forge("status").into(),
    }
}
