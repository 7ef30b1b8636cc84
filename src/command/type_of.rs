//! The type that a command is about: its flags, or the answers to questions.

use crate::{
    advice::{Advice, Script},
    cli::TypeFlags,
    error::Result,
    project::{Gvk, Key, Project},
    prompt::Prompt,
    refusal,
};

/// The type that a command creates something for: its flags, or on a terminal the answers. Without a terminal, the refusal
/// names the types of the project, unless the type `is_new`.
pub fn type_of(
    project: &Project,
    flags: &TypeFlags,
    prompt: Prompt<'_>,
    is_new: bool,
) -> Result<Gvk> {
    let missing = |why, example: Advice| match is_new {
        true => (why, example),
        false => (why, known(project, flags)),
    };
    let group = match &flags.group {
        Some(text) => text.parse()?,
        None if !project.domain.as_str().is_empty() && !prompt.is_allowed() => "".parse()?,
        None => {
            let why = "only a project with a domain can have an empty group";
            let missing = missing(why, Advice::set("--group", "cache.example.com"));
            let parse = |text: &str| Ok(text.parse()?);
            prompt.value("--group", "API group", None, missing, parse)?
        }
    };
    let absent = missing(
        "every API has a version, such as v1alpha1",
        Advice::set("--version", "v1alpha1"),
    );
    let (version, kind) = (flags.version.as_deref(), flags.kind.as_deref());
    let version = prompt.value("--version", "API version", version, absent, |text| {
        Ok(text.parse()?)
    })?;
    let absent = missing(
        "it is the kind of the resource, such as `Memcached`",
        Script::forge("create api --help").into(),
    );
    let kind = prompt.value("--kind", "Kind", kind, absent, |text| Ok(text.parse()?))?;
    Ok(Gvk {
        group,
        version,
        kind,
    })
}

/// The type among those `there` that a command changes: its flags, or on a terminal a choice where flags are missing.
pub fn type_there(
    project: &Project,
    flags: &TypeFlags,
    prompt: Prompt<'_>,
    there: Vec<&Key>,
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
        [one] if flags.kind.is_some() => Advice::Set(refusal::of(one)),
        _ => Script::forge("status").into(),
    }
}
