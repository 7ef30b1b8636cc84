//! The type that a command is about: its flags, or what the prompt answered.

use std::collections::BTreeSet;

use crate::{
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
    let missing = |why, new: &'static str| (why, known.clone().unwrap_or(new.to_owned()));
    let group = match &flags.group {
        Some(text) => Group::parse(text)?,
        None if !project.domain.as_str().is_empty() && !prompt.is_allowed() => Group::parse("")?,
        None => {
            let why = "it may only be left out in a project with a domain";
            let (why, help) = missing(why, "--group cache.example.com");
            prompt.value("--group", "API group", None, (why, &help), |text| {
                Ok(Group::parse(text)?)
            })?
        }
    };
    let why = "every API has a version, such as v1alpha1";
    let (why, help) = missing(why, "--version v1alpha1");
    let version = flags.version.as_deref();
    let version = prompt.value("--version", "API version", version, (why, &help), |text| {
        Ok(Version::parse(text)?)
    })?;
    let why = "it names the type, in CamelCase";
    let (why, help) = missing(why, "operator-forge create api --help");
    let kind = flags.kind.as_deref();
    let kind = prompt.value("--kind", "Kind", kind, (why, &help), |text| {
        Ok(Kind::parse(text)?)
    })?;
    Ok(TypeOf {
        group,
        version,
        kind,
    })
}

/// The flags of the one type of that kind that the project has and the flags leave open, or what shows them all.
fn known(project: &Project, flags: &TypeFlags) -> String {
    let is = |flag: &Option<String>, text: &str| flag.as_deref().is_none_or(|flag| flag == text);
    let meant = |key: &&Key| {
        let version = key.version.to_string();
        is(&flags.group, key.group.as_str()) && is(&flags.version, &version)
    };
    let of_kind = |key: &&Key| flags.kind.as_deref() == Some(key.kind.as_str());
    let keys = project.resources().map(|(key, _)| key);
    match keys.filter(of_kind).filter(meant).collect::<Vec<_>>()[..] {
        [one] => one.flags(),
        _ => "operator-forge status".to_owned(),
    }
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
    let help = "operator-forge status";
    let key = fitting[prompt.choose("Which API?", &missing, help, &names)?];
    Ok(TypeOf {
        group: key.group.clone(),
        version: key.version,
        kind: key.kind.clone(),
    })
}
