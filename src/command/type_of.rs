//! The type that a command is about: its flags, or what the prompt answered.

use std::collections::BTreeSet;

use crate::{
    advice::{Advice, Flag, Script},
    cli::TypeFlags,
    error::Result,
    name::{Group, Kind, Version},
    project::{Key, Project},
    prompt::Prompt,
};

/// A type as it was named.
pub struct TypeOf {
    /// `--group`.
    pub group: Group,
    /// `--version`.
    pub version: Version,
    /// `--kind`.
    pub kind: Kind,
}

/// Reads the flags, and asks for what is missing where it may. Without a terminal the refusal names what the project has, unless
/// the type `is_new`.
pub fn type_of(
    project: &Project,
    flags: &TypeFlags,
    prompt: Prompt<'_>,
    is_new: bool,
) -> Result<TypeOf> {
    let known = (!is_new).then(|| known(project, flags));
    let missing = |why, new: Advice| (why, known.clone().unwrap_or(new));
    let group = match &flags.group {
        Some(text) => text.parse()?,
        None if !project.domain.as_str().is_empty() && !prompt.is_allowed() => "".parse()?,
        None => {
            let why = "it may only be left out in a project with a domain";
            let missing = missing(why, Advice::set("--group", "cache.example.com"));
            prompt.value("--group", "API group", None, missing, |text| {
                Ok(text.parse()?)
            })?
        }
    };
    let why = "every API has a version, such as v1alpha1";
    let absent = missing(why, Advice::set("--version", "v1alpha1"));
    let version = flags.version.as_deref();
    let version = prompt.value("--version", "API version", version, absent, |text| {
        Ok(text.parse()?)
    })?;
    let why = "it names the type, in CamelCase";
    let absent = missing(why, Script::forge("create api --help").into());
    let kind = flags.kind.as_deref();
    let kind = prompt.value("--kind", "Kind", kind, absent, |text| Ok(text.parse()?))?;
    Ok(TypeOf {
        group,
        version,
        kind,
    })
}

/// The flags of the one type of that kind that the project has and the flags leave open, or what shows them all.
fn known(project: &Project, flags: &TypeFlags) -> Advice {
    let is = |flag: &Option<String>, text: &str| flag.as_deref().is_none_or(|flag| flag == text);
    let meant = |key: &&Key| {
        let version = key.version.to_string();
        is(&flags.group, key.group.as_str()) && is(&flags.version, &version)
    };
    let of_kind = |key: &&Key| flags.kind.as_deref() == Some(key.kind.as_str());
    let keys = project.resources().map(|(key, _)| key);
    match keys.filter(of_kind).filter(meant).collect::<Vec<_>>()[..] {
        [one] => Advice::Set(flags_of(one)),
        _ => Script::forge("status").into(),
    }
}

/// The flags that name a type.
pub fn flags_of(key: &Key) -> Vec<Flag> {
    let flag = |name, value: String| Flag::new(name, Some(value));
    vec![
        flag("--group", key.group.to_string()),
        flag("--version", key.version.to_string()),
        flag("--kind", key.kind.to_string()),
    ]
}

/// The type that a command is to change: its flags, or on a terminal the one of those `there` that is chosen where flags are
/// missing.
pub fn type_there(
    project: &Project,
    flags: &TypeFlags,
    prompt: Prompt<'_>,
    there: &BTreeSet<&Key>,
) -> Result<TypeOf> {
    let missing: Vec<&str> = [
        (&flags.group, "--group"),
        (&flags.version, "--version"),
        (&flags.kind, "--kind"),
    ]
    .iter()
    .filter_map(|(given, flag)| given.is_none().then_some(*flag))
    .collect();
    let fits = |flag: &Option<String>, text: &str| flag.as_deref().is_none_or(|flag| flag == text);
    let fitting: Vec<&Key> = (there.iter().copied())
        .filter(|key| {
            fits(&flags.group, key.group.as_str())
                && fits(&flags.version, &key.version.to_string())
                && fits(&flags.kind, key.kind.as_str())
        })
        .collect();
    if missing.is_empty() || fitting.is_empty() || !prompt.is_allowed() {
        return type_of(project, flags, prompt, false);
    }
    let names: Vec<String> = fitting.iter().map(ToString::to_string).collect();
    let help = Script::forge("status");
    let key = fitting[prompt.choose("Which API?", &missing, help, &names)?];
    Ok(TypeOf {
        group: key.group.clone(),
        version: key.version,
        kind: key.kind.clone(),
    })
}
